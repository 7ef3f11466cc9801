"""Recorded sessions: histories to look at and to replay.

`recorded` gives those that ship with the labs. They were made by `python -m labkit.sessions.record`: the
understudy at work on the playground, every message kept as it was said.
"""

from labkit.sessions.shipped import RECORDED, recorded, recorded_path

__all__ = ["RECORDED", "recorded", "recorded_path"]

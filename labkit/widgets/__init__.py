"""Widgets for notebooks: the compaction explorer, and the chat panel.

Each shows a picture and a table that say the same where there are no widgets: on a printed page, in a
terminal.
"""

from labkit.widgets.exploring import Explorer, explorer

__all__ = ["Explorer", "explorer"]

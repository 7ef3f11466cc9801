"""Explicit tool use: `use TOOL with {...}`, for a learner's own tools and for trying out mistakes."""

from __future__ import annotations

import json
import re

from labkit.understudy.step import Step

_USE = re.compile(
    r"(?:\b(?:use|call)(?: the)?(?: tool)?|使用|调用|用)(?:工具)?\s*`?([A-Za-z_]\w*)`?"
    r"(?:\s*(?:with|，?参数(?:为|是)?|:|：)?\s*(?:exactly )?(?=[{`]))?",
    re.I,
)


def explicit_uses(text: str) -> tuple[list[Step], str]:
    """The `use TOOL with {...}` parts of a request as steps, and the request without them.

    Arguments in backticks are sent as they stand, also when they are not JSON; so a learner can see what
    happens.
    """
    steps: list[Step] = []
    rest, start = "", 0
    for found in _USE.finditer(text):
        if found.start() < start:
            continue
        arguments, end = _arguments(text, found.end())
        if arguments is None:
            continue
        later = re.search(r"\bthen\b|然后|接着|再", text[start : found.start()]) is not None
        traits = frozenset({"later"} if later else ())
        steps.append(Step("use", text[found.start() : end], (), 0, found[1], arguments, traits))
        rest, start = rest + text[start : found.start()], end
    rest += text[start:]
    return steps, rest if re.search(
        r"\w{2}|[\u4e00-\u9fff]{2}", re.sub(r"\b(and|then|please)\b", "", rest)
    ) else ""


def _arguments(text: str, start: int) -> tuple[str | None, int]:
    """The arguments that stand at `start`: a JSON object, or anything in backticks. None when neither is
    there.
    """
    if text[start : start + 1] == "{":
        try:
            value, end = json.JSONDecoder().raw_decode(text, start)
        except ValueError:
            return None, start
        return json.dumps(value, ensure_ascii=False), end
    raw = re.compile(r"`([^`]*)`").match(text, start)
    return (raw[1], raw.end()) if raw else (None, start)

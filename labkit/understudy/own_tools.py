"""A learner's own tools: a question that uses all words of a tool's name is a reason to call it."""

from __future__ import annotations

import json
import re
from typing import Any

from labkit.understudy.draft import Call, Draft
from labkit.understudy.hands import skill_of
from labkit.understudy.marks import hide
from labkit.understudy.reader import stem
from labkit.understudy.step import Step
from labkit.understudy.view import View
from labkit.understudy.work import Work, shorten


def own_tool_for(step: Step, view: View) -> Call | None:
    """The call of a learner's own tool that the words suggest: `get_weather(city)` for "the weather in
    Paris".
    """
    words = {stem(word) for word in re.findall(r"[a-z0-9]+", step.clause.lower())}
    for name in view.hands.schemas:
        parts = [
            stem(part) for part in re.split(r"_|(?<=[a-z])(?=[A-Z])", name.lower()) if part not in _FILLERS
        ]
        if skill_of(name) or not parts or not all(part in words for part in parts):
            continue
        arguments = fill(name, step, view)
        if arguments is not None:
            return Call(name, json.dumps(arguments, ensure_ascii=False))
    return None


_FILLERS = ("get", "fetch", "compute", "calculate", "find", "the", "of", "do", "make", "tool")


def fill(name: str, step: Step, view: View) -> dict[str, Any] | None:
    """Arguments from the request's words, by type and in order; None when a required one is not there."""
    hidden, marks = hide(step.clause)
    numbers = re.findall(r"-?\d+(?:\.\d+)?", hidden)
    texts = [mark.text for mark in marks]
    texts += re.findall(
        r"\b(?:in|of|for|on|at|to|with|named)\s+([A-Z][\w-]*(?: [A-Z][\w-]*)*|[\w-]+)", hidden
    )
    arguments: dict[str, Any] = {}
    for key in view.hands.required(name):
        kind = str(dict(view.hands.properties(name).get(key) or {}).get("type"))
        if kind in ("integer", "number") and numbers:
            value = float(numbers.pop(0))
            arguments[key] = int(value) if value.is_integer() else value
        elif kind == "string" and texts:
            arguments[key] = texts.pop(0)
        else:
            return None
    return arguments


def own_tool(step: Step, work: Work) -> Draft | None:
    """Call the tool, then report what it returned."""
    wanted = own_tool_for(step, work.view)
    if wanted is None:
        return None
    made = [done for done in work.view.calls if done.name == wanted.name]
    if not made:
        return work.want(f"I call `{wanted.name}`.", f"我来调用 `{wanted.name}`。", [wanted])
    result = shorten(made[-1].result or "")
    work.say(f"`{wanted.name}` returned: {result}", f"`{wanted.name}` 返回：{result}")
    return None

"""The next step. (A first sketch: explicit tool use and reading files; the rules follow.)"""

from __future__ import annotations

import json
import re
from typing import Any

from labkit.messages import text_of
from labkit.understudy.draft import Call, Draft, call, tool_names
from labkit.understudy.models import WHAT_IT_IS


def plan(body: dict[str, Any]) -> Draft:
    """What the understudy says next to this request."""
    messages = body["messages"]
    if messages[-1]["role"] == "tool":
        return Draft("The tools returned:\n" + text_of(messages[-1]["content"]))
    asked = text_of(messages[-1]["content"])
    used = re.search(r"use `?(\w+)`? with (\{.*\})", asked, re.S)
    if used:
        return Draft(calls=(Call(used[1], json.dumps(json.loads(used[2]))),))
    paths = re.findall(r"`([\w./-]+\.\w+)`", asked)
    if paths and "read_file" in tool_names(body):
        return Draft(calls=tuple(call("read_file", path=path) for path in paths))
    return Draft(WHAT_IT_IS)

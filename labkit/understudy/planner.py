"""The next step: from a request to what the understudy says or calls. Each request is read afresh."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from labkit.compaction.earlier import SAFE_CUT_HEADING
from labkit.messages import text_of
from labkit.understudy.answers import ask, tell
from labkit.understudy.compressor import compress
from labkit.understudy.draft import Call, Draft
from labkit.understudy.hands import Hands
from labkit.understudy.memory import is_summary
from labkit.understudy.own_tools import own_tool, own_tool_for
from labkit.understudy.reading import count, list_files, read, report_reading, search
from labkit.understudy.repair import repair
from labkit.understudy.requests import parse
from labkit.understudy.running import made_as_asked, run, use
from labkit.understudy.step import Step
from labkit.understudy.summarising import summarise
from labkit.understudy.view import View
from labkit.understudy.work import Rule, Work
from labkit.understudy.writing import write

RULES: dict[str, Rule] = {
    "use": use,
    "list": list_files,
    "read": read,
    "search": search,
    "count": count,
    "run": run,
    "summarise": summarise,
    "write": write,
    "repair": repair,
    "ask": ask,
    "tell": tell,
}
MOST_CALLS = 200
"""Tool calls for one task; then the understudy gives up and says so."""


def plan(body: Mapping[str, Any]) -> Draft:
    """What the understudy does next, within what `tool_choice` and `parallel_tool_calls` allow."""
    draft = compress(body) or next_step(View.of(body))
    if body.get("parallel_tool_calls") is False:
        draft = replace(draft, calls=draft.calls[:1])
    return obey(body.get("tool_choice"), draft, Hands.of(body))


def next_step(view: View) -> Draft:
    """Walk through the task's steps: the first one that needs a call makes it; when none does, answer."""
    if answers_the_summary(view):
        return Draft(
            view.says(
                "Thank you for the summary. It tells me where things stand; what would you like me to do?",
                "谢谢你的摘要，我了解情况了。你希望我做什么？",
            )
        )
    if not view.task:
        return Draft("There is no request in what I was sent: no message of the user's says what to do.")
    if len(view.calls) > MOST_CALLS:
        return Draft(
            view.says(
                "I have made too many calls for this and stop here.", "为此我调用的工具太多了，就此停下。"
            )
        )
    return walk(view, parse(view.task))


def walk(view: View, steps: Sequence[Step]) -> Draft:
    work = Work(view)
    finished = last_finished(view, steps)
    for place, step in enumerate(steps):
        rule = own_tool if step.kind in ("ask", "tell") and own_tool_for(step, view) else RULES[step.kind]
        wanted = rule(step, work)
        # what came before a finished step was needed for it alone: it is not fetched again when it is gone
        if wanted is not None and (place >= finished or not wanted.calls):
            return together(wanted, steps[place + 1 :], view) if step.kind == "use" else wanted
    if not work.said:
        report_reading(work)
    said = [*work.said, *(text for text in work.failures.values() if text not in work.said)]
    return Draft("\n\n".join(said) or nothing_to_say(view))


def nothing_to_say(view: View) -> str:
    """The answer when no step had anything to tell."""
    if view.calls:
        return view.says("Done.", "完成了。")
    return view.says(
        "I cannot tell which file or folder you mean. Please name it, for example `notes.md`.",
        "看不出你指的是哪个文件或文件夹。请写出名字，例如 `notes.md`。",
    )


def together(first: Draft, rest: Sequence[Step], view: View) -> Draft:
    """Explicit uses joined by `and` are made in one reply, as parallel calls; `then` begins a new one."""
    calls = list(first.calls)
    for step in rest:
        if step.kind != "use" or "later" in step.traits or made_as_asked(step, view):
            break
        calls.append(Call(step.name, step.arguments))
    names = " and ".join(dict.fromkeys(f"`{each.name}`" for each in calls))
    return Draft(view.says(f"I call {names}.", f"我来调用 {names}。"), tuple(calls))


def last_finished(view: View, steps: Sequence[Step]) -> int:
    """The place of the last step that has left its mark: a file was written, a command was run."""
    finished = 0
    for place, step in enumerate(steps):
        if step.kind == "write" and any(not done.failed for done in view.made("write", step.name)):
            finished = place
        if step.kind == "run" and any(view.made("run", command=command) for command in step.quoted):
            finished = place
    return finished


def answers_the_summary(view: View) -> bool:
    """Whether the newest thing to answer is a summary that nobody has acknowledged.

    Systems A and C put an acknowledgement after the summary, so that a model goes on instead of answering it.
    System B's summary stands for the messages it replaced and needs none.
    """
    messages = view.messages
    before = view.start if view.from_summary else view.start - 1
    if before < 0 or not is_summary(messages[before]) or before + 1 < view.start:
        return False
    if text_of(messages[before].get("content")).startswith(SAFE_CUT_HEADING):
        return False
    following = messages[before + 1] if before + 1 < len(messages) else None
    return following is None or (following.get("role") == "user" and len(messages) == before + 2)


def obey(choice: Any, draft: Draft, hands: Hands) -> Draft:
    """The draft as `tool_choice` wants it: a call where one is required, and of the tool that is named."""
    named = choice.get("function", {}).get("name") if isinstance(choice, dict) else None
    if named:
        fitting = tuple(each for each in draft.calls if each.name == named)
        return replace(draft, calls=fitting or (made_up(named, hands, draft.text),))
    if choice == "required" and not draft.calls and hands.schemas:
        name = hands.tool_for("list") or next(iter(hands.schemas))
        return replace(draft, calls=(made_up(name, hands, draft.text),))
    return draft


def made_up(name: str, hands: Hands, text: str) -> Call:
    """A call that nobody asked for, with arguments of the right types."""
    path = re.search(r"`([^`]+)`", text)
    usual = {"integer": 1, "number": 1, "boolean": True, "array": [], "object": {}}
    properties = hands.properties(name)
    arguments = {
        key: usual.get(str(dict(properties.get(key) or {}).get("type")), path[1] if path else ".")
        for key in hands.required(name)
    }
    return Call(name, json.dumps(arguments, ensure_ascii=False))

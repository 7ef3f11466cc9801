"""The steps that act: run a command, use a tool as the user spells it out."""

from __future__ import annotations

import json

from labkit.understudy.draft import Call, Draft
from labkit.understudy.step import Step
from labkit.understudy.view import Done, View
from labkit.understudy.work import Work, shorten


def run(step: Step, work: Work) -> Draft | None:
    view = work.view
    command = next(iter(step.quoted), "") or (
        "python -m unittest" if "tests" in step.traits else f"python {step.paths[0]}"
    )
    place = step.folders[0] if step.folders == [command] else "" if step.quoted else step.place
    if place and "tests" in step.traits:
        command = f"python -m unittest discover -s {place} -t {place}"
    if not view.hands.can("run"):
        work.say("I have no tool that runs commands.", "我没有运行命令的工具。")
        return None
    made = view.made("run", command=command)
    if not made and not (view.from_summary and view.memory.ran(command)):
        return work.want(
            f"I run `{command}`.", f"我来运行 `{command}`。", [view.hands.call("run", command=command)]
        )
    if made:
        result = shorten(made[-1].result or "")
        work.say(f"`{command}` gave:\n{result}", f"`{command}` 的输出：\n{result}")
    else:
        work.say(f"`{command}` was run earlier.", f"`{command}` 先前已经运行过。")
    return None


def use(step: Step, work: Work) -> Draft | None:
    """`use TOOL with {...}`: the call as it was asked for, also one that will fail."""
    view = work.view
    made = made_as_asked(step, view)
    if made is None:
        return work.want(
            f"I call `{step.name}`.", f"我来调用 `{step.name}`。", [Call(step.name, step.arguments)]
        )
    result = shorten(made.result or "")
    work.say(f"`{step.name}` returned: {result}", f"`{step.name}` 返回：{result}")
    return None


def made_as_asked(step: Step, view: View) -> Done | None:
    """The newest call for this task that is the one asked for."""
    same = [each for each in view.calls if each.name == step.name]
    return next((each for each in reversed(same) if _same_arguments(each.arguments, step.arguments)), None)


def _same_arguments(made: object, asked: str) -> bool:
    try:
        wanted = json.loads(asked)
    except ValueError:
        return True  # what is no JSON is no arguments either: the name must do
    return made == wanted or made == {} or made == {"invalid_json": asked}

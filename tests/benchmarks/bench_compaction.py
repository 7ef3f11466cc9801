"""The bench of faults against langchain's ways of shortening a history, and how each cost grows.

    python tests/benchmarks/bench_compaction.py

Every way gets every case with the same settings and the same scripted summariser. A case survives when all of
these hold (those that apply):

- runs: no exception gets out, unless it is the clear error of something too large to send
- accepted: what would be sent next is a history that a provider accepts
- newest kept: the newest user message is sent on word for word
- first seen: what the user said first is sent on, or was shown to the summariser
- failure harmless: when the summariser fails, the history stays as it was
- within the limit, by exact count, or said that it is not
"""

from __future__ import annotations

import gc
import json
import sys
import tempfile
import time
import tracemalloc
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path
from typing import Any

from langchain.agents.middleware import ClearToolUsesEdit, SummarizationMiddleware
from langchain_core.language_models.chat_models import BaseChatModel
from langchain_core.messages import AIMessage, BaseMessage, RemoveMessage, convert_to_messages, trim_messages
from langchain_core.messages.utils import convert_to_openai_messages, count_tokens_approximately
from langchain_core.outputs import ChatGeneration, ChatResult
from rich.console import Console
from rich.progress import track
from rich.table import Table

sys.path.insert(0, str(Path(__file__).parents[1]))
from case_bench import FOLDER, Case, exact, load

from labkit.compaction import (
    CountCompactor,
    FullCompactor,
    LedgerCompactor,
    SafeCutCompactor,
    ToolStubs,
)
from labkit.messages import (
    Message,
    assistant,
    normalise,
    problems,
    system,
    system_length,
    text_of,
    tool_call,
    tool_result,
    user,
)
from labkit.streaming import Reply

CASES = [path.stem for path in sorted(FOLDER.glob("*.json")) if not path.stem.startswith("count-")]
FAILING = (
    "summary-empty",
    "summary-truncated",
    "summary-tool-call",
    "summary-raises-429",
    "summary-longer-than-history",
)
STUB_LIMIT = 2000


@dataclass
class Outcome:
    """What a way made of a case: what it would send, and what it said when it could not help."""

    sent: list[Message] = field(default_factory=list)
    said: str = ""
    error: str = ""


# --- the ways -----------------------------------------------------------------------------------------------


def labkit(case: Case) -> Outcome:
    """The compactors of the case's stage, chained, and what the agent would then send."""
    compactor = list(case.staged().values())[-1]
    result = compactor(case.messages)
    return Outcome(normalise(result.messages), result.reason if result.over_limit or result.failed else "")


class ScriptedModel(BaseChatModel):
    """A langchain model that answers as the case's summariser does."""

    summariser: Any

    @property
    def _llm_type(self) -> str:
        return "scripted"

    def _generate(self, messages: list[BaseMessage], *args: Any, **kwargs: Any) -> ChatResult:
        text = "\n".join(str(message.content) for message in messages)
        reply: Reply = self.summariser([user(text)], 2000)
        calls = [as_langchain_call(call) for call in reply.tool_calls]
        about = {"finish_reason": reply.finish_reason}
        message = AIMessage(reply.text, tool_calls=calls, response_metadata=about)
        return ChatResult(generations=[ChatGeneration(message=message)])


def as_langchain_call(call: Message) -> dict[str, Any]:
    function = call["function"]
    return {"name": function["name"], "args": json.loads(function["arguments"]), "id": call["id"]}


def converted(messages: list[Message]) -> tuple[list[BaseMessage], list[BaseMessage]]:
    """The history in langchain's own messages: system part, and the rest (its middleware sees only that)."""
    start = system_length(messages)
    return convert_to_messages(messages[:start]), convert_to_messages(messages[start:])


def sent(messages: Sequence[BaseMessage]) -> list[Message]:
    return convert_to_openai_messages([each for each in messages if not isinstance(each, RemoveMessage)])


def summarization_middleware(case: Case) -> Outcome:
    leading, rest = converted(case.messages)
    settings = case.settings
    trigger = (
        ("messages", settings["threshold"] + 1)
        if "threshold" in settings
        else ("tokens", settings.get("limit", 6000))
    )
    keep = ("messages", settings.get("keep_last", settings.get("keep_recent", 2)))
    if "keep_tokens" in settings:
        keep = ("tokens", settings["keep_tokens"])
    model = ScriptedModel(summariser=case.summariser)
    middleware = SummarizationMiddleware(model, trigger=trigger, keep=keep)
    update = middleware.before_model({"messages": rest}, None)
    return Outcome(sent([*leading, *(update["messages"] if update else rest)]))


def trimming(case: Case) -> Outcome:
    leading, rest = converted(case.messages)
    limit = case.settings.get("limit", 6000)
    return Outcome(
        sent(
            trim_messages(
                [*leading, *rest],
                max_tokens=limit,
                token_counter=count_tokens_approximately,
                strategy="last",
                include_system=True,
                start_on="human",
            )
        )
    )


def clearing(case: Case) -> Outcome:
    leading, rest = converted(case.messages)
    edit = ClearToolUsesEdit(
        trigger=case.settings.get("limit", STUB_LIMIT), keep=case.settings.get("stub_keep_recent", 3)
    )
    edit.apply(rest, count_tokens=count_tokens_approximately)
    return Outcome(sent([*leading, *rest]))


WAYS: dict[str, Callable[[Case], Outcome]] = {
    "labkit": labkit,
    "SummarizationMiddleware": summarization_middleware,
    "trim_messages": trimming,
    "ClearToolUsesEdit": clearing,
}


# --- judging ------------------------------------------------------------------------------------------------


def attempt(way: Callable[[Case], Outcome], case: Case) -> Outcome:
    try:
        return way(case)
    except Exception as error:
        return Outcome(
            error=f"{type(error).__name__}: {str(error).splitlines()[0][:60] if str(error) else ''}"
        )


def failures(case: Case, outcome: Outcome) -> list[str]:
    """What does not hold; empty when the case survives."""
    if outcome.error:
        return [f"raises {outcome.error}"]
    found = []
    if case.messages and (not outcome.sent or problems(outcome.sent)):
        found.append(
            "would be rejected: " + (problems(outcome.sent)[0].rule if outcome.sent else "nothing left")
        )
    words = [
        text_of(message.get("content")) for message in case.data["messages"] if message["role"] == "user"
    ]
    kept = "\n".join(text_of(message.get("content")) for message in outcome.sent)
    shown = "\n".join(case.summariser.prompts)
    if words and words[-1] not in kept:
        found.append("the newest user message is gone")
    elif words and words[0][:200] not in kept and words[0][:200] not in shown:
        found.append("what the user said first is gone")
    limit = case.settings.get("limit")
    if limit and exact(outcome.sent) > limit and not outcome.said:
        found.append("over the limit, and silent about it")
    if case.id in FAILING and len(outcome.sent) != len(case.data["messages"]):
        found.append("a failed summary changed the history")
    return found


def table_of_cases() -> None:
    table = Table(title="Which cases survive", title_justify="left")
    table.add_column("case")
    for name in WAYS:
        table.add_column(name)
    survived = dict.fromkeys(WAYS, 0)
    with tempfile.TemporaryDirectory() as folder:
        for id in track(CASES, "cases", console=Console(stderr=True), transient=True):
            row = []
            for name, way in WAYS.items():
                case = load(id, Path(folder))
                found = failures(case, attempt(way, case))
                survived[name] += not found
                row.append("; ".join(found) or "survives")
            table.add_row(id, *row)
    table.add_row("survive", *(f"{count} of {len(CASES)}" for count in survived.values()))
    Console(width=150).print(table)


# --- growth -------------------------------------------------------------------------------------------------


def history(length: int) -> list[Message]:
    messages = [system("You are a coding agent."), user("port the module")]
    while len(messages) < length - 1:
        call = tool_call(f"c{len(messages)}", "read_file", {"path": f"src/{len(messages)}.py"})
        messages += [assistant(calls=[call]), tool_result(call["id"], "records parser totals " * 20)]
    return [*messages, user("go on")]


def short_summary(messages: list[Message], max_tokens: int) -> Reply:
    return Reply(assistant("- goal: port the module"), "stop")


def growth_ways(folder: Path) -> dict[str, Callable[[list[Message]], object]]:
    """One decision each, on a history far over the limit."""
    model = ScriptedModel(summariser=short_summary)
    middleware = SummarizationMiddleware(model, trigger=("tokens", 6000), keep=("messages", 2))

    def middleware_decides(messages: list[BaseMessage]) -> object:
        return middleware.before_model({"messages": messages}, None)

    def trims(messages: list[BaseMessage]) -> object:
        settings = {"strategy": "last", "include_system": True, "start_on": "human"}
        return trim_messages(messages, max_tokens=6000, token_counter=count_tokens_approximately, **settings)

    def clears(messages: list[BaseMessage]) -> object:
        return ClearToolUsesEdit(trigger=2000).apply(messages, count_tokens=count_tokens_approximately)

    return {
        "CountCompactor": CountCompactor(summarise=short_summary),
        "SafeCutCompactor": SafeCutCompactor(summarise=short_summary),
        "ToolStubs": ToolStubs(),
        "FullCompactor": FullCompactor(1000, folder=folder, summarise=short_summary),
        "LedgerCompactor": LedgerCompactor(6000, summarise=short_summary),
        "SummarizationMiddleware": middleware_decides,
        "trim_messages": trims,
        "ClearToolUsesEdit": clears,
    }


def table_of_growth(sizes: Sequence[int] = (1_000, 10_000, 100_000)) -> None:
    table = Table(title="One compaction decision: seconds, and megabytes at the peak", title_justify="left")
    table.add_column("way")
    for size in sizes:
        table.add_column(f"{size:,} messages", justify="right")
    table.add_column("time grows, for 10 times as much", justify="right")
    with tempfile.TemporaryDirectory() as folder:
        ways = growth_ways(Path(folder))
        for name, way in track(ways.items(), "growth", console=Console(stderr=True), transient=True):
            figures = [cost(way, size, langchain=name in WAYS) for size in sizes]
            steps = [f"{later[0] / max(earlier[0], 1e-6):.0f}" for earlier, later in pairwise(figures)]
            table.add_row(
                name,
                *(f"{seconds:.3f} s, {megabytes:.1f} MB" for seconds, megabytes in figures),
                ", ".join(steps),
            )
    Console(width=150).print(table)


def cost(way: Callable[[Any], object], size: int, langchain: bool) -> tuple[float, float]:
    """Processor seconds, and in a second run the peak of what was allocated, in megabytes."""

    def fresh() -> Any:
        messages = history(size)
        return convert_to_messages(messages) if langchain else messages

    messages = fresh()
    gc.collect()
    gc.freeze()  # otherwise the collector walks the history again and again, and is measured too
    start = time.process_time()
    way(messages)
    seconds = time.process_time() - start
    gc.unfreeze()
    messages = fresh()
    tracemalloc.start()
    way(messages)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    return seconds, peak / 1e6


if __name__ == "__main__":
    table_of_cases()
    table_of_growth()

"""The check of 5.3: snapshot first, then a summary, then three messages."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from labkit.checks.attempt import Attempt
from labkit.checks.ideas import Exercise, case
from labkit.checks.lab5_scene import ASKED, FINISHED, OWN, SUMMARY, WORKING, Scene, outcome, roles, staged
from labkit.checks.show import count, message_line, show
from labkit.compaction.base import quarter_of_characters
from labkit.compaction.snapshot import read_snapshot
from labkit.messages import Message, assistant, text_of
from labkit.streaming import Reply

compact_all = Exercise("5.3", "labkit.compaction.two_tier:compact_all")


@compact_all.idea(
    "three",
    "A finished history becomes three messages: system, the summary, an answer to it",
    rule="The summary takes the place of all messages but the system message.",
    step="shorter = [*system, *summary_pair(heading, summary.text, unread), *unread].",
    cases=[case(FINISHED)],
    shrink=False,
)
@staged
def becomes_three(t: Attempt, root: Path, history: list[Message]) -> None:
    scene = Scene(root)
    came = outcome(t, history, scene)
    t.expect(bool(scene.asked), "the summariser is asked", "it is not asked")
    t.expect(came.changed, "changed=True", f"changed=False, reason {came.reason!r}")
    if came.messages[:1] != history[:1]:
        t.fail(
            f"message 0: {message_line(history[0])}",
            f"message 0: {show(came.messages[:1])}",
            rule="The system message says what the agent is. It outlives every compaction.",
            step="Begin the new list with *system.",
        )
    found = [message.get("role") for message in came.messages]
    if found == ["system", "user"]:
        t.fail(
            "3 messages: system, user, assistant",
            roles(came.messages),
            rule="Without an answer to it, the model answers the summary instead of going on.",
            step="summary_pair(heading, summary.text, unread) makes both messages.",
        )
    t.expect(
        found == ["system", "user", "assistant"], "3 messages: system, user, assistant", roles(came.messages)
    )
    t.expect(
        SUMMARY in text_of(came.messages[1]["content"]),
        "the summary in message 1",
        f"message 1: {show(came.messages[1])}",
    )


@compact_all.idea(
    "snapshot",
    "The whole history is in the snapshot, and the result names it",
    rule="Nothing is lost: what the summary leaves out stands in the file.",
    step="path = write_snapshot(messages, folder), with all messages; and snapshot=path in the result.",
    cases=[case(FINISHED), case(ASKED)],
    shrink=False,
)
@staged
def snapshot_is_whole(t: Attempt, root: Path, history: list[Message]) -> None:
    scene = Scene(root)
    came = outcome(t, history, scene)
    t.expect(len(scene.snapshots) == 1, "one snapshot in the folder", count(len(scene.snapshots), "snapshot"))
    saved = read_snapshot(scene.snapshots[0])
    t.expect(saved == history, f"the whole history in it: {roles(history)}", roles(saved))
    same = came.snapshot is not None and Path(came.snapshot) == scene.snapshots[0]
    t.expect(same, "its path as .snapshot of the Compaction", "no path" if not came.snapshot else "another")


@compact_all.idea(
    "first",
    "The snapshot is written before the summary is asked for",
    rule="A model can fail, hang or be killed. Whatever it does, the history must be safe by then.",
    step="Let write_snapshot(messages, folder) be the first line.",
    cases=[case(FINISHED)],
    shrink=False,
)
@staged
def snapshot_first(t: Attempt, root: Path, history: list[Message]) -> None:
    scene = Scene(root)
    outcome(t, history, scene)
    t.expect(
        scene.saved_before == [1],
        "when the summariser is asked, the snapshot is on disk",
        "when it is asked, there is none yet",
    )


@compact_all.idea(
    "path",
    "Message 1 names the snapshot, as the agent's own tools find it",
    rule="Without the path nobody finds the file again. With it, the agent can look up what was lost.",
    step='FULL_HEADING.replace("{path}", path_for_agent(path, root)).',
    cases=[case(FINISHED), case(FINISHED, above=True)],
    shrink=False,
)
@staged
def path_is_named(t: Attempt, root: Path, history: list[Message], above: bool = False) -> None:
    scene = Scene(root)
    came = outcome(t, history, scene, **({"root": root.parent} if above else {}))
    first = text_of(came.messages[1]["content"]).splitlines()[0]
    shown = first.replace(scene.snapshots[0].name, "memory_<time>.jsonl").replace(str(root), "...")
    inside = f"{root.name}/.memory" if above else ".memory"
    right = f"[Context has been compressed. Memory: {inside}/{scene.snapshots[0].name}]"
    words = right.replace(scene.snapshots[0].name, "memory_<time>.jsonl").replace(root.name, "playground")
    if str(scene.snapshots[0]) in first or (above and "Memory: .memory/" in first):
        t.fail(
            f"message 1 begins {words}",
            "a path that the agent's tools do not know",
            rule="The agent's file tool takes paths from the folder it works in, and knows no other.",
            step="path_for_agent(path, root): hand root on.",
        )
    t.expect(first == right, f"message 1 begins {words}", shown.replace(root.name, "playground"))


@compact_all.idea(
    "instructions",
    "The summary may have 2,000 tokens, and the instructions are handed on",
    rule="Accomplished, current state, key decisions: what a summary holds is asked for, not hoped for.",
    step="ask_summary(old, summarise, instructions).",
    cases=[case(FINISHED)],
    shrink=False,
)
@staged
def instructions_are_used(t: Attempt, root: Path, history: list[Message]) -> None:
    scene = Scene(root)
    outcome(t, history, scene)
    t.expect(scene.most == [2000], "at most 2,000 tokens", f"at most {scene.most} tokens")
    for section in ("Accomplished", "Current state", "Key decisions"):
        t.expect(section in scene.asked[0], f"a request that asks for '{section}'", "it does not ask for it")
    own = Scene(root / "own")
    outcome(t, history, own, instructions=OWN)
    t.expect("Weather" in own.asked[0], "a request that asks for the section 'Weather'", "it asks for others")


USELESS: dict[str, Callable[[], Reply]] = {
    "empty": lambda: Reply(assistant(""), "stop"),
    "cut off": lambda: Reply(assistant(SUMMARY), "length"),
    "a refusal": lambda: Reply(assistant("I'm sorry, but I can't help with that."), "stop"),
    "longer than the history": lambda: Reply(assistant("word " * 3000), "stop"),
}


@compact_all.idea(
    "failure",
    "Without a useful summary the history stays as it was, and the result says why",
    rule="An empty summary in place of the history would be the end of the task.",
    step="if summary.problem: return unchanged(messages, ..., summary.problem, failed=summary.asked, ...).",
    cases=[case(FINISHED, "the line is down"), *(case(FINISHED, kind) for kind in USELESS)],
    shrink=False,
)
@staged
def a_failure(t: Attempt, root: Path, history: list[Message], kind: str) -> None:
    scene = Scene(root, USELESS[kind]()) if kind in USELESS else Scene(root, error=kind)
    came = outcome(t, history, scene)
    what = f"the summary is {kind}" if kind in USELESS else f"the summariser raised {kind!r}"
    t.expect(
        not came.changed and came.messages == history,
        f"{what}: changed=False, and the {count(len(history), 'message')} as they were",
        f"changed={came.changed}, {roles(came.messages)}",
    )
    t.expect(
        came.failed is True,
        f"{what}: failed=True",
        f"failed={came.failed}",
        rule="'Nothing to do' and 'could not' are different things. The agent counts failures, and stops.",
        step="unchanged(..., failed=summary.asked).",
    )
    if kind not in USELESS:
        t.expect(kind in came.reason, f"a reason that says why: {kind!r}", f"reason {came.reason!r}")


@compact_all.idea(
    "unread",
    "What the model has not read yet stays behind the three, word for word",
    rule="The user's new request and fresh results are not history: they are what comes next.",
    step="system, old, unread = split_unread(messages); summarise old alone, and end with *unread.",
    cases=[case(ASKED, 1), case(WORKING, 2)],
    shrink=False,
)
@staged
def unread_stays(t: Attempt, root: Path, history: list[Message], newest: int) -> None:
    scene = Scene(root)
    came = outcome(t, history, scene)
    t.expect(
        came.changed and came.messages[-newest:] == history[-newest:],
        f"at the end, as they are: {roles(history[-newest:])}",
        roles(came.messages),
    )
    t.expect(
        history[-1]["role"] != "user" or history[-1]["content"] not in scene.asked[0],
        "a request for a summary of what is behind us",
        "the user's new request is in it too: it would be told twice",
    )
    right = t.answer(history, Scene(root / "x").summarise, root / "x").messages
    t.expect(roles(came.messages) == roles(right), roles(right), roles(came.messages))


@compact_all.idea(
    "numbers",
    "The result tells the tokens before and after, as characters / 4",
    rule="A compactor says what it did in its own measure; the limit of tier 2 is in the same.",
    step="commit(messages, shorter, quarter_of_characters, snapshot=path).",
    cases=[case(FINISHED)],
    shrink=False,
)
@staged
def numbers_are_told(t: Attempt, root: Path, history: list[Message]) -> None:
    came = outcome(t, history, Scene(root))
    before, after = quarter_of_characters(history), quarter_of_characters(came.messages)
    t.expect(
        (came.tokens_before, came.tokens_after) == (before, after),
        f"{before} tokens before, {after} after",
        f"{came.tokens_before} before, {came.tokens_after} after",
    )

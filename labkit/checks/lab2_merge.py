"""The checks of 2.1: one delta into the growing message."""

from __future__ import annotations

import copy
import json
from typing import Any

from labkit.checks.attempt import Attempt
from labkit.checks.ideas import Exercise
from labkit.checks.show import show
from labkit.messages import Message
from labkit.streaming import finished_message, growing_message
from labkit.streaming import merge_delta as labkits_merge

merge_delta = Exercise("2.1", "labkit.streaming:merge_delta", changes_input=True)

Delta = dict[str, Any]

UNREADABLE = (
    "finished_message(growing) makes the message from these: content, and each call's id, name, arguments."
)


def part(arguments: str | None = None, name: str | None = None, **more: Any) -> dict[str, Any]:
    """A fragment of a call: what is None is not there at all."""
    function = {key: value for key, value in (("name", name), ("arguments", arguments)) if value is not None}
    return {**more, "function": function}


def fragments(*parts: dict[str, Any]) -> Delta:
    return {"tool_calls": list(parts)}


def merged(t: Attempt, deltas: list[Delta]) -> tuple[Message, Message]:
    """The message that the learner's function and labkit's make of these deltas."""
    shown = "\n".join(json.dumps(delta, ensure_ascii=False) for delta in deltas)
    t.trying(f"merge_delta with each of these, one after the other:\n{shown}")
    mine, labkits = growing_message(), growing_message()
    for delta in deltas:
        t.call_in_place(mine, copy.deepcopy(delta))
        labkits_merge(labkits, copy.deepcopy(delta))
    return _finished(t, mine), finished_message(labkits)


def _finished(t: Attempt, growing: dict[str, Any]) -> Message:
    if any(piece is None for piece in growing.get("content") or []):
        t.fail("only text in growing['content']", show(growing["content"]))
    try:
        return finished_message(growing)
    except (KeyError, TypeError, AttributeError):
        expected = "lists of pieces, and each call a dict with index, id, name and arguments"
        t.fail(
            expected,
            show(growing),
            rule=UNREADABLE,
            step='Begin a call with {"index": ..., "id": None, "name": None, "arguments": []}.',
        )


def compare(t: Attempt, deltas: list[Delta]) -> None:
    """Break at the first difference: the text, the number of calls, an id, a name, the arguments."""
    came, expected = merged(t, deltas)
    t.equal(came["content"] or "", expected["content"] or "")
    mine, theirs = came.get("tool_calls", []), expected.get("tool_calls", [])
    if len(mine) != len(theirs):
        t.fail(_calls(theirs), _calls(mine))
    for one, other in zip(mine, theirs, strict=True):
        name, right_name = one["function"]["name"], other["function"]["name"]
        if (right_name and not name) or (one["id"] != other["id"] and one["id"].startswith("call_")):
            t.fail(
                _calls(theirs),
                _calls(mine),
                rule="A later fragment carries no id and no name; that takes nothing away from its call.",
                step='Set each once: call["id"] = call["id"] or fragment.get("id"), and the name likewise.',
            )
        t.expect(one == other, _calls(theirs), _calls(mine))


def _calls(calls: list[Message]) -> str:
    if not calls:
        return "no calls"
    shown = [
        f"{call['function']['name']!r} {call['function']['arguments']} (id {call['id']})" for call in calls
    ]
    return f"{len(calls)} call{'' if len(calls) == 1 else 's'}: " + ", ".join(shown)


# -- the ideas


@merge_delta.idea(
    "text",
    "Text is added at the end of the growing message, in place",
    rule="A delta is a piece, not the whole: what came before stays, and the piece goes to its end.",
    step='growing["content"] is a list of pieces: append the delta\'s content to it.',
    cases=[[{"role": "assistant", "content": ""}, {"content": "Hel"}, {"content": "lo"}]],
    shrink=False,
)
def text_is_added(t: Attempt, deltas: list[Delta]) -> None:
    compare(t, deltas)


@merge_delta.idea(
    "null",
    "Null, or nothing at all, is no text",
    rule="Any field of a delta may be null or missing. None is not text, and str(None) is the word None.",
    step='Take the text with text_of(delta.get("content")): it gives "" for None. Use .get, not [...].',
    cases=[
        [{"role": "assistant", "content": None, "refusal": None}, {"content": "Hi"}],
        [{"content": "Hi"}, {}, {"content": "!", "tool_calls": None}],
    ],
    shrink=False,
)
def null_is_nothing(t: Attempt, deltas: list[Delta]) -> None:
    compare(t, deltas)


@merge_delta.idea(
    "as-text",
    "A piece of arguments is kept as text, never read",
    rule="Half of a JSON text is not JSON. Arguments may be parsed when the stream has ended, not before.",
    step='Append function.get("arguments") or "" to call["arguments"], and do nothing else with it.',
    cases=[[fragments(part('{"path": "no', "read_file", index=0, id="c1", type="function"))]],
    shrink=False,
)
def arguments_are_text(t: Attempt, deltas: list[Delta]) -> None:
    came, _ = merged(t, deltas)
    if not came.get("tool_calls"):
        t.fail(
            "1 call in growing['calls']",
            "no calls",
            rule="A fragment whose call has not begun yet begins it.",
            step='Walk through delta.get("tool_calls") or []; append a new dict to growing["calls"].',
        )
    compare(t, deltas)


@merge_delta.idea(
    "gathers",
    "All fragments of one call go to one call",
    rule="A call comes in many fragments. A fragment of a call that has begun is not a new call.",
    step='Look in growing["calls"] for the call with the fragment\'s index; append one if none is there.',
    cases=[
        [
            fragments(part("", "read_file", index=0, id="c1")),
            fragments(part('{"path": ', index=0, id="c1")),
            fragments(part('"notes.md"}', index=0, id="c1")),
        ]
    ],
    shrink=False,
)
def fragments_gather(t: Attempt, deltas: list[Delta]) -> None:
    compare(t, deltas)


@merge_delta.idea(
    "once",
    "Id and name are set once, even when each fragment repeats them",
    rule="Only arguments come in pieces. Id and name are whole each time, and some services repeat them.",
    step='call["name"] = call["name"] or function.get("name"): set what is empty, add nothing.',
    cases=[
        [
            fragments(part('{"path": ', "read_file", index=0, id="c1")),
            fragments(part('"notes.md"}', "read_file", index=0, id="c1")),
        ]
    ],
    shrink=False,
)
def set_once(t: Attempt, deltas: list[Delta]) -> None:
    compare(t, deltas)


@merge_delta.idea(
    "by-index",
    "A fragment without an id is found by its index",
    rule="Most services send the id in a call's first fragment only; after that the index says which call.",
    step='Look for the call whose "index" equals the fragment\'s; begin one only for an index not seen yet.',
    cases=[
        [fragments(part("", "read_file", index=0, id="c1")), fragments(part("{}", index=0))],
        [
            fragments(part("", "read_file", index=0, id="c1")),
            fragments(part("", "search_text", index=1, id="c2")),
            fragments(part('{"path": "a.md"}', index=0)),
            fragments(part('{"pattern": "sea"}', index=1)),
        ],
        [fragments(part("[1", "f", index=0, id="c1")), fragments(part("]", index=0, id="", name=""))],
    ],
    shrink=False,
)
def found_by_index(t: Attempt, deltas: list[Delta]) -> None:
    compare(t, deltas)


@merge_delta.idea(
    "to-the-end",
    "Arguments go on until the stream ends, even when they look complete",
    rule="A beginning can be valid JSON: 1 is, and 12 was meant. Only the end of the stream ends a call.",
    step="Append every piece. Whether the arguments are complete is not this function's business.",
    cases=[[fragments(part("1", "f", index=0, id="c1")), fragments(part("2", index=0))]],
    shrink=False,
)
def to_the_end(t: Attempt, deltas: list[Delta]) -> None:
    compare(t, deltas)


@merge_delta.idea(
    "by-id",
    "Without an index, an id not seen before begins a new call",
    rule="Some services send no index, and several whole calls in one delta. Then the ids tell them apart.",
    step="Look for the fragment's id first. An id that no call has yet begins a new call.",
    cases=[
        [
            fragments(
                part('{"path": "a.md"}', "read_file", id="c1"), part('{"path": "b.md"}', "read_file", id="c2")
            )
        ],
        [
            fragments(part("", "f", index=None, id="c1"), part("", "g", index=None, id="c2")),
            fragments(part("{}", id="c1")),
        ],
    ],
    shrink=False,
)
def found_by_id(t: Attempt, deltas: list[Delta]) -> None:
    compare(t, deltas)


@merge_delta.idea(
    "by-place",
    "With neither index nor id, a fragment goes on with the newest call",
    rule="What says nothing about where it belongs belongs to what came last.",
    step='When the fragment has no id and no index, take growing["calls"][-1].',
    cases=[
        [
            fragments(part("", "f", index=None, id="c1")),
            fragments(part("[1]", index=None, id=None)),
            fragments(part("", "g", index=None, id="c2")),
            fragments(part("[2]", index=None, id=None)),
        ]
    ],
    shrink=False,
)
def found_by_place(t: Attempt, deltas: list[Delta]) -> None:
    compare(t, deltas)


@merge_delta.idea(
    "same-index",
    "Two ids are two calls, even with one index",
    rule="Some services give every call the index 0. An index may lie; two ids never mean one call.",
    step="Ask for the id before the index: a new id begins a call, whatever index it has.",
    cases=[
        [
            fragments(part('{"q": 1}', "f", index=0, id="c1")),
            fragments(part('{"q": 2}', "g", index=0, id="c2")),
        ]
    ],
    shrink=False,
)
def two_ids_are_two_calls(t: Attempt, deltas: list[Delta]) -> None:
    compare(t, deltas)

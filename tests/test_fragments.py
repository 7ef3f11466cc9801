"""Which call a fragment belongs to, in every dialect that was seen: by example and by property."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from labkit.fragments import find_call
from labkit.streaming import collect

Fragment = dict[str, Any]
Chunks = list[dict[str, Any]]
Call = tuple[str, str, list[str]]  # id, name, the arguments in pieces


def frag(arguments: Any = None, name: Any = None, **more: Any) -> Fragment:
    """A fragment; `...` as a value leaves the field out."""
    function = {"name": name, "arguments": arguments}
    function = {key: value for key, value in function.items() if value is not ...}
    return {**{key: value for key, value in more.items() if value is not ...}, "function": function}


def chunk(*fragments: Fragment, finish: str | None = None) -> dict[str, Any]:
    return {"choices": [{"index": 0, "delta": {"tool_calls": list(fragments)}, "finish_reason": finish}]}


def calls_of(*chunks: dict[str, Any]) -> list[tuple[str, str, str]]:
    """Id, name and arguments of the calls that come out of these chunks."""
    reply = collect([*chunks, chunk(finish="tool_calls")])
    return [
        (call["id"], call["function"]["name"], call["function"]["arguments"]) for call in reply.tool_calls
    ]


# --- dialects: each turns calls into chunks ---------------------------------------------------------------


def opened(calls: list[Call], **more: Any) -> Chunks:
    """A first fragment for each call, with id, name and empty arguments; index as the protocol wants it."""
    return [chunk(frag("", name, index=place, id=id, **more)) for place, (id, name, _) in enumerate(calls)]


def woven(calls: list[Call], make: Callable[[int, Call, str], Fragment]) -> Chunks:
    """The pieces of all calls in turn: first pieces, second pieces, and so on."""
    longest = max(len(pieces) for _, _, pieces in calls)
    return [
        chunk(make(place, call, call[2][row]))
        for row in range(longest)
        for place, call in enumerate(calls)
        if row < len(call[2])
    ]


def in_turn(
    calls: list[Call], first: Callable[[int, Call], Fragment], later: Callable[[int, str], Fragment]
) -> Chunks:
    """One call after the other: its first fragment, then its pieces."""
    chunks = []
    for place, call in enumerate(calls):
        chunks.append(chunk(first(place, call)))
        chunks += [chunk(later(place, piece)) for piece in call[2]]
    return chunks


def whole(call: Call) -> str:
    return "".join(call[2])


def shifting(calls: list[Call]) -> Chunks:
    """Each fragment has an index of its own, which says nothing."""
    numbers = iter(range(10_000))
    return in_turn(
        calls,
        lambda place, call: frag("", call[1], index=next(numbers), id=call[0]),
        lambda place, piece: frag(piece, ..., index=next(numbers)),
    )


DIALECTS: dict[str, Callable[[list[Call]], Chunks]] = {
    "as the protocol says, woven": lambda calls: (
        opened(calls) + woven(calls, lambda place, call, piece: frag(piece, ..., index=place))
    ),
    "as the protocol says, in turn": lambda calls: in_turn(
        calls,
        lambda place, call: frag(..., call[1], index=place, id=call[0]),
        lambda place, piece: frag(piece, ..., index=place),
    ),
    "index from 1": lambda calls: (
        [chunk(frag("", name, index=place + 1, id=id)) for place, (id, name, _) in enumerate(calls)]
        + woven(calls, lambda place, call, piece: frag(piece, ..., index=place + 1))
    ),
    "index that shifts": shifting,
    "no index, id first": lambda calls: in_turn(
        calls, lambda place, call: frag("", call[1], id=call[0]), lambda place, piece: frag(piece, ...)
    ),
    "null index, null id": lambda calls: in_turn(
        calls,
        lambda place, call: frag(None, call[1], index=None, id=call[0]),
        lambda place, piece: frag(piece, None, index=None, id=None, type=None),
    ),
    "no index, id in each": lambda calls: woven(
        calls, lambda place, call, piece: frag(piece, call[1], id=call[0])
    ),
    "id and name in each": lambda calls: woven(
        calls, lambda place, call, piece: frag(piece, call[1], index=place, id=call[0])
    ),
    "id and name empty later": lambda calls: (
        opened(calls) + woven(calls, lambda place, call, piece: frag(piece, "", index=place, id=""))
    ),
    "empty fragment last": lambda calls: (
        opened(calls)
        + woven(calls, lambda place, call, piece: frag(piece, ..., index=place))
        + [chunk(*(frag("", ..., index=place, id="") for place in range(len(calls))))]
    ),
    "index 0 for all": lambda calls: in_turn(
        calls,
        lambda place, call: frag("", call[1], index=0, id=call[0]),
        lambda place, piece: frag(piece, ..., index=0),
    ),
    "all in one chunk, no index": lambda calls: [
        chunk(*(frag(whole(call), call[1], id=call[0]) for call in calls))
    ],
    "all in one chunk": lambda calls: [
        chunk(*(frag(whole(call), call[1], index=place, id=call[0]) for place, call in enumerate(calls)))
    ],
    "side by side, found by place": lambda calls: (
        [chunk(*(frag("", name, id=id) for id, name, _ in calls))]
        + [
            chunk(*(frag(call[2][row] if row < len(call[2]) else "", ...) for call in calls))
            for row in range(max(len(pieces) for _, _, pieces in calls))
        ]
    ),
    "id late": lambda calls: (
        [chunk(frag("", name, index=place)) for place, (_, name, _) in enumerate(calls)]
        + woven(calls, lambda place, call, piece: frag(piece, ..., index=place, id=call[0]))
    ),
}

words = st.text("abcdefghij_", min_size=1, max_size=8)
values = st.one_of(
    st.integers(), st.text(max_size=12), st.booleans(), st.none(), st.lists(st.integers(), max_size=3)
)


@st.composite
def some_calls(draw: st.DrawFn) -> list[Call]:
    """Calls with ids of their own, any names, and arguments cut anywhere."""
    ids = draw(st.lists(words, min_size=1, max_size=4, unique=True))
    calls = []
    for call_id in ids:
        arguments = json.dumps(draw(st.dictionaries(words, values, max_size=3)), ensure_ascii=False)
        cuts = sorted(draw(st.sets(st.integers(1, len(arguments) - 1), max_size=6)))
        pieces = [arguments[start:end] for start, end in zip([0, *cuts], [*cuts, None], strict=True)]
        calls.append((call_id, draw(words), pieces))
    return calls


@pytest.mark.parametrize("dialect", DIALECTS)
@given(calls=some_calls())
def test_any_calls_in_any_pieces_come_back_whole(dialect: str, calls: list[Call]) -> None:
    assert calls_of(*DIALECTS[dialect](calls)) == [(id, name, whole((id, name, p))) for id, name, p in calls]


@given(calls=some_calls())
def test_calls_without_any_id_get_ids_of_their_own(calls: list[Call]) -> None:
    chunks = [chunk(frag("", name, index=place)) for place, (_, name, _) in enumerate(calls)]
    chunks += woven(calls, lambda place, call, piece: frag(piece, ..., index=place))

    found = calls_of(*chunks)

    assert [(name, arguments) for _, name, arguments in found] == [(call[1], whole(call)) for call in calls]
    assert len({id for id, _, _ in found}) == len(calls)


@given(calls=some_calls())
def test_one_id_for_all_calls_leaves_the_index_to_tell_them_apart(calls: list[Call]) -> None:
    chunks = [chunk(frag(whole(call), call[1], index=place, id="same")) for place, call in enumerate(calls)]

    found = calls_of(*chunks)

    assert [(name, arguments) for _, name, arguments in found] == [(call[1], whole(call)) for call in calls]
    assert len({id for id, _, _ in found}) == len(calls)


# --- by example -------------------------------------------------------------------------------------------


def test_a_fragment_that_belongs_nowhere_begins_a_call() -> None:
    calls: list[dict[str, Any]] = []
    first = find_call(calls, frag("", "f", index=0, id="a"))
    second = find_call(calls, frag("", "g", index=1, id="b"))
    assert first is not second
    assert calls == [first, second]


def test_woven_fragments_with_one_id_go_by_their_index() -> None:
    chunks = [chunk(frag("", name, index=place, id="x")) for place, name in enumerate("fg")]
    chunks += [chunk(frag(piece, ..., index=place, id="x")) for piece in ('{"n":', "1}") for place in (0, 1)]
    assert [(name, arguments) for _, name, arguments in calls_of(*chunks)] == [
        ("f", '{"n":1}'),
        ("g", '{"n":1}'),
    ]


def test_the_same_function_called_twice_without_ids_or_index_is_two_calls() -> None:
    chunks = [chunk(frag(arguments, "f")) for arguments in ('{"n": 1}', '{"n": 2}')]
    assert [arguments for _, _, arguments in calls_of(*chunks)] == ['{"n": 1}', '{"n": 2}']


def test_a_repeated_name_while_the_arguments_are_incomplete_is_no_new_call() -> None:
    chunks = [chunk(frag(piece, "f", index=0)) for piece in ("", '{"n":', " 1}")]
    assert [arguments for _, _, arguments in calls_of(*chunks)] == ['{"n": 1}']


def test_another_name_at_the_same_index_is_another_call() -> None:
    assert [
        name for _, name, _ in calls_of(chunk(frag("{}", "f", index=0)), chunk(frag("{}", "g", index=0)))
    ] == ["f", "g"]


def test_an_empty_fragment_with_an_unknown_index_begins_no_call() -> None:
    assert len(calls_of(chunk(frag('{"n": 1}', "f", index=0, id="a")), chunk(frag("", ..., index=7)))) == 1


@pytest.mark.parametrize("arguments", [..., None, "", "  "])
def test_no_arguments_in_any_form_are_an_empty_object(arguments: Any) -> None:
    assert calls_of(chunk(frag(arguments, "f", index=0, id="a")))[0][2].strip() == "{}"


def test_arguments_sent_as_an_object_become_text() -> None:
    assert calls_of(chunk(frag({"path": "海.md"}, "f", index=0, id="a"))) == [("a", "f", '{"path": "海.md"}')]


def test_an_id_that_two_calls_share_is_made_different() -> None:
    found = calls_of(chunk(frag("{}", "f", index=0, id="a"), frag("{}", "g", index=1, id="a")))
    assert [name for _, name, _ in found] == ["f", "g"]
    assert found[0][0] != found[1][0]


def test_a_fragment_without_a_function_is_harmless() -> None:
    assert calls_of(chunk(frag("{}", "f", index=0, id="a")), chunk({"index": 0, "function": None})) == [
        ("a", "f", "{}")
    ]


def test_a_name_may_come_after_the_first_arguments() -> None:
    chunks = [
        chunk(frag('{"n": 1}', "f", index=0)),
        chunk(frag('{"n":', ..., index=1)),
        chunk(frag(" 2}", "g", index=1)),
    ]
    assert [(name, arguments) for _, name, arguments in calls_of(*chunks)] == [
        ("f", '{"n": 1}'),
        ("g", '{"n": 2}'),
    ]


def test_a_new_id_in_each_fragment_of_a_call_begins_no_other() -> None:
    chunks = [
        chunk(frag("", "f", index=0, id="a1")),
        *(
            chunk(frag(piece, name, index=0, id=f"a{piece}"))
            for piece, name in (('{"n":', None), ("1}", ...))
        ),
        chunk(frag("", "g", index=1, id="b1")),
        chunk(frag("{}", ..., index=1, id="b2"), frag("", ..., index=0, id="a3")),
    ]
    assert calls_of(*chunks) == [("a1", "f", '{"n":1}'), ("b1", "g", "{}")]


@pytest.mark.parametrize("more", [{}, {"index": None}, {"index": 0}])
@pytest.mark.parametrize("name", ["f", "g"])
def test_one_id_for_two_whole_calls_in_one_place_makes_two(name: str, more: dict[str, Any]) -> None:
    chunks = [chunk(frag('{"n":1}', "f", id="a", **more)), chunk(frag('{"n":2}', name, id="a", **more))]
    assert [(name, arguments) for _, name, arguments in calls_of(*chunks)] == [
        ("f", '{"n":1}'),
        (name, '{"n":2}'),
    ]


@pytest.mark.parametrize("pieces", [['{"n":', "1}"], ['{"n":1}'], [{"n": 1}]])
@pytest.mark.parametrize("where", [{"id": "a"}, {"id": "a", "index": 0}, {"index": 0}])
@pytest.mark.parametrize("name", ["f", ...])
def test_arguments_said_once_more_in_full_are_said_once(pieces: list[Any], where: Any, name: Any) -> None:
    whole = pieces[0] if len(pieces) == 1 else "".join(pieces)
    chunks = [chunk(frag(piece, name if place else "f", **where)) for place, piece in enumerate(pieces)]
    found = calls_of(*chunks, chunk(frag(whole, name, **where)))
    assert [json.loads(arguments) for _, _, arguments in found] == [{"n": 1}]


@pytest.mark.parametrize("names", ["ff", "fg"])
def test_calls_that_begin_in_one_chunk_are_told_apart_by_their_place_alone(names: str) -> None:
    pieces = [("", ""), ('{"n":', '{"n":'), ("1}", "2}")]
    chunks = [chunk(*(frag(piece, ...) for piece in row)) for row in pieces[1:]]
    found = calls_of(chunk(*(frag("", name) for name in names)), *chunks)
    assert [arguments for _, _, arguments in found] == ['{"n":1}', '{"n":2}']


def test_two_fragments_of_one_call_may_share_a_chunk_and_its_name() -> None:
    assert calls_of(chunk(frag('{"n":', "f"), frag(" 1}", "f"))) == [("call_0", "f", '{"n": 1}')]


@pytest.mark.parametrize("more", [{}, {"index": 0}])
def test_an_id_that_comes_before_its_function_begins_a_call(more: dict[str, Any]) -> None:
    chunks = []
    for call_id, name in ("af", "bg"):
        chunks += [
            chunk({"id": call_id, **more}),
            chunk(frag("", name, **more)),
            chunk(frag("{}", ..., **more)),
        ]
    assert calls_of(*chunks) == [("a", "f", "{}"), ("b", "g", "{}")]

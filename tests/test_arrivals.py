"""The chart of how a streamed reply arrives: each piece in its row, and the same words in every run."""

from __future__ import annotations

from typing import Any

import pytest

from labkit.charts import arrivals


def chunk(delta: dict[str, Any] | None = None, finish: str | None = None) -> dict[str, Any]:
    return {"choices": [{"index": 0, "delta": delta or {}, "finish_reason": finish}]}


def part(index: int, arguments: str, **first: str) -> dict[str, Any]:
    function = {"arguments": arguments, **({"name": first["name"]} if first else {})}
    more = {"id": first["id"]} if first else {}
    return chunk({"tool_calls": [{"index": index, **more, "function": function}]})


WOVEN = [
    chunk({"role": "assistant", "content": ""}),
    chunk({"content": "Both."}),
    part(0, "", id="a", name="read_file"),
    part(1, "", id="b", name="list_files"),
    part(0, '{"path": "a.md"}'),
    part(1, "{}"),
    chunk(finish="tool_calls"),
    {"choices": [], "usage": {"total_tokens": 3}},
]


def test_each_piece_is_counted_in_the_row_that_it_belongs_to() -> None:
    rows = [tuple(row.values()) for row in arrivals(WOVEN).table]
    assert rows == [
        ("start", 1, 1, 1, ""),
        ("text", 1, 2, 2, "Both."),
        ("call 1: read_file", 2, 3, 5, '{"path": "a.md"}'),
        ("call 2: list_files", 2, 4, 6, "{}"),
        ("finish", 1, 7, 7, "tool_calls"),
        ("usage", 1, 8, 8, ""),
    ]


def test_the_title_says_what_was_woven_together() -> None:
    assert "2 tool calls in 2 and 2 fragments, woven together" in arrivals(WOVEN).title
    in_turn = [WOVEN[0], WOVEN[2], WOVEN[4], WOVEN[3], WOVEN[5], WOVEN[6]]
    assert "woven" not in arrivals(in_turn).title


def test_the_picture_is_told_in_words() -> None:
    alt = arrivals(WOVEN).alt
    assert "Call 1: read_file: chunk 3, 5." in alt
    assert "Usage: chunk 8." in alt


def test_measured_times_are_drawn_and_leave_title_and_table_as_they_are() -> None:
    timed, plain = arrivals(WOVEN, [0.1 * n for n in range(len(WOVEN))]), arrivals(WOVEN)
    assert str(timed) == str(plain)
    assert "first word came after 100 ms, the end after 700 ms" in timed.alt
    assert "whole reply after 700 ms" in timed.svg()


def test_a_time_is_needed_for_each_chunk() -> None:
    with pytest.raises(ValueError, match="1 time for 8 chunks"):
        arrivals(WOVEN, [0.1])


def test_a_stream_without_anything_is_a_chart_all_the_same() -> None:
    assert arrivals([]).title == "No chunks"
    assert "<svg" in arrivals([]).svg()


def test_hostile_names_cannot_break_the_drawing() -> None:
    svg = arrivals([part(0, "<b>&\x00$\\frac{$", id="a", name="<script>\x07"), chunk(finish="stop")]).svg()
    assert "<script>" not in svg
    assert "\x00" not in svg and "\x07" not in svg

"""Showing a run while it happens: text that grows on the screen, and a run step by step."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from labkit.compaction.base import Compaction
from labkit.errors import StreamInterrupted
from labkit.live import LiveText, Narrator
from labkit.loop import Agent, Event
from labkit.messages import assistant, tool_call, tool_result
from labkit.trace import Trace


class Screen:
    """A frame that keeps what was drawn, as a notebook's output does."""

    takes_pieces = False

    def __init__(self) -> None:
        self.drawn: list[str] = []

    def write(self, text: str) -> None:
        self.drawn.append(text)


class Paper(Screen):
    """A frame on which everything stays, as in a terminal."""

    takes_pieces = True


def show(pieces: list[str], seconds_between: float, frame: Screen) -> None:
    now = [0.0]
    live = LiveText(clock=lambda: now[0], frame=frame)
    for piece in pieces:
        live(piece)
        now[0] += seconds_between
    live.finish()


def test_a_frame_is_drawn_at_most_about_ten_times_a_second_however_many_pieces_come() -> None:
    screen = Screen()
    show(["word "] * 1000, 0.002, screen)  # two seconds
    assert 10 <= len(screen.drawn) <= 22


def test_the_last_frame_is_always_drawn_and_holds_the_whole_text() -> None:
    screen = Screen()
    show(["The ", "last ", "word"], 0.001, screen)
    assert screen.drawn == ["The ", "The last word"]


def test_slow_pieces_are_drawn_at_once_and_not_again_at_the_end() -> None:
    screen = Screen()
    show(["a", "b", "c"], 1.0, screen)
    assert screen.drawn == ["a", "ab", "abc"]


def test_where_everything_stays_the_pieces_are_written_as_they_come() -> None:
    paper = Paper()
    show(["a", "b"], 0.001, paper)
    assert paper.drawn == ["a", "b", "\n"]


@pytest.mark.parametrize("frame", [Screen(), Paper()])
def test_without_any_text_nothing_is_drawn(frame: Screen) -> None:
    show([], 0.1, frame)
    assert not "".join(frame.drawn)


def test_outside_a_notebook_text_is_plain(capsys: pytest.CaptureFixture[str]) -> None:
    live = LiveText()
    live("Hel")
    assert capsys.readouterr().out == "Hel"
    live("lo")
    live.finish()
    assert capsys.readouterr().out == "lo\n"


# --- step by step -----------------------------------------------------------------------------------------


def recorded(**settings: Any) -> Event:
    trace = Trace()
    trace.add([], [], tokens=1234)
    return Event("recorded", request=trace.requests[0])


def told(capsys: pytest.CaptureFixture[str], *events: Event, width: int = 88) -> list[str]:
    narrator = Narrator(width)
    for event in events:
        narrator(event)
    return capsys.readouterr().out.splitlines()


def test_a_run_is_told_step_by_step(capsys: pytest.CaptureFixture[str]) -> None:
    call = assistant("I look.", [tool_call("a", "read_file", '{"path": "a.md"}')])
    events = [
        Event("request", request_number=1),
        recorded(),
        Event("reply", message=call, text="I look."),
        Event("tool_result", message=tool_result("a", "Seven."), text="Seven."),
    ]
    assert told(capsys, *events) == [
        "request 1: 1,234 tokens sent",
        "  says: I look.",
        '  calls: read_file({"path": "a.md"})',
        "  result: Seven.",
    ]


def test_streamed_text_is_shown_once(capsys: pytest.CaptureFixture[str]) -> None:
    events = [
        Event("request", request_number=1),
        Event("text", text="Seven "),
        Event("text", text="bridges."),
        recorded(),
        Event("reply", message=assistant("Seven bridges."), text="Seven bridges."),
    ]
    assert told(capsys, *events) == [
        "request 1, streamed:",
        "Seven bridges.",
        "  1,234 tokens sent",
    ]


def test_after_a_stream_that_broke_off_the_next_request_starts_on_a_new_line(
    capsys: pytest.CaptureFixture[str],
) -> None:
    first, again = (Event("request", request_number=number) for number in (1, 1))
    events = [first, Event("text", text="I wi"), again, Event("text", text="Seven."), recorded()]
    head = "request 1, streamed:"
    assert told(capsys, *events) == [head, "I wi", head, "Seven.", "  1,234 tokens sent"]


def test_a_long_text_is_shown_by_its_start_and_its_length(capsys: pytest.CaptureFixture[str]) -> None:
    text = "word\n" * 100
    line = told(capsys, Event("tool_result", message=tool_result("a", text), text=text), width=10)[0]
    assert line == "  result: word word ... (500 characters)"


def test_a_compaction_is_told_with_its_reason(capsys: pytest.CaptureFixture[str]) -> None:
    done = Compaction([], True, "21 messages became 9", 100, 50)
    assert told(capsys, Event("compaction", compaction=done)) == ["compaction: 21 messages became 9"]


@pytest.mark.parametrize("error", [OSError("cut"), KeyboardInterrupt()])
def test_the_last_frame_is_drawn_also_when_the_stream_breaks_off(
    error: BaseException, monkeypatch: pytest.MonkeyPatch
) -> None:
    screen = Screen()
    monkeypatch.setattr("labkit.live._frame", lambda: screen)

    def create(**request: Any) -> Any:
        for piece in ("I ", "wi", "ll"):
            yield {"choices": [{"index": 0, "delta": {"content": piece}, "finish_reason": None}]}
        raise error

    client: Any = SimpleNamespace(chat=SimpleNamespace(completions=SimpleNamespace(create=create)))
    with pytest.raises((StreamInterrupted, KeyboardInterrupt)):
        Agent(client, "m", stream=True, on_event=Narrator()).run("go")
    assert screen.drawn[-1] == "I will"

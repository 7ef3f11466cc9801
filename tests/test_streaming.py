"""From chunks to one reply: what must come out, what is an interruption, and what it costs."""

from __future__ import annotations

import json
import sys
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from openai.types.chat import ChatCompletion, ChatCompletionChunk

from labkit.errors import ModelError, StreamInterrupted
from labkit.loop import Agent
from labkit.messages import problems
from labkit.streaming import Reply, collect, growing_message, merge_delta, plain_chunks, settled, whole_reply

Chunk = dict[str, Any]
USAGE = {"prompt_tokens": 11, "completion_tokens": 7, "total_tokens": 18}
CASES = sorted((Path(__file__).parent / "streams").glob("*.json"))


def chunk(delta: Any = None, finish: str | None = None, **more: Any) -> Chunk:
    return {"choices": [{"index": 0, "delta": delta or {}, "finish_reason": finish}], **more}


def text(*pieces: Any) -> list[Chunk]:
    return [chunk({"content": piece}) for piece in pieces]


def call_chunk(arguments: str, finish: str | None = None, **first: Any) -> Chunk:
    function = {"arguments": arguments} | ({"name": first.pop("name")} if "name" in first else {})
    return chunk({"tool_calls": [{"index": 0, "function": function, **first}]}, finish)


HALF_CALL = [call_chunk('{"path": "/et', id="a", name="write_file")]
STOP = chunk(finish="stop")


def as_dict(body: Chunk) -> Chunk:
    return body


def as_object(body: Chunk) -> Any:
    """The chunk as the openai client makes it: fields that it does not know or that are odd are kept."""
    return ChatCompletionChunk.construct(**body)


def interrupted(chunks: Any) -> StreamInterrupted:
    with pytest.raises(StreamInterrupted) as caught:
        collect(chunks)
    return caught.value


class Broken:
    """A stream whose line breaks after these chunks."""

    def __init__(self, chunks: list[Chunk], error: BaseException) -> None:
        self.chunks, self.error = chunks, error

    def __iter__(self) -> Iterator[Chunk]:
        yield from self.chunks
        raise self.error


# --- the cases in tests/streams ---------------------------------------------------------------------------


@pytest.mark.parametrize("form", [as_dict, as_object])
@pytest.mark.parametrize("path", CASES, ids=lambda path: path.stem)
def test_each_stream_comes_out_as_its_file_says(path: Path, form: Callable[[Chunk], Any]) -> None:
    case = json.loads(path.read_text(encoding="utf-8"))
    chunks, expect = [form(body) for body in case["chunks"]], case["expect"]

    reply = collect(chunks) if expect["finish_reason"] else interrupted(chunks).partial

    assert reply.message["content"] == expect["content"]
    assert reply.tool_calls == expect["tool_calls"]
    assert reply.finish_reason == expect["finish_reason"]
    assert reply.usage == expect["usage"]
    assert reply.calls_may_run == expect["calls_may_run"]


def test_there_are_cases_of_streams() -> None:
    assert len(CASES) >= 12


# --- the text ---------------------------------------------------------------------------------------------


@given(st.lists(st.one_of(st.none(), st.text())))
def test_text_in_any_pieces_is_one_text(pieces: list[str | None]) -> None:
    reply = collect([*text(*pieces), STOP])
    assert reply.message == {"role": "assistant", "content": "".join(piece or "" for piece in pieces)}


def test_content_may_come_as_a_list_of_parts_and_thinking_is_no_text() -> None:
    thinking = {"type": "thinking", "thinking": [{"type": "text", "text": "Let me see."}]}
    assert collect([*text([thinking], [{"type": "text", "text": "Sev"}], "en."), STOP]).text == "Seven."


@pytest.mark.parametrize("field", ["reasoning_content", "reasoning", "reasoning_text", "reasoning_opaque"])
def test_reasoning_fields_are_neither_text_nor_part_of_the_message(field: str) -> None:
    reply = collect([chunk({"role": "assistant", "content": "", field: "Hm."}), *text("Seven."), STOP])
    assert reply.message == {"role": "assistant", "content": "Seven."}


def test_text_before_and_after_a_call_is_kept_with_it() -> None:
    reply = collect([*text("I look. "), call_chunk("{}", id="a", name="f"), *text("Done."), STOP])
    assert reply.text == "I look. Done."
    assert len(reply.tool_calls) == 1


def test_a_refusal_is_kept() -> None:
    reply = collect([chunk({"refusal": "I will "}), chunk({"refusal": "not."}), STOP])
    assert reply.message == {"role": "assistant", "content": None, "refusal": "I will not."}
    assert reply.text == "I will not."


def test_the_saved_message_is_one_that_a_provider_accepts() -> None:
    reply = collect([call_chunk("{}", id="a", name="f"), chunk(finish="tool_calls")])
    assert set(reply.tool_calls[0]) == {"id", "type", "function"}
    history = [
        {"role": "user", "content": "go"},
        reply.message,
        {"role": "tool", "tool_call_id": "a", "content": ""},
    ]
    assert not problems(history)


# --- the end ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "chunks",
    [
        [*text("Hi"), STOP, {"choices": [], "usage": USAGE}],
        [*text("Hi"), chunk(finish="stop", usage=USAGE)],
        [*text("Hi"), chunk(finish="stop", usage={"total_tokens": 1}), {"choices": [], "usage": USAGE}],
        [chunk({"content": "Hi"}, usage={"total_tokens": 1}), chunk(finish="stop", usage=USAGE)],
        [{"choices": [], "usage": None}, *text("Hi"), STOP, {"choices": None, "usage": USAGE}],
        [*text("Hi"), chunk(finish="stop", usage=USAGE), {"choices": [], "usage": None}],
        [*text("Hi"), {"choices": [{"index": 0, "finish_reason": "stop", "usage": USAGE}]}],
        [*text("Hi"), chunk(finish="stop", usage=USAGE), {"choices": [], "usage": "none"}],
    ],
    ids=[
        *("alone", "inline", "twice", "on every chunk", "beside empty chunks", "null afterwards"),
        *("in the choice", "no object"),
    ],
)  # fmt: skip
def test_usage_is_found_wherever_it_comes(chunks: list[Chunk]) -> None:
    assert collect(chunks) == Reply({"role": "assistant", "content": "Hi"}, "stop", USAGE)


def test_the_first_of_two_finish_reasons_counts() -> None:
    chunks = [
        call_chunk("{}", id="a", name="f"),
        chunk(finish="tool_calls"),
        chunk(finish="stop"),
        chunk({"content": ""}),
    ]
    assert collect(chunks).finish_reason == "tool_calls"


def test_a_cut_counts_wherever_it_is_said() -> None:
    assert settled("tool_calls", "length") == "length"
    assert settled("length", "tool_calls") == "length"
    reply = collect([call_chunk("{}", id="a", name="f"), chunk(finish="tool_calls"), chunk(finish="length")])
    assert not reply.calls_may_run


def test_calls_that_came_with_stop_may_run() -> None:
    assert collect([call_chunk("{}", id="a", name="f"), STOP]).calls_may_run


@pytest.mark.parametrize("reason", ["length", "content_filter"])
@pytest.mark.parametrize("arguments", ['{"path": "/et', '{"path": "/etc"}', ""])
def test_nothing_of_a_reply_that_was_cut_may_run(reason: str, arguments: str) -> None:
    reply = collect([call_chunk(arguments, id="a", name="write_file"), chunk(finish=reason)])
    assert reply.tool_calls
    assert not reply.calls_may_run


def test_a_reply_without_calls_has_nothing_to_run() -> None:
    assert not collect([*text("Hi"), STOP]).calls_may_run


def test_only_the_first_choice_counts() -> None:
    other = {"choices": [{"index": 1, "delta": {"content": "Other"}, "finish_reason": "length"}]}
    assert collect([*text("One"), other, STOP, other]) == Reply(
        {"role": "assistant", "content": "One"}, "stop"
    )


# --- interruptions ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("chunks", [[], text("Hi"), [{"choices": [], "usage": USAGE}], HALF_CALL])
def test_a_stream_without_a_finish_reason_was_interrupted(chunks: list[Chunk]) -> None:
    partial = interrupted(chunks).partial
    assert partial.finish_reason is None
    assert not partial.calls_may_run


@pytest.mark.parametrize(
    "broken",
    [
        {"error": {"message": "Tool call validation failed", "code": "tool_use_failed"}},
        {"error": "Tool call validation failed"},
        {"choices": [{"index": 0, "delta": {}, "error": {"message": "Tool call validation failed."}}]},
        chunk({"content": ""}, "length", error={"code": 502, "message": "Tool call validation failed"}),
        {"object": "error", "message": "Tool call validation failed", "type": "BadRequestError"},
    ],
)  # fmt: skip
def test_an_error_in_the_middle_is_an_interruption_that_says_so(broken: Chunk) -> None:
    error = interrupted([*text("Hi"), broken, STOP])
    assert "Tool call validation failed." in str(error)
    assert error.partial.text == "Hi"


@pytest.mark.parametrize("error", [OSError("connection reset"), ValueError("bad data."), RuntimeError()])
def test_a_line_that_breaks_is_an_interruption_with_the_part_so_far(error: Exception) -> None:
    caught = interrupted(Broken([*text("Hi"), *HALF_CALL], error))
    assert (str(error).rstrip(".") or "RuntimeError") in str(caught)
    assert ".." not in str(caught)
    assert caught.partial.text == "Hi"
    assert caught.partial.tool_calls[0]["function"]["arguments"] == '{"path": "/et'


def test_an_interruption_after_the_finish_reason_is_one_all_the_same() -> None:
    assert interrupted(Broken([*text("Hi"), STOP], OSError("reset"))).partial.finish_reason is None


def test_ctrl_c_gets_out() -> None:
    with pytest.raises(KeyboardInterrupt):
        collect(Broken(text("Hi"), KeyboardInterrupt()))


def test_an_error_of_on_text_is_not_blamed_on_the_stream() -> None:
    with pytest.raises(ZeroDivisionError):
        collect([*text("Hi"), STOP], on_text=lambda piece: 1 // 0)


def test_what_is_no_chunk_is_the_callers_mistake() -> None:
    with pytest.raises(TypeError, match="dict or an SDK object, not str"):
        collect(["data: {}"])


# --- the person at the screen -----------------------------------------------------------------------------


def test_each_piece_of_text_is_shown_before_the_next_chunk_is_read() -> None:
    seen: list[str] = []

    def line() -> Iterator[Chunk]:
        for number, piece in enumerate(["Hel", None, "", "lo"]):
            seen.append(f"chunk {number}")
            yield chunk({"content": piece})
        yield STOP

    collect(line(), on_text=seen.append)
    assert seen == ["chunk 0", "Hel", "chunk 1", "chunk 2", "chunk 3", "lo"]


# --- oddities that the shared cases do not show -----------------------------------------------------------


@pytest.mark.parametrize("blank", ["", " ", "\n", None])
@pytest.mark.parametrize("later_id", ["", None])
def test_a_last_fragment_that_repeats_the_name_and_brings_nothing_begins_no_call(
    blank: str | None, later_id: str | None
) -> None:
    whole = call_chunk('{"x": 1}', id="a", name="f")
    last = chunk(
        {"tool_calls": [{"index": 0, "id": later_id, "function": {"name": "f", "arguments": blank}}]}
    )
    reply = collect([whole, last, chunk(finish="tool_calls")])
    assert [json.loads(call["function"]["arguments"]) for call in reply.tool_calls] == [{"x": 1}]


@pytest.mark.parametrize(
    "chunks", [[*text("half"), chunk(finish="")], [*text("half"), chunk(finish="error")]]
)
def test_an_empty_finish_reason_is_no_end_and_error_is_none_either(chunks: list[Chunk]) -> None:
    assert interrupted(chunks).partial.text == "half"


@pytest.mark.parametrize(
    "reason", ["max_tokens", "model_length", "insufficient_system_resource", "abort", "MAX_TOKENS", "LENGTH"]
)
def test_a_reply_cut_short_in_another_service_s_words_is_not_run_either(reason: str) -> None:
    assert not collect([call_chunk("{}", id="a", name="f"), chunk(finish=reason)]).calls_may_run


def test_nulls_where_chunks_choices_and_fragments_should_be_are_passed_over() -> None:
    fragment = {"index": 0, "id": "a", "function": {"name": "f", "arguments": "{}"}}
    reply = collect([None, {"choices": [None]}, chunk({"tool_calls": [None, fragment]}, "tool_calls")])
    assert [call["id"] for call in reply.tool_calls] == ["a"]


def test_an_id_that_is_a_number_becomes_text() -> None:
    reply = collect([call_chunk("{}", id=7, name="f"), chunk(finish="tool_calls")])
    assert problems([{"role": "user", "content": "go"}, reply.message])[0].rule == "missing-result"
    assert reply.tool_calls[0]["id"] == "7"


def test_a_character_cut_between_two_chunks_is_whole_again() -> None:
    halves = [
        *text("\ud83d", "\ude00"),
        call_chunk('{"s": "\ud83d', id="a", name="f"),
        call_chunk('\ude00"}'),
    ]
    reply = collect([*halves, chunk(finish="tool_calls")])
    assert (reply.text, json.loads(reply.tool_calls[0]["function"]["arguments"])) == ("😀", {"s": "😀"})


def test_objects_that_merely_look_like_the_client_s_are_read() -> None:
    function = SimpleNamespace(name="f", arguments="{}")
    call = SimpleNamespace(index=0, id="a", type="function", function=function)
    delta = SimpleNamespace(role="assistant", content="hi", tool_calls=[call])
    choice = SimpleNamespace(index=0, delta=delta, finish_reason="tool_calls")
    reply = collect([SimpleNamespace(choices=[choice], usage=SimpleNamespace(**USAGE))])
    assert (reply.text, reply.tool_calls[0]["id"], reply.usage) == ("hi", "a", USAGE)


# --- odd forms of the fields ------------------------------------------------------------------------------

CALL = {"index": 0, "id": "a", "function": {"name": "f", "arguments": "{}"}}


@pytest.mark.parametrize("form", [as_dict, as_object])
@pytest.mark.parametrize(
    ("delta", "calls"),
    [
        ({"tool_calls": CALL}, 1),
        ({"tool_calls": ["?", 7, CALL]}, 1),
        ({"tool_calls": [CALL, {"index": 0, "function": "f"}]}, 1),
        ({"tool_calls": "?"}, 0),
        ("?", 0),
    ],
)
def test_fields_of_another_type_than_the_protocol_s_do_no_harm(
    delta: Any, calls: int, form: Callable[[Chunk], Any]
) -> None:
    odd = {"choices": [{"index": 0, "delta": delta, "finish_reason": None}, "?"]}
    reply = collect(list(map(form, [*text("Hi"), odd, STOP])))
    assert (reply.text, len(reply.tool_calls)) == ("Hi", calls)


def test_a_call_in_the_form_that_was_before_tool_calls_is_a_call() -> None:
    pieces = [{"name": "f", "arguments": ""}, {"arguments": '{"x": '}, {"arguments": "1}"}]
    chunks = [chunk({"content": None, "function_call": piece}) for piece in pieces]
    reply = collect([*chunks, chunk({"function_call": None}, "function_call")])
    assert [call["function"] for call in reply.tool_calls] == [{"name": "f", "arguments": '{"x": 1}'}]
    assert reply.calls_may_run


@pytest.mark.parametrize("kind", ["thinking", "reasoning", "reasoning_text"])
def test_thinking_is_no_text_whatever_its_field_is_called(kind: str) -> None:
    assert collect([*text([{"type": kind, "text": "Hm."}], "Seven."), STOP]).text == "Seven."


def test_a_reply_that_comes_whole_inside_a_stream_is_a_reply() -> None:
    whole = {"index": 0, "message": {"role": "assistant", "content": "Hi"}, "finish_reason": "stop"}
    assert collect([{"choices": [whole]}]).text == "Hi"


def test_half_a_character_is_not_shown_before_its_other_half() -> None:
    shown: list[str] = []
    reply = collect([*text("a\ud83d", "\ude00b", "\ud83d", "c"), STOP], on_text=shown.append)
    assert shown == ["a", "😀b", "\ufffdc"]
    assert reply.text == "".join(shown)
    "".join(shown).encode("utf-8")  # a screen could not show it else


# --- not streamed -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("form", [dict, lambda body: ChatCompletion.construct(**body)])
def test_a_reply_that_was_not_streamed_gives_the_same(form: Callable[..., Any]) -> None:
    call = {"id": "a", "type": "function", "function": {"name": "f", "arguments": "{}"}}
    message = {"role": "assistant", "content": None, "tool_calls": [call], "refusal": None}
    body = {"choices": [{"index": 0, "message": message, "finish_reason": "tool_calls"}], "usage": USAGE}

    reply = whole_reply(form(body))

    assert reply.message == {"role": "assistant", "content": None, "tool_calls": [call]}
    assert (reply.finish_reason, reply.usage, reply.calls_may_run) == ("tool_calls", USAGE, True)


@pytest.mark.parametrize("body", [{"error": {"message": "No credits"}, "choices": None}, {"choices": []}])
def test_an_answer_that_holds_no_reply_is_an_error(body: Chunk) -> None:
    with pytest.raises(ModelError, match="holds no reply"):
        whole_reply(body)


@pytest.mark.parametrize("body", ["<html>Welcome</html>", None, []])
def test_an_answer_that_is_no_completion_sends_you_to_the_address(body: Any) -> None:
    with pytest.raises(ModelError, match="OPENAI_BASE_URL"):
        whole_reply(body)


def test_an_old_function_call_is_found_in_a_whole_reply_too() -> None:
    message = {"role": "assistant", "content": None, "function_call": {"name": "f", "arguments": "{}"}}
    reply = whole_reply({"choices": [{"index": 0, "message": message, "finish_reason": "function_call"}]})
    assert reply.tool_calls[0]["function"]["name"] == "f"


# --- in the loop ------------------------------------------------------------------------------------------


class Script:
    """A client whose streams are given."""

    def __init__(self, *streams: Any) -> None:
        self.chat = self.completions = self
        self.streams = list(streams)

    def create(self, **request: Any) -> Any:
        return Line(self.streams.pop(0))


class Line:
    """A stream as the client gives it: to be read, and closed."""

    def __init__(self, chunks: Any) -> None:
        self.chunks, self.closed = chunks, False

    def __iter__(self) -> Iterator[Chunk]:
        return iter(self.chunks)

    def __enter__(self) -> Line:
        return self

    def __exit__(self, *error: Any) -> None:
        self.closed = True


def ran(path: str) -> str:
    """Note that it ran."""
    raise AssertionError("this call must not run")


@pytest.mark.parametrize("error", [OSError("reset"), KeyboardInterrupt()])
@pytest.mark.parametrize("before", [text("I will"), HALF_CALL])
def test_after_a_break_or_ctrl_c_the_history_is_fit_to_send(
    error: BaseException, before: list[Chunk]
) -> None:
    agent = Agent(Script(Broken(before, error), [*text("Here."), STOP]), "m", stream=True)  # type: ignore[arg-type]  # a double

    with pytest.raises((StreamInterrupted, KeyboardInterrupt)):
        agent.run("go")

    assert agent.messages == [{"role": "user", "content": "go"}]
    assert not problems(agent.messages)
    assert agent.run("again") == "Here."


def test_half_a_call_is_answered_but_never_run() -> None:
    half = [call_chunk('{"path": "/et', id="a", name="ran"), chunk(finish="length")]
    agent = Agent(Script(half, [*text("Sorry."), STOP]), "m", [ran], stream=True)  # type: ignore[arg-type]  # a double

    assert agent.run("go") == "Sorry."
    assert "not run" in agent.messages[2]["content"]
    assert not problems(agent.messages)


# --- what it costs ----------------------------------------------------------------------------------------


def work(run: Callable[[], Any]) -> Counter[str]:
    """How many functions were called in a run, by name; those written in C too."""
    counted: Counter[str] = Counter()

    def note(frame: Any, event: str, argument: Any) -> None:
        if event == "call":
            counted[frame.f_code.co_name] += 1
        elif event == "c_call":
            counted[argument.__name__] += 1

    sys.setprofile(note)
    try:
        run()
    finally:
        sys.setprofile(None)
    return counted


LONG = {
    "text": lambda n: text(*["word "] * n),
    "arguments": lambda n: [call_chunk('{"text": "', id="a", name="f"), *[call_chunk("word ")] * n],
    "arguments, the name repeated": lambda n: [
        call_chunk("{", name="f"),
        *[call_chunk("word ", name="f")] * n,
    ],
    "arguments, the id repeated": lambda n: [call_chunk("}", id="a", name="f")] * n,
}


@pytest.mark.parametrize("kind", LONG)
def test_twice_the_chunks_are_twice_the_work_and_are_joined_as_rarely(kind: str) -> None:
    once = work(lambda: collect([*LONG[kind](500), STOP]))
    twice = work(lambda: collect([*LONG[kind](1000), STOP]))
    assert sum(twice.values()) <= 2 * sum(once.values())
    assert twice["join"] == once["join"]


def test_pieces_are_collected_not_added_to_a_string() -> None:
    growing = growing_message()
    for piece in ("a", "b"):
        merge_delta(
            growing, {"content": piece, "tool_calls": [{"index": 0, "function": {"arguments": piece}}]}
        )
    assert growing["content"] == ["a", "b"]
    assert growing["calls"][0]["arguments"] == ["a", "b"]


def test_plain_chunks_reads_no_further_than_it_is_asked() -> None:
    line = iter([*text("a", "b"), STOP])
    next(plain_chunks(line))
    assert next(line)["choices"][0]["delta"] == {"content": "b"}

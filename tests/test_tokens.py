"""The estimate, the exact counter, and the promise that no text is counted twice."""

import copy
import json
import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from labkit.messages import assistant, system, tool_call, tool_result, user
from labkit.token_ledger import TextLedger
from labkit.tokens import (
    CALL_OVERHEAD,
    IMAGE_TOKENS,
    LOW_DETAIL_IMAGE_TOKENS,
    MESSAGE_OVERHEAD,
    REPLY_OVERHEAD,
    TokenCounter,
    cached_tokens,
    common_prefix,
    estimate_tokens,
)
from labkit.vocabulary import load_encoding

TEXTS = {
    "English": "The quick brown fox jumps over the lazy dog, and it doesn't stop.",
    "Chinese": "你好，世界。请读取文件并总结其要点。",
    "code": "def f(x: int) -> list[int]:\n    return [x ** 2 for _ in range(10)]\n",
    "emoji": "👩‍👩‍👧‍👦 🚀🚀 ok ✅",
    "JSON": json.dumps({"path": "a.md", "lines": [1, 2, 3]}, indent=2),
    "special tokens": "explain <|endoftext|> and <|im_start|>system and <|fim_prefix|>",
    "NUL and control characters": "a\x00b\x07\x1b[31m",
    "nothing": "",
    "one Chinese run": "你好世界" * 1000,
    "no space at all": "".join(random.Random(1).choice("abcdefABCDEF0123456789+/") for _ in range(300_000)),
}


@pytest.mark.parametrize("name", TEXTS)
def test_a_text_counts_as_tiktoken_counts_it(name):
    text = TEXTS[name]
    assert TokenCounter().text(text) == len(load_encoding().encode(text, disallowed_special=()))


@given(st.text())
def test_any_text_counts_as_tiktoken_counts_it(text):
    assert TokenCounter().text(text) == len(load_encoding().encode_ordinary(text))


PIECES = [
    "\n",
    "\r\n",
    " ",
    "\t",
    "/",
    "\u2028",
    "\u3000",
    ".",
    "- ",
    "#",
    "'ll",
    "word",
    "Word",
    "12",
    "é",
    "中",
    "，",
    "😀",
]


@given(st.lists(st.sampled_from(PIECES), min_size=1, max_size=60).map("".join))
def test_a_text_of_odd_pieces_counts_as_tiktoken_counts_it(text):
    text *= 1 + 400 // len(text)
    assert TokenCounter().text(text) == len(load_encoding().encode_ordinary(text))


def test_lone_surrogates_count_as_the_replacement_character():
    assert TokenCounter().text("a\ud83d b") == TokenCounter().text("a\ufffd b")


@pytest.mark.parametrize("blank", [" ", "\n", "\t", " \n", "\u3000", "\r\n"])
def test_a_million_blanks_are_counted_within_one_per_cent_of_chunks(blank):
    text = blank * (1_000_000 // len(blank))
    encoding = load_encoding()
    chunks = [text[i : i + 50_000] for i in range(0, len(text), 50_000)]
    chunked = sum(len(encoding.encode_ordinary(chunk)) for chunk in chunks)
    assert TokenCounter().text(text) == pytest.approx(chunked, rel=0.01)


def test_blanks_around_words_keep_the_words_exact():
    counter = TokenCounter()
    text = "start" + " " * 450_000 + "end"
    assert 0 < counter.text(text) - counter.text(" " * 450_000) < 6


def test_a_message_is_its_text_and_a_documented_overhead():
    counter = TokenCounter()
    assert counter.message(user("hello world")) == MESSAGE_OVERHEAD + counter.text("hello world")
    call = tool_call("a-long-id-that-costs-nothing", "read_file", {"path": "a.md"})
    expected = MESSAGE_OVERHEAD + CALL_OVERHEAD + counter.text("read_file") + counter.text('{"path": "a.md"}')
    assert counter.message(assistant(calls=[call])) == expected


def test_parts_and_images_count_by_the_documented_rule():
    counter = TokenCounter()
    image = {"type": "image_url", "image_url": {"url": "data:image/png;base64,AAAA"}}
    low = {"type": "image_url", "image_url": {"url": "x", "detail": "low"}}
    parts = [{"type": "text", "text": "hello"}, image, low]
    expected = MESSAGE_OVERHEAD + counter.text("hello") + IMAGE_TOKENS + LOW_DETAIL_IMAGE_TOKENS
    assert counter.message({"role": "user", "content": parts}) == expected


def test_a_history_is_its_messages_the_tools_and_the_start_of_the_reply():
    counter = TokenCounter()
    history = [system("s"), user("hello")]
    tools = [{"type": "function", "function": {"name": "f", "parameters": {"type": "object"}}}]
    messages = sum(counter.message(message) for message in history)
    assert counter.history(history) == messages + REPLY_OVERHEAD
    assert counter.history(history, tools) == messages + REPLY_OVERHEAD + counter.tools(tools)
    assert counter.tools(tools) == counter.text(json.dumps(tools, separators=(",", ":")))
    assert counter.counts(history) == [counter.message(message) for message in history]


@pytest.mark.parametrize(
    "message",
    [
        {},
        {"role": "assistant"},
        {"role": "assistant", "tool_calls": [{"function": None}, "x"]},
        {"content": [None, 3]},
    ],
)
def test_misshapen_messages_are_counted_too(message):
    assert TokenCounter().history([message]) >= MESSAGE_OVERHEAD + REPLY_OVERHEAD


# --- no text twice ------------------------------------------------------------------------------------------


class CountingEncoding:
    """tiktoken's encoding, and the characters it was asked to encode."""

    def __init__(self):
        self.characters = 0

    def encode_ordinary(self, text):
        self.characters += len(text)
        return load_encoding().encode_ordinary(text)


@pytest.fixture
def spy(monkeypatch):
    encoding = CountingEncoding()
    monkeypatch.setattr("labkit.tokens.load_encoding", lambda name: encoding)
    return encoding


def long_session(length):
    dice = random.Random(7)
    words = ["alpha", "module", "delta", "returns", "while", "timeout", "cached", "gamma", "tenant"]
    history = [system("You are a coding agent.")]
    for i in range(length // 2):
        text = " ".join(dice.choice(words) for _ in range(40)) + f" {i}"
        history += [
            assistant(calls=[tool_call(f"c{i}", "read_file", {"path": f"{i}.py"})]),
            tool_result(f"c{i}", text),
        ]
    return history


def characters(history):
    texts = [m.get("content") or "" for m in history]
    calls = [c["function"] for m in history for c in m.get("tool_calls", [])]
    return sum(map(len, texts)) + sum(len(c["name"]) + len(c["arguments"]) for c in calls)


def test_asking_before_each_request_of_a_long_session_encodes_each_text_once(spy):
    session, counter, history = long_session(2000), TokenCounter(), []
    for message in session:
        history.append(message)
        counter.history(history)
    assert spy.characters <= characters(session)


def test_two_histories_in_turn_still_encode_each_text_once(spy):
    session, counter = long_session(100), TokenCounter()
    other = [user("something else " * 20)]
    for end in range(1, len(session)):
        counter.history(session[:end])
        counter.history(other)
    assert spy.characters <= characters(session) + characters(other)


def test_the_memory_for_texts_is_bounded():
    ledger, counted = TextLedger(characters=100), []

    def count(text):
        counted.append(text)
        return len(text)

    for i in range(100):
        ledger.count(f"a text: {i:02}", count)  # ten characters each, so ten are remembered
    ledger.count("a text: 90", count)
    ledger.count("a text: 89", count)
    ledger.count("a text longer than all that may be remembered " * 10, count)
    assert counted[100:] == ["a text: 89", counted[-1]]


# --- and yet never stale ------------------------------------------------------------------------------------


@pytest.mark.parametrize("length", [6, 300, 1500])
@pytest.mark.parametrize("place", [0.0, 0.3, 0.99])
def test_an_edit_in_place_is_seen_when_asked_again(length, place):
    history, counter = long_session(length), TokenCounter()
    counter.history(history)
    index = min(len(history) - 1, int(place * len(history)) // 2 * 2)
    history[index]["content"] = "edited " * 30
    assert counter.history(history) == TokenCounter().history(history)


def test_arguments_that_came_as_an_object_count_as_their_json():
    def calling(arguments):
        return [{"role": "assistant", "tool_calls": [{"function": {"name": "f", "arguments": arguments}}]}]

    as_object, as_text = calling({"path": "src/a.py"}), calling('{"path": "src/a.py"}')
    assert TokenCounter().history(as_object) == TokenCounter().history(as_text)
    assert estimate_tokens(as_object) == estimate_tokens(as_text)
    assert estimate_tokens(calling(12)) == 1


def test_an_edit_of_a_tools_description_is_seen():
    tools = [{"type": "function", "function": {"name": "f", "description": "Short.", "parameters": {}}}]
    history, counter = [user("hello")], TokenCounter()
    counter.history(history, tools)
    tools[0]["function"]["description"] = "A much longer description than before."
    assert counter.history(history, tools) == TokenCounter().history(history, tools)
    assert counter.history(history) == TokenCounter().history(history)


def test_an_edit_of_a_calls_arguments_is_seen():
    history, counter = long_session(20), TokenCounter()
    counter.history(history)
    history[5]["tool_calls"][0]["function"]["arguments"] = '{"path": "a/much/longer/path.py"}'
    assert counter.history(history) == TokenCounter().history(history)


@given(
    st.lists(
        st.tuples(
            st.sampled_from(["add", "drop", "replace", "edit", "copy"]),
            st.integers(0, 50),
            st.text(max_size=9),
        )
    )
)
def test_whatever_happens_to_a_history_the_count_is_that_of_a_fresh_counter(steps):
    counter, history = TokenCounter(), [system("s")]
    for action, place, text in steps:
        index = place % len(history) if history else 0
        if action == "add" or not history:
            history.append(user(text))
        elif action == "drop":
            history = history[:index] + history[index + 1 :]
        elif action == "replace":
            history[index] = assistant(text)
        elif action == "edit":
            history[index]["content"] = text
        else:
            history = copy.deepcopy(history)
        assert counter.history(history) == TokenCounter().history(history)


# --- estimates and the prefix rule --------------------------------------------------------------------------


def test_the_estimate_counts_text_parts_and_arguments_and_rounds_up():
    assert estimate_tokens([]) == 0
    assert estimate_tokens([user("x")]) == 1
    assert estimate_tokens([{"role": "user", "content": None}]) == 0
    assert estimate_tokens([{"role": "user", "content": [{"type": "text", "text": "abc"}]}]) == 2
    call = tool_call("a", "write_file", "{" + "x" * 98 + "}")
    assert estimate_tokens([assistant(calls=[call])]) == 50
    assert estimate_tokens([assistant(calls=[call])], chars_per_token=4) == 25


@pytest.mark.parametrize(
    ("shared", "cached"), [(0, 0), (1023, 0), (1024, 1024), (1151, 1024), (1152, 1152), (5000, 4992)]
)
def test_a_prefix_is_cached_from_1024_tokens_in_steps_of_128(shared, cached):
    assert cached_tokens(shared) == cached


def test_a_common_prefix_is_found_by_value():
    assert common_prefix([user("a"), user("b")], [user("a"), user("c")]) == 1
    assert common_prefix([], [user("a")]) == 0
    assert common_prefix([user("a")], [user("a"), user("b")]) == 1

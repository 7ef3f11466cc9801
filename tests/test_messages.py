"""The rules of a history: what a provider rejects, what is mended on the way out, where it may be cut."""

import copy

import pytest
from hypothesis import given
from hypothesis import strategies as st
from openai.types.chat import ChatCompletionMessageFunctionToolCall

from labkit.messages import (
    INTERRUPTED,
    as_written,
    assistant,
    exchanges,
    legal_cuts,
    normalise,
    problems,
    system,
    tool_call,
    tool_result,
    user,
)

CALL_A = tool_call("a", "read_file", {"path": "a.md"})
CALL_B = tool_call("b", "read_file", {"path": "b.md"})


def rules(messages):
    return [(problem.index, problem.rule) for problem in problems(messages)]


def test_a_sound_history_has_no_problems_and_comes_back_equal_in_a_new_list():
    history = [
        system("s"),
        user("go"),
        assistant("I look.", [CALL_A, CALL_B]),
        tool_result("b", "second first"),
        tool_result("a", "one"),
        assistant("done"),
    ]
    assert problems(history) == []
    assert normalise(history) == history
    assert normalise(history) is not history


ONE_BROKEN_RULE = {
    "an empty history": ([], (0, "empty-history")),
    "something that is no message": ([user("a"), "hello"], (1, "not-a-message")),
    "an unknown role": ([{"role": "human", "content": "a"}], (0, "unknown-role")),
    "a user message with null content": ([{"role": "user", "content": None}], (0, "missing-content")),
    "a tool result with null content": (
        [user("a"), assistant(calls=[CALL_A]), {"role": "tool", "tool_call_id": "a", "content": None}],
        (2, "missing-content"),
    ),
    "an assistant message that says nothing": ([user("a"), assistant(None)], (1, "missing-content")),
    "content that is neither text nor parts": ([{"role": "user", "content": 7}], (0, "bad-content")),
    "an empty list of parts": ([{"role": "user", "content": []}], (0, "bad-content")),
    "a part without a known type": ([{"role": "user", "content": [{"type": "smell"}]}], (0, "bad-content")),
    "a text part without text": ([{"role": "user", "content": [{"type": "text"}]}], (0, "bad-content")),
    "an empty list of tool calls": (
        [user("a"), {"role": "assistant", "content": "b", "tool_calls": []}],
        (1, "empty-tool-calls"),
    ),
    "a call without an id": (
        [user("a"), assistant(calls=[{"type": "function", "function": {"name": "f", "arguments": "{}"}}])],
        (1, "call-without-id"),
    ),
    "a call without a name": (
        [user("a"), assistant(calls=[tool_call("a", "", {})]), tool_result("a", "1")],
        (1, "call-without-name"),
    ),
    "a call without a type": (
        [user("a"), assistant(calls=[{**CALL_A, "type": None}]), tool_result("a", "1")],
        (1, "call-without-type"),
    ),
    "a call that is no dict": (
        [user("a"), assistant(calls=["f()", CALL_A]), tool_result("a", "1")],
        (1, "not-a-call"),
    ),
    "a call whose id is no text": (
        [user("a"), assistant(calls=[{**CALL_A, "id": {}}])],
        (1, "call-without-id"),
    ),
    "a result whose id is a number": (
        [user("a"), assistant(calls=[tool_call("7", "f", {})]), tool_result(7, "1")],
        (2, "result-without-id"),
    ),
    "a result without an id": (
        [user("a"), assistant(calls=[tool_call("None", "f", {})]), {"role": "tool", "content": "1"}],
        (2, "result-without-call"),
    ),
    "calls made by a tool": (
        [user("a"), assistant(calls=[CALL_A]), tool_result("a", "1") | {"tool_calls": [CALL_B]}],
        (2, "misplaced-calls"),
    ),
    "an image part without an image": (
        [{"role": "user", "content": [{"type": "image_url"}]}],
        (0, "bad-content"),
    ),
    "arguments that are not JSON": (
        [user("a"), assistant(calls=[tool_call("a", "f", "{path: 1}")]), tool_result("a", "1")],
        (1, "bad-arguments"),
    ),
    "arguments that are JSON but no object": (
        [user("a"), assistant(calls=[tool_call("a", "f", "[1]")]), tool_result("a", "1")],
        (1, "bad-arguments"),
    ),
    "arguments nested too deep to read": (
        [user("a"), assistant(calls=[tool_call("a", "f", "[" * 100_000)]), tool_result("a", "1")],
        (1, "bad-arguments"),
    ),
    "two calls with one id": (
        [user("a"), assistant(calls=[CALL_A, CALL_A]), tool_result("a", "1"), tool_result("a", "2")],
        (1, "duplicate-id"),
    ),
    "a result without a call": ([user("a"), tool_result("x", "1")], (1, "result-without-call")),
    "a second result for a call": (
        [user("a"), assistant(calls=[CALL_A]), tool_result("a", "1"), tool_result("a", "2")],
        (3, "repeated-result"),
    ),
    "a result away from its call": (
        [user("a"), assistant(calls=[CALL_A]), user("and?"), tool_result("a", "1")],
        (3, "misplaced-result"),
    ),
    "a call without its result": ([user("a"), assistant(calls=[CALL_A]), user("b")], (1, "missing-result")),
    "a call still open at the end": ([user("a"), assistant(calls=[CALL_A])], (1, "missing-result")),
    "calls made by the user": (
        [{"role": "user", "content": "a", "tool_calls": [CALL_A]}],
        (0, "misplaced-calls"),
    ),
}


@pytest.mark.parametrize("name", ONE_BROKEN_RULE)
def test_a_broken_rule_is_named_with_its_place(name):
    history, expected = ONE_BROKEN_RULE[name]
    assert expected in rules(history)


@pytest.mark.parametrize("name", [name for name in ONE_BROKEN_RULE if name != "an empty history"])
def test_what_is_sent_is_always_acceptable(name):
    history, _ = ONE_BROKEN_RULE[name]
    before = copy.deepcopy(history)
    sent = normalise(history)
    assert problems(sent) == []
    assert history == before
    assert normalise(sent) == sent


def test_a_problem_names_the_call_in_words():
    found = problems([user("a"), assistant(calls=[CALL_A, CALL_B]), tool_result("b", "1"), user("go on")])
    assert [str(problem) for problem in found] == [
        "message 1: tool call a has no result before the next message"
    ]


def test_an_id_may_be_used_again_in_a_later_round():
    history = [
        user("a"),
        assistant(calls=[CALL_A]),
        tool_result("a", "1"),
        assistant(calls=[CALL_A]),
        tool_result("a", "2"),
    ]
    assert problems(history) == []
    assert [exchange.results for exchange in exchanges(history)] == [(2,), (4,)]


def test_the_sdks_own_calls_in_a_dict_are_named_and_become_dicts_with_their_results_kept():
    call = ChatCompletionMessageFunctionToolCall.model_validate(CALL_A)
    history = [
        user("a"),
        {"role": "assistant", "content": None, "tool_calls": (call,)},
        tool_result("a", "1"),
    ]
    assert normalise(history) == [user("a"), assistant(calls=[CALL_A]), tool_result("a", "1")]
    history[1]["tool_calls"] = [call]
    assert "normalise() makes one of it" in problems(history)[0].text
    assert normalise(history) == [user("a"), assistant(calls=[CALL_A]), tool_result("a", "1")]


@pytest.mark.timeout(10)
def test_many_calls_with_one_id_are_soon_told_apart():
    sent = normalise([user("a"), assistant(calls=[CALL_A] * 20_000)])
    assert len({call["id"] for call in sent[1]["tool_calls"]}) == 20_000 and problems(sent) == []


def test_an_interrupted_call_gets_the_same_result_every_time():
    history = [user("a"), assistant(calls=[CALL_A, CALL_B]), tool_result("b", "1"), user("go on")]
    assert normalise(history)[3] == tool_result("a", INTERRUPTED)
    assert normalise(history) == normalise(copy.deepcopy(history))


def test_a_result_away_from_its_call_moves_next_to_it_and_the_interjection_stays():
    history = [user("a"), assistant(calls=[CALL_A]), user("and the linter"), tool_result("a", "1")]
    assert normalise(history) == [history[0], history[1], history[3], history[2]]


def test_arguments_that_are_not_json_are_kept_inside_a_json_object_and_can_be_had_back():
    sent = normalise([user("a"), assistant(calls=[tool_call("a", "f", '{"path": "/et')])])
    call = sent[1]["tool_calls"][0]
    assert call["function"]["arguments"] == '{"invalid_json": "{\\"path\\": \\"/et"}'
    assert as_written(call)["function"]["arguments"] == '{"path": "/et'


@pytest.mark.parametrize("nothing", [None, "", "  "])
def test_missing_arguments_become_an_empty_object(nothing):
    call = {"id": "a", "type": "function", "function": {"name": "f", "arguments": nothing}}
    sent = normalise([user("a"), assistant(calls=[call]), tool_result("a", "1")])
    assert sent[1]["tool_calls"][0]["function"]["arguments"] == "{}"


# --- cuts ---------------------------------------------------------------------------------------------------


def test_no_cut_falls_between_a_call_and_the_results_of_parallel_calls():
    history = [
        system("s"),
        user("go"),
        assistant(calls=[CALL_A, CALL_B]),
        tool_result("a", "1"),
        tool_result("b", "2"),
        user("next"),
    ]
    assert legal_cuts(history) == [1, 2, 5, 6]


def test_no_cut_falls_inside_the_leading_system_part():
    assert legal_cuts([system("s"), {"role": "developer", "content": "d"}, user("a")]) == [2, 3]


def test_no_cut_comes_after_a_call_that_still_waits():
    history = [user("a"), assistant(calls=[CALL_A, CALL_B]), tool_result("a", "1")]
    assert legal_cuts(history) == [0, 1]


def test_a_call_that_was_never_answered_blocks_no_later_cut():
    history = [user("a"), assistant(calls=[CALL_A]), user("go on"), assistant("yes"), user("b")]
    assert legal_cuts(history) == [0, 1, 2, 3, 4, 5]


def test_no_cut_parts_a_call_from_a_result_behind_an_interjection():
    history = [user("a"), assistant(calls=[CALL_A]), user("and?"), tool_result("a", "1"), assistant("b")]
    assert legal_cuts(history) == [0, 1, 4, 5]


def test_a_tail_never_begins_with_an_orphan_result():
    assert legal_cuts([user("a"), tool_result("x", "1"), user("b")]) == [0, 2, 3]


ids = st.sampled_from(["a", "b", "c"])
any_message = st.one_of(
    st.builds(user, st.text(max_size=3)),
    st.builds(system, st.text(max_size=3)),
    st.builds(tool_result, ids, st.text(max_size=3)),
    st.builds(
        assistant,
        st.one_of(st.none(), st.text(max_size=3)),
        st.lists(
            st.builds(tool_call, ids, st.sampled_from(["f", ""]), st.sampled_from(["{}", "{", "1"])),
            max_size=3,
        ),
    ),
    st.dictionaries(
        st.sampled_from(["role", "content", "tool_calls", "name"]), st.one_of(st.none(), ids), max_size=3
    ),
)
histories = st.lists(any_message, max_size=12)


@given(histories)
def test_whatever_comes_in_what_is_sent_is_acceptable_and_settled(history):
    before = copy.deepcopy(history)
    sent = normalise(history)
    assert history == before
    assert problems(sent) == [] or not sent
    assert normalise(sent) == sent
    if history and not problems(history):
        assert sent == history


@given(histories)
def test_every_legal_cut_leaves_whole_exchanges_on_both_sides(history):
    whole = exchanges(history)
    for cut in legal_cuts(history):
        for exchange in whole:
            members = [exchange.index, *(found for found in exchange.results if found is not None)]
            assert all(i < cut for i in members) or all(i >= cut for i in members)
            assert not (exchange.open and exchange.index < cut)
        assert cut == len(history) or history[cut].get("role") != "tool"


@given(histories)
def test_every_index_between_whole_exchanges_is_a_legal_cut(history):
    """The other direction: nothing is forbidden without a reason."""
    cuts = legal_cuts(history)
    if history and not problems(history):
        for index in range(len(history) + 1):
            both_sound = all(not part or not problems(part) for part in (history[:index], history[index:]))
            leading = index > 0 and all(m["role"] in ("system", "developer") for m in history[:index])
            inside_system = (
                index < len(history) and leading and history[index]["role"] in ("system", "developer")
            )
            at_start = index == 0 and history[0]["role"] in ("system", "developer")
            assert (index in cuts) == (both_sound and not inside_system and not at_start)

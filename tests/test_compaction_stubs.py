"""Tier 1: old tool results become stubs, by the rules."""

import copy

import pytest

from labkit.compaction import ToolStubs
from labkit.compaction.tool_stubs import STUB, described, stub_old_results
from labkit.messages import assistant, problems, tool_call, tool_result, user


def session(*lengths, ids=None):
    """A history of one call a round, with results of these lengths, all of them read."""
    history = [user("go")]
    for number, length in enumerate(lengths):
        call_id = ids[number] if ids else f"c{number}"
        call = tool_call(call_id, "read_file", {"path": f"src/m{number}.py"})
        history += [assistant(calls=[call]), tool_result(call_id, "x" * length)]
    return [*history, assistant("read")]


def stubbed(before, after):
    return [number for number, (a, b) in enumerate(zip(before, after, strict=True)) if a != b]


def test_all_but_the_three_newest_long_results_are_stubbed():
    history = session(500, 500, 500, 500, 500)
    before = copy.deepcopy(history)
    result = stub_old_results(history)
    assert stubbed(history, result) == [2, 4]
    assert result[2] == tool_result("c0", STUB)
    assert history == before
    assert problems(result) == []


def test_long_means_more_than_a_hundred_characters():
    history = session(100, 101, 500, 500, 500)
    assert stubbed(history, stub_old_results(history)) == [4]


def test_short_results_do_not_count_among_the_newest():
    history = session(500, 500, 500, 500, 3, 3, 3)
    assert stubbed(history, stub_old_results(history)) == [2]


def test_a_stub_is_not_stubbed_and_nothing_grows():
    history = session(500, 8, 500)
    once = stub_old_results(history, keep_recent=0, min_chars=5)
    assert stubbed(history, once) == [2, 6]
    assert stub_old_results(once, keep_recent=0, min_chars=5) == once


def test_what_the_model_has_not_read_stays():
    history = session(500, 500)[:-1]
    assert stubbed(history, stub_old_results(history, keep_recent=0)) == [2]


def test_lists_of_parts_are_measured_by_their_text():
    history = session(500, 500)
    history[2]["content"] = [{"type": "text", "text": "y" * 300}]
    assert stub_old_results(history, keep_recent=1)[2]["content"] == STUB


def test_the_class_does_what_the_function_does():
    for lengths in (500,) * 6, (90, 500, 110, 4, 800, 300, 101):
        history = session(*lengths)
        assert ToolStubs()(history).messages == stub_old_results(history)


def test_a_stub_that_names_its_call_says_how_to_get_the_result_back():
    history = session(500, 500, 500, 500)
    result = ToolStubs(describe=True)(history)
    expected = '[compressed: read_file("src/m0.py"). Call it again to see the result.]'
    assert result.messages[2] == tool_result("c0", expected)
    assert ToolStubs(describe=True)(result.messages).messages == result.messages


@pytest.mark.parametrize(
    "arguments", ["{}", "not json", '{"path": "' + "deep/" * 60 + '"}', '["\\ud83d"]', "{" * 3000]
)
def test_a_stub_never_has_more_than_a_hundred_characters(arguments):
    text = described(tool_call("a", "a_tool_with_quite_a_long_name\nin_two_lines", arguments))
    assert len(text) <= 100
    assert text.startswith("[compressed: a_tool_with")
    text.encode("utf-8")


def test_ids_that_come_again_name_the_nearest_call():
    history = session(500, 500, 500, 500, 500, ids=["a", "a", "b", "b", "b"])
    result = ToolStubs(describe=True)(history).messages
    assert "m0.py" in result[2]["content"]
    assert "m1.py" in result[4]["content"]


def test_the_figures_are_characters_by_four():
    result = ToolStubs()(session(400, 400, 400, 400))
    assert result.tokens_before - result.tokens_after == (400 - len(STUB)) / 4
    assert "1 old tool results" not in result.reason


def test_batches_come_rarely_even_when_many_results_grow_old_at_once():
    stubs = ToolStubs(keep_recent=1, batch_tokens=50)
    history, rewritten = [user("go")], []
    for number in range(24):
        ids = [f"c{number}_{k}" for k in range(1 + 4 * (number % 3 == 0))]
        calls = [tool_call(i, "read_file", {"path": i}) for i in ids]
        history = [*history, assistant(calls=calls), *(tool_result(i, "x" * 600) for i in ids)]
        result = stubs(history)
        rewritten.append(result.changed)
        history = result.messages
    assert sum(rewritten) >= 3
    assert all(sum(rewritten[start : start + 4]) <= 1 for start in range(len(rewritten)))


def test_a_result_that_only_begins_like_a_stub_does_not_count_as_one():
    history = session(200, 200, 200, 200)
    for number in range(3):
        calls = [tool_call(f"z{number}", "list", {})]
        history += [assistant(calls=calls), tool_result(f"z{number}", "[compressed archive] 3 files")]
    history.append(assistant("done"))
    assert ToolStubs()(history).messages == stub_old_results(history)


def test_arguments_that_are_no_text_are_named_as_json():
    call = tool_call("a", "read_file", "") | {
        "function": {"name": "read_file", "arguments": {"path": "a.py"}}
    }
    assert described(call) == '[compressed: read_file("a.py"). Call it again to see the result.]'

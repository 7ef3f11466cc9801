"""Lab 3's functions and the count-based compactor made of them."""

import copy

import pytest
from summarisers import STATE, Raising, Scripted, rate_limit

from labkit.compaction import CountCompactor
from labkit.compaction.count import compact_if_needed, rebuild, split_history
from labkit.compaction.earlier import ACKNOWLEDGEMENT, COUNT_HEADING
from labkit.messages import assistant, problems, system, tool_call, tool_result, user

HEAD = system("You are a coding agent.")


def chat(turns, first=0):
    """Whole turns, each a question and an answer."""
    history = []
    for number in range(first, first + turns):
        history += [user(f"question {number}"), assistant(f"answer {number}")]
    return history


@pytest.mark.parametrize(
    ("messages", "keep_last", "old", "recent"),
    [
        ([HEAD, *chat(3)], 2, chat(2), chat(1, first=2)),
        (chat(3), 2, chat(2), chat(1, first=2)),
        ([HEAD, *chat(2)], 0, chat(2), []),
        ([HEAD, *chat(1)], 6, [], chat(1)),
        ([HEAD], 6, [], []),
        ([], 6, [], []),
    ],
)
def test_a_split_puts_every_message_into_exactly_one_part(messages, keep_last, old, recent):
    before = copy.deepcopy(messages)
    head, *others = split_history(messages, keep_last)
    assert head == [message for message in messages if message is HEAD]
    assert others == [old, recent]
    assert messages == before


def test_every_leading_system_message_belongs_to_the_system_part():
    assert split_history([HEAD, system("Be brief."), *chat(1)], 1)[0] == [HEAD, system("Be brief.")]


def test_the_summary_is_a_user_message_that_the_assistant_acknowledges():
    recent = chat(1)
    result = rebuild([HEAD], "the state", recent)
    assert result == [HEAD, user(f"{COUNT_HEADING}\n\nthe state"), assistant(ACKNOWLEDGEMENT), *recent]
    assert recent == chat(1)


def test_there_is_no_acknowledgement_where_the_assistant_speaks_next():
    roles = [message["role"] for message in rebuild([HEAD], "the state", [assistant("so"), user("go on")])]
    assert roles == ["system", "user", "assistant", "user"]


def test_twenty_one_messages_become_nine():
    """Source system A's published numbers, with its defaults."""
    history = [HEAD, *chat(10)]
    assert len(history) == 21
    for result in compact_if_needed(history, Scripted()), CountCompactor(summarise=Scripted())(history):
        assert len(result.messages) == 9
        assert result.messages[3:] == history[-6:]
        assert result.messages[1]["content"] == f"{COUNT_HEADING}\n\n{STATE}"
        assert result.tokens_after < result.tokens_before


def test_twenty_messages_stay_as_they_are():
    summarise = Scripted()
    history = chat(10)
    result = compact_if_needed(history, summarise)
    assert result.messages == history
    assert result.messages is not history
    assert not result.changed and not summarise.asked


def test_after_a_compaction_the_next_one_waits_until_there_are_too_many_again():
    summarise = Scripted()
    compactor, history = CountCompactor(summarise=summarise), [HEAD, *chat(9)]
    lengths = []
    for number in range(12):
        history = compactor([*history, *chat(1, first=20 + number)]).messages
        lengths.append(len(history))
    assert lengths == [9, 11, 13, 15, 17, 19, 9, 11, 13, 15, 17, 19]
    assert len(summarise.asked) == 2


def test_a_failed_summary_is_reported_and_leaves_all_as_it_was():
    history = [HEAD, *chat(12)]
    result = compact_if_needed(history, Raising(rate_limit()))
    assert result.messages == history
    assert result.failed
    assert "RateLimitError" in result.reason


def exchange(count=3):
    ids = [f"c{number}" for number in range(count)]
    calls = assistant(calls=[tool_call(i, "read_file", {"path": f"{i}.py"}) for i in ids])
    return [calls, *(tool_result(i, "x = 1\n" * 40) for i in ids)]


def test_the_plain_slice_can_part_a_call_from_its_result_and_the_compactor_never_does():
    history = [HEAD, *chat(10), user("read them"), *exchange(6)]
    assert problems(history) == []
    assert problems(compact_if_needed(history, Scripted(), keep_last=3).messages)
    result = CountCompactor(keep_last=3, summarise=Scripted())(history)
    assert result.changed
    assert problems(result.messages) == []
    assert result.messages[-7:] == history[-7:]


@pytest.mark.parametrize("settings", [{"threshold": 4}, {"threshold": 8}, {"threshold": 0, "keep_last": 0}])
def test_settings_that_leave_it_above_the_threshold_do_not_make_it_ask_again_and_again(settings):
    summarise = Scripted()
    compactor, history = CountCompactor(**settings, summarise=summarise), [HEAD, *chat(12)]
    for _ in range(5):
        history = compactor(history).messages
    assert len(summarise.asked) == 1


def test_where_nothing_can_be_gained_no_summary_is_asked_for():
    summarise = Scripted()
    result = CountCompactor(threshold=2, keep_last=2, summarise=summarise)([HEAD, user("a"), *chat(1)])
    assert not result.changed and not result.failed and not summarise.asked
    assert "nothing new to summarise" in result.reason


def test_compacting_at_once_hands_the_users_focus_to_the_summariser():
    summarise = Scripted()
    result = CountCompactor(summarise=summarise).now([HEAD, *chat(9)], focus="the port numbers")
    assert result.changed
    assert "kept above all: the port numbers" in summarise.prompts[0]


def test_kept_messages_may_lack_a_role():
    history = [user("a " * 900), assistant("b " * 900), {"content": "c"}, assistant("d")]
    result = CountCompactor(threshold=2, keep_last=2, summarise=Scripted())(history)
    assert result.messages[2:] == history[2:] or result.messages[1]["content"] == ACKNOWLEDGEMENT

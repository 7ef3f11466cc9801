"""What holds for every compactor and every chain of them, on any history at all."""

import atexit
import copy
import shutil
import tempfile
from dataclasses import replace
from itertools import pairwise
from pathlib import Path

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from strategies import histories, mark_of, marks_in, texts
from summarisers import STATE, Narrow, Raising, Rubbish, Scripted, Vandal, rate_limit

from labkit.compaction import (
    CountCompactor,
    FullCompactor,
    LedgerCompactor,
    SafeCutCompactor,
    ToolStubs,
    chain,
    extractive_summary,
    read_snapshot,
    write_snapshot,
)
from labkit.compaction.base import half_of_characters, quarter_of_characters
from labkit.compaction.summary import COUNT_SECTIONS, FULL_SECTIONS, SAFE_CUT_SECTIONS, summary_request
from labkit.messages import (
    assistant,
    legal_cuts,
    normalise,
    problems,
    system,
    system_length,
    tool_call,
    tool_result,
    user,
)
from labkit.tokens import estimate_tokens, shared_counter

# In memory where the system has such a folder: thousands of snapshots, each one flushed to its disk.
FOLDER = Path(tempfile.mkdtemp(prefix="labkit-", dir="/dev/shm" if Path("/dev/shm").is_dir() else None))
atexit.register(shutil.rmtree, FOLDER, ignore_errors=True)

pytestmark = pytest.mark.timeout(600)  # 2,000 examples of each in CI, perhaps on a busy machine


def exact(messages):
    return shared_counter().history(messages)


small, limits = st.integers(0, 6), st.sampled_from([0, 1, 30, 90, 200, 500, 2000])
optional = st.none() | limits

counts = st.builds(CountCompactor, threshold=st.integers(0, 14), keep_last=st.integers(0, 9))
safe_cuts = st.builds(
    SafeCutCompactor,
    limit=limits,
    keep_recent=small,
    keep_tokens=optional,
    count=st.sampled_from([None, None, exact]),
    keep_user_words=st.booleans(),
    strict=st.booleans(),
)
ledgers = st.builds(LedgerCompactor, limit=limits, budget=optional, keep_recent=small)
fulls = st.builds(FullCompactor, limit=limits, folder=st.just(FOLDER / ".memory"))
stubs = st.builds(
    ToolStubs,
    keep_recent=small,
    min_chars=st.sampled_from([0, 5, 50, 100, 100]),
    batch_tokens=st.sampled_from([0, 0, 1, 40, 300]),
    describe=st.booleans(),
)
folding = st.one_of(counts, safe_cuts, ledgers, fulls)
eager = st.one_of(  # they find something to summarise in nearly every history
    st.builds(CountCompactor, threshold=st.just(0), keep_last=st.integers(0, 2)),
    st.builds(
        SafeCutCompactor, limit=st.just(1), keep_recent=st.integers(0, 2), keep_user_words=st.booleans()
    ),
    st.builds(LedgerCompactor, limit=st.just(1), keep_recent=st.integers(0, 2)),
    st.builds(FullCompactor, limit=st.just(1), folder=st.just(FOLDER / ".memory")),
)
summarisers = st.builds(Scripted, st.sampled_from([STATE, STATE, "短", "x" * 300, "a summary " * 200]))


@st.composite
def compactors(draw):
    """One of each kind, or a chain of up to three; all with one summariser."""
    summarise = draw(summarisers)
    made = draw(st.lists(st.one_of(folding, folding, stubs), min_size=1, max_size=3))
    made = [one if isinstance(one, ToolStubs) else replace(one, summarise=summarise) for one in made]
    return made[0] if len(made) == 1 else chain(*made)


def keeps_at_least(compactor):
    """How many of the newest messages a compactor promises to keep."""
    return getattr(compactor, "keep_last", getattr(compactor, "keep_recent", 0))


@given(histories(), compactors())
def test_every_compactor_keeps_the_rules(history, compactor):
    before = copy.deepcopy(history)
    result = compactor(history)
    assert history == before
    assert result.messages is not history
    assert result.reason
    start = system_length(history)
    assert result.messages[:start] == history[:start]
    assert not normalise(history) or problems(normalise(result.messages)) == []
    assert exact(result.messages) <= exact(history)
    assert result.tokens_after <= result.tokens_before
    if not result.changed:
        assert result.messages == history
    again = compactor(result.messages)
    assert not again.changed or result.failed
    if not result.failed:
        assert again.messages == result.messages


@given(histories(), folding)
def test_each_message_is_either_kept_or_summarised_and_the_newest_are_kept(history, compactor):
    summarise = Scripted()
    result = replace(compactor, summarise=summarise)(history)
    kept = [message for message in history if any(message is other for other in result.messages)]
    newest = history[max(system_length(history), len(history) - keeps_at_least(compactor)) :]
    assert [id(message) for message in kept[len(kept) - len(newest) :]] == [id(message) for message in newest]
    assert [m for m in result.messages if any(m is other for other in history)] == kept
    if result.changed:
        cut = len(history) - (len(kept) - system_length(history))
        assert cut in legal_cuts(history)
        shown = marks_in(summarise.prompts[-1])
        assert shown == {mark_of(message) for message in history[system_length(history) : cut]}
    else:
        assert len(kept) == len(history)


@given(histories(min_pieces=3, max_pieces=6), histories(min_pieces=3, max_pieces=5), eager)
def test_what_was_summarised_before_is_handed_over_as_a_summary_and_never_again_as_messages(
    old, new, compactor
):
    first_summariser, second_summariser = Scripted("- first: SUMMARY ONE"), Scripted("- second: SUMMARY TWO")
    first = replace(compactor, summarise=first_summariser)(old)
    assume(first.changed)
    new = [message for message in new if message["role"] != "system"]
    grown = [*first.messages, *new]
    second = replace(compactor, summarise=second_summariser)(grown)
    assume(second.changed)
    prompt = second_summariser.prompts[-1]
    assert "- first: SUMMARY ONE" in prompt
    assert "SUMMARY ONE" not in "".join(str(message) for message in second.messages)
    kept = [message for message in grown if any(message is other for other in second.messages)]
    folded = [m for m in grown if any(m is o for o in (*old, *new)) and not any(m is k for k in kept)]
    shown = prompt[prompt.index("<history") : prompt.index("Bring it up to date")]
    assert marks_in(shown) == {mark_of(message) for message in folded}
    headed = [m for m in second.messages if m["role"] == "user" and "SUMMARY TWO" in str(m["content"])]
    assert len(headed) == 1


faults = st.sampled_from(
    [
        lambda: Scripted(""),
        lambda: Scripted(" \n\t "),
        lambda: Scripted("<analysis>the user wants</analysis>\n"),
        lambda: Scripted("<analysis>never closed"),
        lambda: Scripted("half", finish_reason="length"),
        lambda: Scripted("filtered", finish_reason="content_filter"),
        lambda: Scripted("nobody says that this is whole", finish_reason=None),
        lambda: Scripted("I'm sorry, but I can't help with that."),
        lambda: Scripted("抱歉，我无法总结。"),
        lambda: Scripted(STATE, refusal="I will not"),
        lambda: Scripted(STATE, tool_calls=[tool_call("t", "read_file", {})]),
        lambda: Scripted("far too long " * 40_000),
        lambda: Raising(rate_limit()),
        lambda: Raising(ValueError("what?")),
        lambda: Raising(TimeoutError()),
        lambda: Narrow(10),
        lambda: Rubbish(None),
        lambda: Rubbish("just a text"),
        lambda: Rubbish(object()),
        lambda: Rubbish([{"role": "assistant", "content": STATE}]),
    ]
)


@given(histories(min_pieces=2), folding, faults)
def test_a_faulty_summariser_loses_nothing(history, compactor, fault):
    before, summarise = copy.deepcopy(history), fault()
    result = replace(compactor, summarise=summarise)(history)
    assert result.messages == history == before
    assert not result.changed
    assert result.failed == bool(summarise.asked)
    assert len(summarise.asked) <= 5


@given(histories(), folding)
def test_a_summariser_cannot_change_the_history_it_is_shown(history, compactor):
    before = copy.deepcopy(history)
    result = replace(compactor, summarise=Vandal())(history)
    assert history == before
    start = system_length(history)
    assert result.messages[:start] == history[:start]
    assert STATE in str(result.messages[start]["content"]) if result.changed else result.messages == history


@given(histories(max_pieces=14), stubs)
def test_stubs_stay_the_same_bytes_while_the_history_grows(history, compactor):
    seen, kept, asked = {}, [], []
    rewritten = []
    for end in range(len(history) + 1):
        fresh = compactor(history[:end]).messages
        stubbed = {
            index: fresh[index]["content"]
            for index in range(end)
            if fresh[index].get("content") != history[index].get("content")
        }
        assert seen.items() <= stubbed.items()
        for index, text in stubbed.items():
            original = history[index]
            assert original["role"] == "tool"
            assert fresh[index]["tool_call_id"] == original["tool_call_id"]
            assert len(text) <= len(str(original["content"]))
            assert any(message["role"] == "assistant" for message in history[index + 1 : end])
        step = compactor([*kept, *history[len(kept) : end]])
        kept = step.messages
        assert kept == fresh
        if step.changed:
            rewritten.append(sum(message["role"] == "assistant" for message in history[:end]))
        seen = stubbed
        asked.append(end)
    if compactor.batch_tokens:
        requests = sorted(set(rewritten))
        assert all(later - earlier >= 4 for earlier, later in pairwise(requests))


@given(histories())
def test_a_snapshot_reads_back_equal(history):
    path = write_snapshot(history, FOLDER / "snapshots")
    assert read_snapshot(path) == history
    assert len(path.read_text(encoding="utf-8").split("\n")) == len(history) + 1
    path.unlink()


@given(histories(), texts, st.sampled_from([COUNT_SECTIONS, SAFE_CUT_SECTIONS, FULL_SECTIONS]))
def test_nothing_in_a_history_can_break_out_of_the_request(history, previous, instructions):
    request = summary_request(history, instructions, previous)
    assert [message["role"] for message in request] == ["system", "user"]
    prompt = request[1]["content"]
    prompt.encode("utf-8")
    lines = prompt.split("\n")
    opening = next(index for index, line in enumerate(lines) if line.startswith("<history"))
    closing = lines.index(lines[opening].replace("<", "</"))
    headings = ("user:", "assistant:", "system:", "assistant calls ", "result of ")
    for line in lines[opening + 1 : closing]:
        assert line == "" or line.startswith(("> ", *headings))
    assert sum(line == lines[closing] for line in lines) == 1


@given(histories(), st.sampled_from([COUNT_SECTIONS, SAFE_CUT_SECTIONS, FULL_SECTIONS]), st.integers(1, 600))
def test_a_summary_by_rules_fits_is_finished_and_always_the_same(history, instructions, max_tokens):
    request = summary_request(history, instructions)
    reply = extractive_summary(request, max_tokens)
    assert reply.finish_reason == "stop"
    assert shared_counter().text(reply.text) <= max_tokens
    assert extractive_summary(copy.deepcopy(request), max_tokens) == reply
    reply.text.encode("utf-8")


@given(st.lists(st.integers(0, 30), min_size=1, max_size=12, unique=True), st.integers(1, 4))
def test_repeated_compaction_by_rules_loses_no_path(numbers, each):
    paths = [f"src/module_{number}.py" for number in numbers]
    compactor = CountCompactor(threshold=2, keep_last=2)
    history = [system("You are a coding agent."), user("Read them all; never edit tests/.")]
    for start in range(0, len(paths), each):
        for path in paths[start : start + each]:
            call = assistant(calls=[tool_call(path, "read_file", {"path": path})])
            history += [call, tool_result(path, "value = other(value)\n" * 60)]
        history = [*compactor([*history, assistant("read"), user("go on")]).messages, assistant("on it")]
    text = "".join(str(message) for message in compactor([*history, user("a"), assistant("b")]).messages)
    assert all(path in text for path in paths)
    assert "never edit tests/" in text


@given(histories(), st.integers(0, 3))
def test_the_quick_estimates_are_those_of_estimate_tokens_also_for_a_history_that_changed(history, cut):
    for messages in (history, history[cut:], history):
        assert half_of_characters(messages) == estimate_tokens(messages)
        assert quarter_of_characters(messages) == estimate_tokens(messages, chars_per_token=4)

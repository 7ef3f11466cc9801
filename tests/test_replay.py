"""Replay: what each request of a recording would have sent, by a slow and plain reckoning beside it."""

from __future__ import annotations

import copy
import json
import tempfile
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from odd_histories import odd_histories, session

from labkit.compaction.base import Compaction
from labkit.connect import connect
from labkit.errors import SetupError
from labkit.loop import Agent
from labkit.messages import (
    Message,
    assistant,
    calls_of,
    normalise,
    problems,
    system,
    tool_call,
    tool_result,
    user,
)
from labkit.playground import playground_tools
from labkit.replay import replay
from labkit.rereads import ReRead, re_reads
from labkit.sessions import RECORDED, recorded
from labkit.tokens import TokenCounter, cached_tokens, common_prefix, shared_counter
from labkit.tools import Toolbox, tool

COUNTER = shared_counter()
SCHEMA = {"type": "function", "function": {"name": "f", "description": "does " * 400, "parameters": {}}}


def unchanged(messages: list[Message]) -> Compaction:
    return Compaction(list(messages), False, "nothing to do", 1, 1)


def fold(messages: list[Message]) -> Compaction:
    """All but the system message and the last exchange or message behind a summary, above 2,000 tokens."""
    tokens = COUNTER.history(messages)
    if tokens < 2000:
        return Compaction(list(messages), False, "small enough", tokens, tokens)
    cut = max(place for place, message in enumerate(messages) if message["role"] != "tool")
    shorter = [messages[0], user("[Earlier in this task] Files were read."), *messages[cut:]]
    return Compaction(shorter, True, "folded", tokens, COUNTER.history(shorter))


def stub(messages: list[Message]) -> Compaction:
    """All results but the last three say that they are gone."""
    old = [place for place, message in enumerate(messages) if message["role"] == "tool"][:-3]
    stubbed = [
        {**message, "content": "[compressed]"} if place in old and len(message["content"]) > 100 else message
        for place, message in enumerate(messages)
    ]
    return Compaction(stubbed, stubbed != messages, "stubbed", 2, 1)


def swap(messages: list[Message]) -> Compaction:
    """A wrong policy that leaves the length as it was: the last result becomes a word of the user's."""
    swapped = [user("gone") if message["role"] == "tool" else message for message in messages]
    return Compaction(swapped, swapped != messages, "swapped", 2, 1)


def break_apart(messages: list[Message]) -> Compaction:
    """The fragile slice of lab 3: it may cut a call from its result."""
    return Compaction([messages[0], *messages[-4:]], len(messages) > 5, "sliced", 2, 1)


Policy = dict[str, Callable[[list[Message]], Compaction]]
POLICIES: dict[str, Policy] = {
    "none": {},
    "unchanged": {"before_request": unchanged, "after_tools": unchanged},
    "fold": {"before_request": fold},
    "stub": {"after_tools": stub},
    "both": {"after_tools": stub, "after_input": fold},
    "broken": {"after_turn": break_apart},
    "swapped": {"after_tools": swap},
}
every_policy = pytest.mark.parametrize("policy", POLICIES.values(), ids=POLICIES)


def plainly(history: list[Message], policy: Policy) -> list[tuple[list[Message], Compaction | None]]:
    """What was sent and what struck before it, the slow way: the agent's rules, one after the other."""
    kept: list[Message] = []
    struck: list[Compaction] = []
    requests = []

    def run(name: str) -> None:
        result = policy[name](list(kept)) if name in policy else None
        if result and result.changed:
            kept[:] = result.messages
            struck.append(result)

    for place, message in enumerate(history):
        before = history[place - 1]["role"] if place else ""
        if before == "tool" and message["role"] != "tool":
            run("after_tools")
        if message["role"] == "assistant":
            run("before_request")
            requests.append((normalise(kept), struck[-1] if struck else None))
            struck.clear()
        kept.append(message)
        if message["role"] == "user":
            run("after_input")
        if message["role"] == "assistant" and not calls_of(message):
            run("after_tools")
            run("after_turn")
    return requests


# --- against the plain reckoning --------------------------------------------------------------------------


@every_policy
def test_each_request_sends_what_the_policy_left_and_no_more(policy):
    history = session(60)
    wanted = plainly(history, policy)
    trace = replay(history, **policy)
    assert [request.messages for request in trace.requests] == [sent for sent, _ in wanted]
    assert [bool(request.compaction) for request in trace.requests] == [bool(struck) for _, struck in wanted]


@every_policy
def test_running_totals_equal_a_fresh_count_of_each_request(policy):
    fresh = TokenCounter()
    for request in replay(session(60), **policy, tools=[SCHEMA]).requests:
        assert request.tokens == fresh.history(request.messages, [SCHEMA])
        roles = dict(request.by_role)
        assert roles.pop("tools") == fresh.tools([SCHEMA])
        assert roles == {
            role: sum(fresh.message(message) for message in request.messages if message["role"] == role)
            for role in {message["role"] for message in request.messages}
        }


@every_policy
def test_cached_is_the_prefix_that_the_request_before_had_too(policy):
    requests = replay(session(60), **policy, tools=[SCHEMA]).requests
    tools = COUNTER.tools([SCHEMA])
    assert requests[0].cached_tokens == 0
    for before, request in pairwise(requests):
        shared = request.messages[: common_prefix(before.messages, request.messages)]
        assert request.cached_tokens == cached_tokens(tools + sum(map(COUNTER.message, shared)))


def test_every_assistant_message_of_the_recording_is_a_request():
    history = session(100)
    trace = replay(history)
    places = [place for place, message in enumerate(history) if message["role"] == "assistant"]
    assert [len(request.messages) for request in trace.requests] == places
    assert [request.output_tokens for request in trace.requests] == [
        COUNTER.message(history[p]) for p in places
    ]


# --- when the hooks run -----------------------------------------------------------------------------------


def test_hooks_run_where_the_agent_runs_them():
    seen: list[tuple[str, int]] = []

    def hook(name: str) -> Callable[[list[Message]], Compaction]:
        def run(messages: list[Message]) -> Compaction:
            seen.append((name, len(messages)))
            return unchanged(messages)

        return run

    calls = [tool_call("a", "f", {}), tool_call("b", "f", {})]
    history = [
        system("s"),
        user("go"),
        assistant(calls=calls),
        tool_result("a", "1"),
        tool_result("b", "2"),
        assistant("ok"),
    ]
    replay(
        history,
        **{name: hook(name) for name in ("before_request", "after_tools", "after_input", "after_turn")},
    )
    assert seen == [
        ("after_input", 2),
        ("before_request", 2),
        ("after_tools", 5),
        ("before_request", 5),
        ("after_tools", 6),
        ("after_turn", 6),
    ]


def test_a_replay_without_policy_is_what_the_agent_really_sent():
    client, model = connect()
    tools = playground_tools()
    agent = Agent(client, model, tools=tools, system="You are a coding agent.")
    agent.run("Read hello.txt and notes.md and tell me what they say.")
    agent.run("Count the lines of notes.md.")
    trace = replay(agent.messages, tools=tools)
    assert [request.tokens for request in trace.requests] == [
        request.tokens for request in agent.trace.requests
    ]
    assert [r.cached_tokens for r in trace.requests] == [r.cached_tokens for r in agent.trace.requests]


def test_a_replayed_policy_is_what_an_agent_with_that_policy_sent():
    client, model = connect()
    free, bound = (
        Agent(client, model, tools=playground_tools(), system="You are a coding agent.", after_tools=hook)
        for hook in (None, stub)
    )
    for agent in (free, bound):
        agent.run("Read logbook/day-01.md, logbook/day-02.md and hello.txt and tell me what they say.")
        agent.run("Count the lines of notes.md.")
    trace = replay(free.messages, after_tools=stub, tools=playground_tools())
    assert [request.tokens for request in trace.requests] == [
        request.tokens for request in bound.trace.requests
    ]


def test_a_toolbox_counts_like_its_schemas():
    @tool
    def look(path: str) -> str:
        """Look at a file."""
        return path

    box = Toolbox([look])
    history = [user("hi"), assistant("hello")]
    assert replay(history, tools=box).requests[0].tokens == COUNTER.history(history[:1], box.schemas)


# --- odd recordings and odd policies ----------------------------------------------------------------------


@given(odd_histories, st.sampled_from(list(POLICIES)))
def test_whatever_was_recorded_what_is_sent_would_be_accepted(history, name):
    before = copy.deepcopy(history)
    sound = normalise(history)
    policy = POLICIES[name] if sound and sound[0]["role"] == "system" else {}
    trace = replay(history, **policy)
    for request in trace.requests:
        assert not request.messages or not problems(request.messages)
    assert history == before


def test_a_broken_recording_is_mended_first_and_the_replay_says_so():
    trace = replay([user("go"), tool_result("lost", "x"), assistant("done")])
    assert [request.messages for request in trace.requests] == [[user("go")]]
    assert trace.notes[0].startswith("The recording was normalised first: 1 problem")
    assert trace.notes[0] in str(trace) and trace.notes[0] in trace._repr_html_()


def test_a_policy_that_fails_or_cannot_get_small_enough_is_noted_and_the_replay_goes_on():
    def failing(messages: list[Message]) -> Compaction:
        return Compaction(list(messages), False, "the summary was empty", 9, 9, failed=True, over_limit=3)

    trace = replay(session(30), before_request=failing)
    count = len(trace.requests)
    assert trace.notes == [
        f"Compaction failed {count} times: the summary was empty",
        f"Compaction could not get under the limit {count} times: the summary was empty",
    ]


def test_an_empty_recording_makes_no_requests():
    assert replay([]).requests == []


def test_what_is_left_at_the_end_is_there_to_see():
    history = session(40)
    trace = replay(history, after_turn=fold)
    assert trace.messages[-1] == history[-1]
    assert len(trace.messages) < len(history)


# --- files read again -------------------------------------------------------------------------------------


def reading(call_id: str, path: str, text: str = "text of the file " * 30) -> list[Message]:
    return [assistant(calls=[tool_call(call_id, "read_file", {"path": path})]), tool_result(call_id, text)]


def test_without_compaction_no_file_is_lost():
    history = [
        user("go"),
        *reading("1", "a.py"),
        *reading("2", "a.py"),
        assistant("done"),
        user("bye"),
        assistant("bye"),
    ]
    assert replay(history).re_reads == 0


def test_a_file_whose_text_is_gone_is_read_again():
    history = [system("s"), user("go"), *reading("1", "a.py"), *reading("2", "b.py"), *reading("3", "c.py")]
    history += [*reading("4", "d.py"), *reading("5", "./a.py"), *reading("6", "d.py"), assistant("done")]
    trace = replay(history, after_tools=stub)
    assert re_reads(trace) == [ReRead(request=5, path="a.py")]


def test_a_call_that_changes_a_file_from_memory_counts_too():
    history = [
        system("s"),
        user("go"),
        *reading("1", "a.py"),
        *[m for k in "234" for m in reading(k, f"{k}.py")],
    ]
    edit = assistant(calls=[tool_call("5", "edit_file", {"path": "a.py", "old": "x", "new": "y"})])
    history += [edit, tool_result("5", "done"), assistant("done")]
    assert re_reads(replay(history, after_tools=stub)) == [ReRead(5, "a.py")]
    assert re_reads(replay(history)) == []


def test_a_read_that_brought_the_text_back_makes_it_present_again():
    history = [
        system("s"),
        user("go"),
        *reading("1", "a.py"),
        *[m for k in "234" for m in reading(k, f"{k}.py")],
    ]
    history += [*reading("5", "a.py"), *reading("6", "a.py"), assistant("done")]
    assert len(re_reads(replay(history, after_tools=stub))) == 1


# --- the sessions that ship -------------------------------------------------------------------------------


@pytest.mark.parametrize(("name", "length"), RECORDED.items())
def test_a_shipped_session_is_whole_and_as_long_as_it_says(name, length):
    history = recorded(name)
    assert len(history) == length
    assert not problems(history)
    assert history[0]["role"] == "system" and history[-1]["role"] == "assistant"


def test_a_shipped_session_is_a_new_list_each_time():
    recorded("small").clear()
    assert recorded("small")[0] is not recorded("small")[0]


@pytest.mark.parametrize("name", RECORDED)
def test_a_shipped_session_names_nobodys_folders(name):
    said = json.dumps(recorded(name))
    folders = ("/home/", "/root/", "/Users/", "C:\\\\", tempfile.gettempdir(), str(Path.cwd()))
    assert not [folder for folder in folders if folder in said]


def test_sessions_grow_from_a_few_thousand_tokens_to_more_than_a_window():
    small, medium, large = (replay(recorded(name)).peak for name in RECORDED)
    assert small < 6_000 < medium < 30_000 < large


def test_another_session_is_refused_with_the_names_there_are():
    with pytest.raises(SetupError, match="small, medium, large"):
        recorded("huge")

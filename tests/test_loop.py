"""The loop and the agent: against scripted replies, and against the understudy over HTTP."""

import threading

import pytest

from labkit.compaction import Compaction
from labkit.connect import connect, understudy
from labkit.errors import CompactionError, ContextLimitError, ModelError, StreamInterrupted
from labkit.loop import Agent, run_turn
from labkit.messages import INTERRUPTED, assistant, normalise, problems, system, tool_call, tool_result, user
from labkit.streaming import Reply
from labkit.tools import Toolbox, run_tool_call


def scripted(*replies):
    """An `ask` that gives these replies in turn, and notes what it was asked."""
    waiting, asked = list(replies), []

    def ask(messages):
        asked.append(list(messages))
        return waiting.pop(0)

    ask.asked = asked
    return ask


def says(text):
    return Reply(assistant(text), "stop")


def calls(*ids, text=None, finish_reason="tool_calls", name="echo", arguments='{"text": "x"}'):
    return Reply(assistant(text, [tool_call(i, name, arguments) for i in ids]), finish_reason)


def echo(text: str) -> str:
    """Give the text back."""
    return text


TOOLS = Toolbox([echo])


def run_call(call):
    return run_tool_call(call, TOOLS)


# --- run_turn -----------------------------------------------------------------------------------------------


def test_an_answer_without_calls_ends_the_turn_after_one_request():
    history, ask = [user("hi")], scripted(says("hello"))
    assert run_turn(history, ask, run_call) == "hello"
    assert history == [user("hi"), assistant("hello")]


def test_every_call_of_a_reply_is_run_in_order_after_the_reply_itself():
    history, ask = [user("hi")], scripted(calls("a", "b", text="I look."), says("done"))
    run_turn(history, ask, run_call)
    assert history[1]["content"] == "I look."
    assert history[2:4] == [tool_result("a", "x"), tool_result("b", "x")]
    assert len(ask.asked[1]) == 4


@pytest.mark.parametrize("limit", [1, 2, 5])
def test_the_limit_ends_a_turn_with_a_clear_word_and_no_call_unanswered(limit):
    history, ask = [user("hi")], scripted(*(calls(f"c{i}") for i in range(limit)))
    answer = run_turn(history, ask, run_call, max_turns=limit)
    assert f"Stopped after {limit} requests" in answer
    assert len(ask.asked) == limit
    assert history[-1] == assistant(answer)
    assert problems(history) == []


@pytest.mark.parametrize("reason", ["length", "content_filter"])
def test_calls_of_a_reply_that_was_cut_short_are_not_run(reason):
    ran = []
    history = [user("hi")]
    ask = scripted(calls("a", finish_reason=reason, arguments='{"text": "/et'), says("again"))
    run_turn(history, ask, lambda call: ran.append(call) or tool_result(call["id"], "ran"))
    assert ran == []
    assert "not run" in history[2]["content"]


# --- the agent over HTTP ----------------------------------------------------------------------------------


@pytest.fixture
def client_and_model():
    yield connect()
    understudy().faults.clear()


def use(name, **arguments):
    import json

    return f"use {name} with {json.dumps(arguments)}"


@pytest.mark.parametrize("stream", [False, True])
def test_a_turn_with_a_tool_over_http(client_and_model, stream):
    events = []
    agent = Agent(*client_and_model, tools=[echo], system="Be brief.", stream=stream, on_event=events.append)
    answer = agent.run(use("echo", text="the tide is out"))
    assert "the tide is out" in answer
    assert [message["role"] for message in agent.messages] == [
        "system",
        "user",
        "assistant",
        "tool",
        "assistant",
    ]
    assert problems(agent.messages) == []
    kinds = [event.kind for event in events if event.kind != "text"]
    assert kinds == ["request", "recorded", "reply", "tool_result", "request", "recorded", "reply"]
    if stream:
        streamed, whole = ([e.text for e in events if e.kind == kind] for kind in ("text", "reply"))
        assert "".join(streamed) == "".join(whole)


def test_the_trace_holds_what_each_request_sent(client_and_model):
    agent = Agent(*client_and_model, tools=[echo])
    agent.run(use("echo", text="one"))
    agent.run(use("echo", text="two"))
    sizes = [len(request.messages) for request in agent.trace.requests]
    assert sizes == [1, 3, 5, 7]
    for request in agent.trace.requests:
        assert request.tokens == sum(request.by_role.values()) + 3
    assert agent.trace.sent == sum(request.tokens for request in agent.trace.requests)
    assert "4 requests" in str(agent.trace)


def test_what_is_sent_is_mended_and_the_kept_history_is_not_rewritten(client_and_model):
    agent = Agent(*client_and_model)
    odd = [user("a"), tool_result("nobody-asked", "x"), assistant("b")]
    agent.messages = list(odd)
    agent.run("who are you?")
    assert agent.messages[:3] == odd
    assert problems(agent.trace.requests[0].messages) == []


@pytest.mark.parametrize("stream", [False, True])
def test_arguments_that_are_not_json_become_a_result_that_says_so(client_and_model, stream):
    understudy().faults.add("bad-arguments")
    agent = Agent(*client_and_model, tools=[echo], stream=stream)
    agent.run(use("echo", text="hello"))
    assert "not JSON" in agent.messages[2]["content"]
    assert problems(agent.messages) == []


@pytest.mark.parametrize("stream", [False, True])
def test_half_a_surrogate_pair_in_the_history_does_not_stop_the_agent(client_and_model, stream):
    agent = Agent(*client_and_model, stream=stream)
    agent.run("half a character: \ud83d")
    assert "understudy" in agent.run("who are you?")
    assert "\ud83d" in agent.messages[0]["content"]
    assert "half a character: ?" in agent.trace.requests[-1].messages[0]["content"]


def test_a_message_object_of_the_sdk_is_named_and_normalise_makes_a_dict_of_it(client_and_model):
    client, model = client_and_model
    completion = client.chat.completions.create(model=model, messages=[user("who are you?")])
    history = [user("who are you?"), completion.choices[0].message]
    assert [problem.rule for problem in problems(history)] == ["not-a-message"]
    assert "normalise()" in str(problems(history)[0])
    assert normalise(history)[1] == assistant(completion.choices[0].message.content)


@pytest.mark.parametrize("form", [list, iter, lambda chunks: (chunk for chunk in chunks)])
def test_a_client_may_stream_any_iterable(form):
    class Client:
        def create(self, **request):
            return form([{"choices": [{"index": 0, "delta": {"content": "hi"}, "finish_reason": "stop"}]}])

    client = Client()
    client.chat = client.completions = client
    assert Agent(client, "scripted", stream=True).run("hello") == "hi"


def test_a_model_that_never_stops_is_stopped(client_and_model):
    understudy().faults.add("endless", times=5)
    agent = Agent(*client_and_model, tools=[echo], max_turns=5)
    assert "Stopped after 5 requests" in agent.run(use("echo", text="hello"))
    assert problems(agent.messages) == []


@pytest.mark.parametrize(("fault", "words"), [("401", "key"), ("429", "patience"), ("500", "failed")])
def test_a_refusal_is_one_paragraph_and_the_history_stays_fit_to_send(client_and_model, fault, words):
    agent = Agent(*client_and_model, tools=[echo])
    understudy().faults.add(fault)
    with pytest.raises(ModelError, match=words):
        agent.run("hello")
    assert agent.messages == [user("hello")]
    agent.run("hello again")
    assert problems(agent.messages) == []


@pytest.mark.parametrize("fault", ["cut", "unfinished", "error"])
def test_a_stream_that_breaks_off_runs_nothing_and_leaves_a_sound_history(client_and_model, fault):
    agent = Agent(*client_and_model, tools=[echo], stream=True)
    understudy().faults.add(fault)
    with pytest.raises(StreamInterrupted):
        agent.run(use("echo", text="hello"))
    assert agent.messages == [user(use("echo", text="hello"))]
    assert "hello" in agent.run(use("echo", text="hello"))


@pytest.mark.parametrize("place", [0, 1])
def test_ctrl_c_in_a_tool_leaves_a_history_that_says_what_was_interrupted(client_and_model, place):
    done = []

    def work(text: str) -> str:
        """Work."""
        if len(done) == place:
            raise KeyboardInterrupt
        done.append(text)
        return "worked"

    agent = Agent(*client_and_model, tools=[work])
    for _ in range(place):
        agent.run(use("work", text="a"))
    with pytest.raises(KeyboardInterrupt):
        agent.run(use("work", text="b"))
    assert agent.messages[-1]["content"] == INTERRUPTED
    assert problems(agent.messages) == []


# --- hooks --------------------------------------------------------------------------------------------------


def keep(messages, **fields):
    return Compaction(list(messages), False, "nothing to do", 10, 10, **fields)


def test_hooks_run_where_their_names_say(client_and_model):
    seen = []

    def at(name):
        def hook(messages):
            seen.append((name, messages[-1]["role"]))
            return keep(messages)

        return hook

    names = ["before_request", "after_tools", "after_input", "after_turn"]
    agent = Agent(*client_and_model, tools=[echo], **{name: at(name) for name in names})
    agent.run(use("echo", text="x"))
    assert seen == [
        ("after_input", "user"),
        ("before_request", "user"),
        ("after_tools", "tool"),
        ("before_request", "tool"),
        ("after_tools", "assistant"),
        ("after_turn", "assistant"),
    ]


def test_a_compaction_replaces_the_history_and_the_loop_goes_on(client_and_model):
    def forget(messages):
        return Compaction([messages[0], messages[-1]], True, "forgot the middle", 10, 5)

    agent = Agent(*client_and_model, system="s", after_turn=forget)
    same_list = agent.messages
    agent.run("one")
    agent.run("two")
    assert same_list is agent.messages
    assert [message["role"] for message in agent.messages] == ["system", "assistant"]
    assert agent.trace.requests[1].compaction.reason == "forgot the middle"


def test_a_hook_cannot_empty_the_conversation_by_clearing_what_it_was_given(client_and_model):
    def clears(messages):
        messages.clear()
        return keep(messages)

    agent = Agent(*client_and_model, after_turn=clears)
    agent.run("one")
    assert len(agent.messages) == 2


def test_three_failures_in_a_row_are_said_clearly_and_then_it_may_try_again(client_and_model):
    agent = Agent(*client_and_model, before_request=lambda messages: keep(messages, failed=True))
    agent.run("one")
    agent.run("two")
    with pytest.raises(CompactionError, match="3 times in a row"):
        agent.run("three")
    assert problems(agent.messages) == []
    assert agent.run("four")


def test_a_history_that_cannot_be_made_small_enough_is_not_sent(client_and_model):
    agent = Agent(*client_and_model, before_request=lambda messages: keep(messages, over_limit=5))
    with pytest.raises(ContextLimitError):
        agent.run("one")
    assert len(agent.trace) == 0


def test_no_agent_leaves_a_thread_behind(client_and_model):
    agent = Agent(*client_and_model, tools=[echo], stream=True)
    agent.run("hello")
    before = threading.active_count()
    for _ in range(5):
        agent.run("hello")
    assert threading.active_count() <= before


def test_a_turn_needs_at_least_one_request():
    with pytest.raises(ValueError, match="at least 1"):
        Agent(None, "m", max_turns=0)


def test_the_system_text_is_the_first_message():
    assert Agent(None, "m", system="Be brief.").messages == [system("Be brief.")]

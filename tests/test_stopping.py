"""Stopping a turn from another thread: at once, wherever it is, and with a history that is fit to send."""

from __future__ import annotations

import socket
import threading
from collections.abc import Callable
from contextlib import suppress

import pytest
from openai import OpenAI

from labkit.command import run
from labkit.compaction import SafeCutCompactor, model_summariser
from labkit.connect import connect, understudy
from labkit.errors import TurnStopped
from labkit.loop import Agent, Event
from labkit.messages import INTERRUPTED, assistant, problems, user
from labkit.playground import fresh_playground, playground_tools
from labkit.stopping import StopSign

LONG = 30.0  # seconds; a test that waits for this has failed long before


def stopped_in_a_thread(agent: Agent, text: str, when: threading.Event) -> list[BaseException]:
    """Run a turn in a thread, stop it when the event comes, and return what it raised."""
    raised: list[BaseException] = []

    def turn() -> None:
        try:
            agent.run(text)
        except BaseException as error:
            raised.append(error)

    thread = threading.Thread(target=turn)
    thread.start()
    assert when.wait(LONG)
    agent.stop()
    thread.join(LONG)
    assert not thread.is_alive()
    return raised


def noticing(kind: str, seen: threading.Event) -> Callable[[Event], None]:
    def notice(event: Event) -> None:
        if event.kind == kind:
            seen.set()

    return notice


def serving(answers: list[bytes]) -> tuple[str, threading.Event]:
    """A service that says this much to a request, and then nothing more; the event comes once it has."""
    said = threading.Event()
    listener = socket.create_server(("127.0.0.1", 0))
    listener.settimeout(LONG)

    def serve() -> None:
        with listener, suppress(OSError):  # closed under it: that ends the service
            while True:
                connection, _ = listener.accept()
                with connection:
                    connection.recv(65_536)
                    for answer in answers:
                        connection.sendall(answer)
                    said.set()
                    while connection.recv(65_536):  # until the other side hangs up
                        pass

    threading.Thread(target=serve, daemon=True).start()
    return f"http://127.0.0.1:{listener.getsockname()[1]}/v1", said


HEADERS = b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n\r\n"
PIECE = b'data: {"choices": [{"index": 0, "delta": {"content": "I am"}}]}\n\n'


@pytest.mark.parametrize("stream", [True, False])
@pytest.mark.parametrize(
    "answers", [[], [HEADERS], [HEADERS, PIECE]], ids=["nothing", "headers", "first piece"]
)
def test_a_service_that_falls_silent_is_hung_up_on(stream, answers) -> None:
    url, said = serving(answers)
    with OpenAI(base_url=url, api_key="none", max_retries=2) as client:
        agent = Agent(client, "silent", stream=stream)
        raised = stopped_in_a_thread(agent, "hello", said)
    assert [type(error) for error in raised] == [TurnStopped]
    assert [message["role"] for message in agent.messages] == ["user"]
    for thread in threading.enumerate():
        if thread.name == "labkit hang up":
            thread.join(LONG)
            assert not thread.is_alive()


def test_a_summary_under_way_is_given_up_and_does_not_count_as_a_failure() -> None:
    url, said = serving([])
    with OpenAI(base_url=url, api_key="none", max_retries=0) as client:
        summarise = model_summariser(client, "silent")
        agent = Agent(client, "silent", before_request=SafeCutCompactor(50, summarise=summarise))
        agent.messages += [user("x" * 900), assistant("y" * 900)]
        for _ in range(4):
            said.clear()
            raised = stopped_in_a_thread(agent, "hello", said)
            assert [type(error) for error in raised] == [TurnStopped]
    assert not problems(agent.messages)


def test_a_streamed_answer_ends_with_the_piece_that_comes_after_the_stop() -> None:
    client, model = connect()
    understudy().faults.add("slow", seconds=0.05)
    seen = threading.Event()
    agent = Agent(client, model, stream=True, on_event=noticing("text", seen))
    raised = stopped_in_a_thread(agent, "Who are you?", seen)
    assert [type(error) for error in raised] == [TurnStopped]
    assert [message["role"] for message in agent.messages] == ["user"]  # what was streamed is not history


def test_a_command_under_way_is_ended_and_its_result_says_so() -> None:
    client, model = connect()
    folder = fresh_playground("stopping")
    seen = threading.Event()
    agent = Agent(client, model, tools=playground_tools(folder), on_event=noticing("reply", seen))
    (folder / "wait.py").write_text("import time; time.sleep(80)", encoding="utf-8")
    raised = stopped_in_a_thread(
        agent, 'use run_command with {"command": "python wait.py", "timeout": 90}', seen
    )
    assert [type(error) for error in raised] == [TurnStopped]
    assert not problems(agent.messages)
    assert "stopped" in agent.messages[-1]["content"] or agent.messages[-1]["content"] == INTERRUPTED


def test_the_calls_that_were_not_run_yet_are_not_run() -> None:
    client, model = connect()
    ran = []

    def work(text: str) -> str:
        """Work."""
        ran.append(text)
        agent.stop()
        return "done"

    agent = Agent(client, model, tools=[work])
    with pytest.raises(TurnStopped):
        agent.run('use work with {"text": "one"} and use work with {"text": "two"}')
    assert ran == ["one"]
    assert not problems(agent.messages)


def test_after_a_stop_the_next_turn_runs_as_if_nothing_had_been() -> None:
    client, model = connect()
    sign = StopSign()
    sign.ask()
    agent = Agent(client, model)
    with pytest.raises(TurnStopped):
        agent.run("hello", stop=sign)
    agent.stop()  # nothing is under way
    assert agent.run("Who are you?")
    assert not problems(agent.messages)


def test_a_sign_wakes_what_waits_and_also_what_begins_to_wait_too_late() -> None:
    woken: list[str] = []
    sign = StopSign()
    with sign.waking(lambda: woken.append("gone")):
        pass
    with sign.waking(lambda: woken.append("inside")):
        sign.ask()
    with sign.waking(lambda: woken.append("late")):
        pass
    assert woken == ["inside", "late"]


def test_a_command_outside_of_a_turn_still_ends_at_its_time_limit_and_with_its_exit_code(tmp_path) -> None:
    assert run("exit 3", tmp_path).exit_code == 3
    ended = run("python -c 'import time; time.sleep(60)'", tmp_path, timeout=0.3)
    assert ended.exit_code is None and not ended.stopped
    sign = StopSign()
    with sign:
        assert run("exit 4", tmp_path).exit_code == 4
        assert run("python -c 'import time; time.sleep(60)'", tmp_path, timeout=0.3).exit_code is None
        sign.ask()
        assert run("python -c 'import time; time.sleep(60)'", tmp_path, timeout=LONG).stopped

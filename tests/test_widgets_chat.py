"""The chat panel, headless: what it shows while the agent works, Stop, and what it leaves behind."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from pathlib import Path

import ipywidgets
import pytest

from labkit.compaction import CountCompactor, SafeCutCompactor
from labkit.compaction.base import Compaction
from labkit.connect import connect, understudy
from labkit.loop import Agent, Event
from labkit.messages import assistant, problems, tool_call, tool_result, user
from labkit.playground import fresh_playground
from labkit.stopping import StopSign
from labkit.tokens import TokenCounter
from labkit.widgets import ChatPanel, chat_panel, close_all
from labkit.widgets.asking import Permission
from labkit.widgets.gauge import measure
from labkit.widgets.painter import Painter
from labkit.widgets.turns import Turn

LONG = 30.0
ARTICLE = "read `big-article.md` and give its main point in three sentences"
REVIEW = "also read `hello.txt` and `notes.md`, and write their contents with that summary into `review.txt`"


@pytest.fixture(autouse=True)
def nothing_stays_open() -> Iterator[None]:
    yield
    close_all()
    understudy().faults.clear()  # one that no request has met


@pytest.fixture
def panel() -> ChatPanel:
    return chat_panel(root=fresh_playground("panel"))


def say(panel: ChatPanel, text: str) -> str:
    """Type a line and press Enter, wait for the end of the turn, and return what the log shows of it."""
    panel.entry.text.value = text
    panel.entry.text._handle_custom_msg({"event": "submit"}, [])
    assert panel.wait(LONG)
    return str(panel.log.children[-1].value)


def chat_threads() -> list[str]:
    return [thread.name for thread in threading.enumerate() if thread.name.startswith("labkit chat")]


def open_widgets() -> int:
    # ipywidgets counts its own; the public list of them is deprecated and has no successor.
    return len(ipywidgets.widget._instances)


# --- a turn -----------------------------------------------------------------------------------------------


def test_enter_sends_and_the_log_shows_the_question_the_calls_and_the_answer(panel) -> None:
    shown = say(panel, ARTICLE)
    assert "<strong>You:</strong> read `big-article.md`" in shown
    assert (
        '<details class="labkit-chat-call"' in shown and "read_file(path=&quot;big-article.md&quot;)" in shown
    )
    assert panel.agent.messages[-1]["content"].split()[0] in shown
    assert panel.entry.text.value == ""
    assert "Done: 2 requests." in panel.status.value


def test_the_button_sends_too(panel) -> None:
    panel.entry.text.value = "Who are you?"
    panel.entry.button.click()
    assert panel.wait(LONG)
    assert "rules" in panel.log.children[-1].value


def test_a_line_that_was_only_left_is_not_sent(panel) -> None:
    panel.entry.text.value = "half a thought"  # the browser sends the text when the line loses the focus
    assert not panel.turns and panel.entry.text.value == "half a thought"


def test_an_empty_line_is_not_sent(panel) -> None:
    assert not panel.send("   ") and not panel.turns


def test_the_agent_is_as_it_was_after_a_turn() -> None:
    client, model = connect()
    seen: list[Event] = []
    agent = Agent(client, model, on_event=seen.append)
    shown = chat_panel(agent)
    say(shown, "Who are you?")
    assert agent.on_event == seen.append and agent.stream is False and not seen
    assert agent.messages[0] == user("Who are you?")


def test_compaction_shows_in_the_log_and_on_the_strip(panel) -> None:
    say(panel, ARTICLE)
    assert "before:" not in panel.strip.value
    shown = say(panel, REVIEW)
    assert "<strong>Compaction:</strong>" in shown and "messages became" in shown
    assert "before:" in panel.strip.value and "summarised:" in panel.strip.value
    say(panel, "Who are you?")
    assert "before:" not in panel.strip.value


def test_an_error_is_a_short_paragraph_and_the_next_turn_runs(panel) -> None:
    understudy().faults.add("500")
    shown = say(panel, "hello")
    assert 'class="labkit-chat-error"' in shown and 'role="alert"' in shown
    assert "The service failed" in shown and "Traceback" not in shown
    assert "labkit-chat-error" not in say(panel, "Who are you?")


def test_a_hook_that_raises_is_named_and_the_panel_goes_on() -> None:
    def breaks(messages):
        raise RuntimeError("the hook <broke>")

    client, model = connect()
    panel = chat_panel(Agent(client, model, after_turn=breaks))
    assert "RuntimeError: the hook &lt;broke&gt;" in say(panel, "Who are you?")
    assert not panel.busy and not panel.entry.button.disabled


def test_nothing_that_is_said_becomes_markup(panel) -> None:
    evil = "<script>alert(1)</script><img src=x onerror=alert(1)>"
    say(panel, f'use write_file with {{"path": "{evil[:8]}.md", "content": "{evil}"}}')
    page = panel._repr_mimebundle_()["text/html"]
    assert "&lt;script" in page
    for drawn in (page, panel.strip.value, panel.gauge.value, *(turn.value for turn in panel.log.children)):
        assert "<script" not in drawn and "<img" not in drawn


# --- Stop -------------------------------------------------------------------------------------------------


def test_stop_ends_the_turn_and_the_history_stays_sound(panel) -> None:
    understudy().faults.add("slow", seconds=4 * LONG)
    panel.send("hello")
    assert panel.busy and not panel.stop_button.disabled and panel.entry.button.disabled
    panel.stop_button.click()
    assert panel.wait(LONG)
    assert "<strong>Stopped:</strong>" in panel.log.children[-1].value
    assert panel.stop_button.disabled and not panel.entry.button.disabled
    assert not problems(panel.agent.messages)
    understudy().faults.clear()  # the stop may have come before the request
    assert "rules" in say(panel, "Who are you?")


def test_stop_ends_a_running_command(panel) -> None:
    (panel_folder := Path(fresh_playground("panel")) / "wait.py").write_text(
        "import time; time.sleep(120)", encoding="utf-8"
    )
    assert panel_folder.exists()
    began = threading.Event()
    take = panel._take

    def noticing(event: Event) -> None:
        take(event)
        if event.kind == "reply":
            began.set()

    panel._take = noticing
    panel.send("run the command `python wait.py`")
    assert began.wait(LONG)
    panel.stop()
    assert panel.wait(LONG)
    assert not problems(panel.agent.messages)
    assert panel.agent.messages[-1]["role"] == "tool"


def test_while_a_turn_is_under_way_nothing_is_sent(panel) -> None:
    understudy().faults.add("slow", seconds=4 * LONG)
    panel.send("hello")
    assert not panel.send("hello again")
    panel.stop()
    assert panel.wait(LONG) and len(panel.turns) == 1


# --- drawing ----------------------------------------------------------------------------------------------


def test_text_is_drawn_while_it_comes_and_tool_calls_fold() -> None:
    turn = Turn("go")
    for piece in ("The mill ", "waits"):
        turn.take(Event("text", text=piece))
    assert "The mill waits …" in turn.html()
    calls = [tool_call("c1", "read_file", {"path": "a.md"})]
    turn.take(Event("reply", text="The mill waits", message=assistant("The mill waits", calls)))
    assert "The mill waits</div>" in turn.html() and turn.html().count("The mill") == 1
    assert "under way" in turn.html()
    turn.take(Event("tool_result", message=tool_result("c1", "x" * 5000), text="x" * 5000))
    assert "5,000 characters" in turn.html() and "x" * 4001 not in turn.html()


def test_a_reply_that_was_not_streamed_is_shown_too() -> None:
    turn = Turn("go")
    turn.take(Event("reply", text="Done.", message=assistant("Done.")))
    assert "<strong>Agent:</strong> Done." in turn.html()
    assert turn.text() == "You: go\nAgent: Done."


def test_a_compaction_that_failed_says_why() -> None:
    turn = Turn("go")
    failed = Compaction([], False, "the summary is empty", 10, 10, failed=True)
    turn.take(Event("compaction", compaction=failed))
    assert "nothing changed; the summary is empty" in turn.html()


def test_a_painter_draws_few_frames_for_many_touches_and_the_last_state_always() -> None:
    state, drawn = [0], []
    first = threading.Event()

    def draw() -> None:
        drawn.append(state[0])
        first.set()

    painter = Painter(draw, seconds=4 * LONG)  # no second frame before the end
    for number in range(1000):
        state[0] = number
        painter.touch()
        assert first.wait(LONG)
    painter.close()
    assert len(drawn) == 2 and drawn[-1] == 999
    assert not chat_threads()


def test_an_error_while_drawing_is_not_swallowed() -> None:
    def draw() -> None:
        raise RuntimeError("no ink")

    painter = Painter(draw)
    painter.touch()
    with pytest.raises(RuntimeError, match="no ink"):
        painter.close()


# --- the bar ----------------------------------------------------------------------------------------------


def gauge(limit: int | None = None, model: str = "understudy-8k", **hooks):
    client, _ = connect()
    agent = Agent(client, model, **hooks)
    agent.messages += [user("x" * 100), assistant("y" * 300)]
    return measure(agent, None, limit, TokenCounter())


def test_the_bar_runs_against_what_the_policy_looks_at() -> None:
    by_tokens = gauge(before_request=SafeCutCompactor(150))
    assert (by_tokens.value, by_tokens.limit) == (200, 150)
    assert "≈200 of 150 tokens" in by_tokens.words and "over the limit" in by_tokens.words
    by_count = gauge(after_turn=CountCompactor(8))
    assert (by_count.value, by_count.limit) == (2, 8) and "2 of 8 messages" in by_count.words


def test_without_a_policy_the_bar_runs_against_a_limit_or_the_models_window() -> None:
    assert gauge().limit == 8192 and "window" in gauge().words
    assert gauge(limit=500).limit == 500
    assert gauge(model="some-model").limit is None


def test_the_bar_says_itself_in_words() -> None:
    shown = gauge(before_request=SafeCutCompactor(400)).html()
    assert 'role="meter"' in shown and 'aria-valuenow="200"' in shown and 'aria-valuemax="400"' in shown
    assert shown.count("≈200 of 400 tokens") == 2  # for a screen reader, and for the eye
    assert "width:50.0%" in shown


# --- commands of a real model -----------------------------------------------------------------------------


@pytest.mark.parametrize("answer", [True, False])
def test_a_command_is_shown_and_waits_for_a_click(answer) -> None:
    permission, answers = Permission(), []
    shown = threading.Event()
    permission.widget.layout.observe(lambda change: shown.set(), "display")
    thread = threading.Thread(target=lambda: answers.append(permission.ask("rm -r <shop>")))
    thread.start()
    assert shown.wait(LONG)
    assert "rm -r &lt;shop&gt;" in permission.words.value and permission.widget.layout.display == "flex"
    (permission.yes if answer else permission.no).click()
    thread.join(LONG)
    assert answers == [answer] and permission.widget.layout.display == "none"


def test_a_stopped_turn_is_a_no() -> None:
    sign = StopSign()
    sign.ask()
    with sign:
        assert Permission().ask("ls") is False


# --- what is left behind ----------------------------------------------------------------------------------


def test_a_page_without_widgets_says_what_was_said(panel) -> None:
    say(panel, ARTICLE)
    bundle = panel._repr_mimebundle_()
    assert "application/vnd.jupyter.widget-view+json" in bundle
    assert panel.log.children[-1].value in bundle["text/html"] and "<svg" in bundle["text/html"]
    for words in ("not a language model", "a set of rules"):
        assert (
            words in bundle["text/plain"] or words in bundle["text/html"] or words == "not a language model"
        )
    assert "read_file" in bundle["text/plain"] and "of 6,000 tokens" in bundle["text/plain"]


def test_a_new_panel_says_the_same_each_time() -> None:
    texts = {str(chat_panel(root=fresh_playground("panel"))) for _ in range(2)}
    assert len(texts) == 1 and "Nothing was said yet." in texts.pop()


def test_no_thread_is_left_after_a_turn_or_after_closing(panel) -> None:
    say(panel, ARTICLE)
    assert not chat_threads()
    understudy().faults.add("slow", seconds=4 * LONG)
    panel.send("hello")
    panel.close()
    assert not chat_threads() and not panel.busy
    assert not problems(panel.agent.messages)


def test_opening_it_again_closes_the_one_before_with_its_turn() -> None:
    folder = fresh_playground("panel")
    chat_panel(root=folder)
    widgets = open_widgets()
    understudy().faults.add("slow", seconds=4 * LONG)
    first = chat_panel(root=folder)
    first.send("hello")
    chat_panel(root=folder)
    assert not first.busy and not chat_threads()
    assert open_widgets() == widgets


def test_a_long_chat_keeps_a_bounded_number_of_turns_on_the_page(panel) -> None:
    for _ in range(45):
        panel._begin(Turn("again"))
    assert len(panel.log.children) == len(panel.turns) == 40


def test_closing_leaves_no_widget() -> None:
    widgets = open_widgets()
    panel = chat_panel(root=fresh_playground("panel"))
    say(panel, "Who are you?")
    panel.close()
    assert open_widgets() == widgets

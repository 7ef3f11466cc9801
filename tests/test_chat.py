"""The terminal chat: what it shows, what it keeps, and its commands."""

import os
import re
import signal
import subprocess
import sys
import time

import pytest

from labkit.chat import Chat
from labkit.chat.commands import run_command
from labkit.connect import connect, understudy
from labkit.errors import SetupError, SnapshotError, StreamInterrupted
from labkit.messages import problems

ARTICLE = "read `big-article.md` and give its main point in three sentences"
REVIEW = "also read `hello.txt` and `notes.md`, and write their contents with that summary into `review.txt`"


class Screen:
    """What a chat shows."""

    def __init__(self):
        self.text = ""

    def say(self, line):
        self.text += line + "\n"

    def write(self, piece):
        self.text += piece


@pytest.fixture
def screen():
    return Screen()


@pytest.fixture
def open_chat(screen):
    def open_chat(**settings):
        return Chat(*connect(), say=screen.say, write=screen.write, **settings)

    yield open_chat
    understudy().faults.clear()


def test_a_turn_shows_calls_results_the_answer_and_a_line_against_the_limit(open_chat, screen):
    open_chat().turn("read `hello.txt`")
    assert '> read_file({"path": "hello.txt"})' in screen.text
    assert "< Hello from the playground" in screen.text
    assert re.search(r"\[safe-cut: \d+ messages, ≈[\d,]+ of 6,000 tokens; [\d,]+ tokens counted", screen.text)


def test_compaction_is_reported_as_it_happens_with_both_figures(open_chat, screen):
    chat = open_chat()
    chat.turn(ARTICLE)
    assert "[compaction" not in screen.text
    chat.turn(REVIEW)
    before, after = re.search(r"\[compaction: .*, ([\d,]+) tokens became ([\d,]+)", screen.text).groups()
    assert int(before.replace(",", "")) > 6000 > 1000 > int(after.replace(",", ""))
    assert "tide mill" in (chat.root / "review.txt").read_text(encoding="utf-8")


def test_the_next_chat_goes_on_from_the_history_of_the_last(open_chat):
    chat = open_chat()
    chat.turn("read `hello.txt`")
    assert open_chat().agent.messages == chat.agent.messages


def test_a_broken_stream_keeps_a_sound_history_on_disk_too(open_chat):
    chat = open_chat()
    chat.turn("read `hello.txt`")
    understudy().faults.add("cut")
    with pytest.raises(StreamInterrupted):
        chat.turn("read `notes.md`")
    kept = open_chat().agent.messages
    assert kept == chat.agent.messages
    assert kept[-1]["content"] == "read `notes.md`"


def test_a_refusal_is_shown_though_it_is_not_streamed_as_text(open_chat, screen):
    chat = open_chat()
    understudy().faults.add("refusal")
    chat.turn("hello")
    refusal = chat.agent.messages[-1]["refusal"]
    assert screen.text.count(refusal) == 1


def test_a_damaged_chat_is_put_aside_once_and_named(open_chat, workspace):
    first = open_chat()
    first.turn("hello")
    damaged = first.store.folder / "current.jsonl"
    damaged.write_text('{"half', encoding="utf-8")
    with pytest.raises(SnapshotError, match=r"damaged-1\.jsonl"):
        open_chat()
    assert (first.store.folder / "damaged-1.jsonl").read_text(encoding="utf-8") == '{"half'
    assert len(open_chat().agent.messages) == 1


def test_two_chats_at_once_lose_nothing_of_each_other(open_chat):
    one, two = open_chat(), open_chat()
    one.turn("My name is Ada.")
    two.turn("My name is Ines.")
    two.turn("hello")
    one.turn("hello")
    folder = one.store.folder
    kept = [path.read_text(encoding="utf-8") for path in sorted(folder.glob("*.jsonl"))]
    assert any("Ada" in text for text in kept) and any("Ines" in text for text in kept)
    assert sorted(one.store.names()) == ["other-chat-1", "other-chat-2"]


def test_saved_chats_are_never_overwritten_and_come_back_equal(open_chat):
    chat = open_chat()
    chat.turn("read `hello.txt`")
    first = list(chat.agent.messages)
    assert "Saved" in run_command(chat, "/save tide")
    assert "already" in run_command(chat, "/save tide")
    chat.turn("read `notes.md`")
    shown = run_command(chat, "/load tide")
    assert "Loaded tide" in shown
    assert "Saved" in shown  # the one going on is not lost
    assert chat.agent.messages == first
    assert "Saved chats" in run_command(chat, "/load nothing-of-that-name")
    assert "no name for a chat" in run_command(chat, "/save ../outside")


def test_new_starts_afresh_and_loses_nothing(open_chat):
    chat = open_chat()
    chat.turn("read `hello.txt`")
    before = list(chat.agent.messages)
    assert "Saved" in run_command(chat, "/new")
    assert [message["role"] for message in chat.agent.messages] == ["system"]
    (name,) = chat.store.names()
    assert chat.store.load(name) == before


def test_compact_works_at_once_with_a_focus(open_chat, screen):
    chat = open_chat()
    chat.turn(ARTICLE)
    chat.turn("read `hello.txt`")
    assert run_command(chat, "/compact the tide mill") == ""
    assert "[compaction" in screen.text
    assert problems(chat.agent.messages) == []


def test_every_policy_can_be_chosen_and_a_wrong_one_is_named(open_chat):
    chat = open_chat()
    for name, sign in {
        "count": "of 5 messages",
        "two-tier": "of 5 tokens",
        "safe-cut": "of 5 tokens",
    }.items():
        assert sign in run_command(chat, f"/policy {name} 5")
    assert "[off:" in run_command(chat, "/policy off")
    assert "policy is off" in run_command(chat, "/compact")
    assert "safe-cut" in run_command(chat, "/policy sometimes")
    assert "is no limit" in run_command(chat, "/policy count many")
    assert "* off" in run_command(chat, "/policy")
    with pytest.raises(SetupError):
        open_chat(policy="sometimes")


def test_two_tiers_write_the_snapshot_where_the_agent_can_read_it(open_chat, screen):
    chat = open_chat(policy="two-tier", limit=500)
    chat.turn(ARTICLE)
    chat.turn("read `hello.txt`")
    (snapshot,) = (chat.root / ".memory").glob("memory_*.jsonl")
    assert str(snapshot) in screen.text
    assert f"Memory: .memory/{snapshot.name}]" in chat.agent.messages[1]["content"]


def test_the_other_commands_say_what_they_should(open_chat):
    chat = open_chat()
    chat.turn("read `hello.txt`")
    assert "2 requests" in run_command(chat, "/info")
    assert "legal cut" in run_command(chat, "/strip")
    assert "read_file: " in run_command(chat, "/tools")
    listed = run_command(chat, "/help")
    for command in ("info", "compact", "strip", "policy", "save", "load", "tools", "help", "quit"):
        assert f"/{command} " in listed
    assert "Did you mean /compact?" in run_command(chat, "/compct")


def labkit_chat(*options, **settings):
    return subprocess.run(
        [sys.executable, "-m", "labkit", "chat", *options],
        capture_output=True,
        encoding="utf-8",
        env={**os.environ, "PYTHONUTF8": "1"},
        check=False,
        **settings,
    )


def test_tasks_run_one_after_the_other_without_a_terminal():
    done = labkit_chat("--task", ARTICLE, "--task", REVIEW, stdin=subprocess.DEVNULL)
    assert done.returncode == 0, done.stderr
    assert "task 2: also read" in done.stdout
    assert re.search(r"\[compaction: .*, [\d,]+ tokens became [\d,]+", done.stdout)


def test_lines_from_a_pipe_are_a_chat_too():
    done = labkit_chat(input="read `hello.txt`\n/info\n/quit\nnever read\n")
    assert done.returncode == 0, done.stderr
    assert "Hello from the playground" in done.stdout
    assert "2 requests" in done.stdout
    assert "never read" not in done.stdout
    assert "Going on with 4 messages" in labkit_chat(input="").stdout


@pytest.mark.skipif(os.name != "posix", reason="signals are sent as POSIX sends them")
def test_ctrl_c_ends_the_turn_and_not_the_chat(workspace):
    chat = subprocess.Popen(
        [sys.executable, "-m", "labkit", "chat"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        encoding="utf-8",
        bufsize=1,
    )
    chat.stdin.write('use run_command with {"command": "touch started; sleep 60", "timeout": 90}\n')
    while not (workspace / "playground" / "started").exists():
        assert chat.poll() is None
        time.sleep(0.02)
    chat.send_signal(signal.SIGINT)
    rest, _ = chat.communicate("/info\n/quit\n", timeout=60)
    assert "[interrupted" in rest
    assert "1 request," in rest
    assert chat.returncode == 0
    assert "Going on with 3 messages" in labkit_chat(input="").stdout

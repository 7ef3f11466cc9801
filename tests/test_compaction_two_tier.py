"""Snapshots, and tier 2: the whole history to disk, then three messages."""

import json
import os
import subprocess
import sys
from datetime import datetime
from functools import partial
from types import SimpleNamespace

import pytest
from case_bench import Client, agent_with
from summarisers import STATE, Raising, Scripted, rate_limit

from labkit.compaction import FullCompactor, ToolStubs, chain, read_snapshot, two_tiers, write_snapshot
from labkit.compaction.earlier import ACKNOWLEDGEMENT
from labkit.compaction.snapshot import move_to_free_name
from labkit.compaction.two_tier import after_input, after_tools, compact_all
from labkit.errors import SnapshotError
from labkit.loop import Agent
from labkit.messages import assistant, problems, system, tool_call, tool_result, user
from labkit.playground import playground_tools
from labkit.streaming import Reply

HEAD = system("You are a coding agent.")
LONG = "alpha module delta epsilon " * 400


def session(rounds):
    """Dozens of messages: a request, tool rounds, an answer."""
    history = [HEAD, user("Port the service; never edit tests/")]
    for number in range(rounds):
        call = tool_call(f"c{number}", "read_file", {"path": f"src/m{number}.py"})
        history += [assistant(calls=[call]), tool_result(f"c{number}", f"{number} {LONG}")]
    return [*history, assistant("All of it is read.")]


# --- snapshots --------------------------------------------------------------------------------------------


def test_a_snapshot_is_the_whole_history_one_message_a_line(tmp_path):
    history = [*session(3), user("读 עברית 👩‍👩‍👧 \u2028 \x00 \ud83d")]
    path = write_snapshot(history, tmp_path / ".memory")
    lines = path.read_bytes().decode("utf-8").split("\n")
    assert [json.loads(line) for line in lines[:-1]] == history
    assert lines[-1] == ""
    assert read_snapshot(path) == history


def test_text_is_written_as_it_is_and_not_in_escapes(tmp_path):
    assert "潮汐".encode() in write_snapshot([user("潮汐")], tmp_path).read_bytes()


def test_many_within_a_second_overwrite_nothing(tmp_path):
    paths = [write_snapshot([user(str(number))], tmp_path) for number in range(50)]
    assert len(set(paths)) == 50
    assert [read_snapshot(path)[0]["content"] for path in paths] == [str(number) for number in range(50)]
    assert all(path.name.startswith("memory_") and path.suffix == ".jsonl" for path in paths)
    assert sorted(path.name for path in tmp_path.iterdir()) == sorted(path.name for path in paths)


def test_a_name_that_somebody_else_took_in_the_meantime_is_left_alone(tmp_path):
    draft, taken = tmp_path / "draft", tmp_path / "memory_1.jsonl"
    draft.write_text("mine", encoding="utf-8")
    taken.write_text("theirs", encoding="utf-8")
    with pytest.raises(FileExistsError):
        move_to_free_name(draft, taken)
    assert taken.read_text(encoding="utf-8") == "theirs"


def test_several_processes_writing_at_once_overwrite_nothing(tmp_path):
    code = (
        "import sys; from labkit.compaction import write_snapshot\n"
        "for n in range(20): write_snapshot([{'role': 'user', 'content': sys.argv[2]}], sys.argv[1])"
    )
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    running = [
        subprocess.Popen([sys.executable, "-c", code, str(tmp_path), name], env=environment) for name in "abc"
    ]
    assert [process.wait() for process in running] == [0, 0, 0]
    written = [read_snapshot(path)[0]["content"] for path in tmp_path.glob("memory_*.jsonl")]
    assert sorted(written) == ["a"] * 20 + ["b"] * 20 + ["c"] * 20


@pytest.mark.skipif(
    os.name == "nt", reason="Windows has no owner's mode bits; files inherit the user's rights"
)
def test_only_the_owner_can_read_it(tmp_path):
    path = write_snapshot([user("a")], tmp_path / ".memory")
    assert path.stat().st_mode & 0o777 == 0o600
    assert path.parent.stat().st_mode & 0o777 == 0o700


@pytest.mark.skipif(
    os.name == "nt", reason="Windows renames without replacing; there is nothing to fall back to"
)
def test_without_hard_links_it_is_still_never_overwritten(tmp_path, monkeypatch):
    def no_links(*_, **__):
        raise OSError(95, "Operation not supported")

    monkeypatch.setattr(os, "link", no_links)  # the system's own refusal, as on a FAT drive
    paths = [write_snapshot([user(str(number))], tmp_path) for number in range(5)]
    assert [read_snapshot(path)[0]["content"] for path in paths] == list("01234")
    assert len(list(tmp_path.iterdir())) == 5


def test_a_clock_that_stands_still_does_not_hold_it_up(tmp_path, monkeypatch):
    noon = datetime(2026, 1, 1, 12)
    monkeypatch.setattr("labkit.compaction.snapshot.datetime", SimpleNamespace(now=lambda: noon))
    paths = [write_snapshot([user(str(number))], tmp_path) for number in range(3)]
    assert [read_snapshot(path)[0]["content"] for path in paths] == list("012")


def test_a_folder_that_cannot_be_made_is_named_with_the_reason_and_the_next_step(tmp_path):
    (tmp_path / "file").write_text("in the way", encoding="utf-8")
    with pytest.raises(SnapshotError, match=r"could not be written into .*file.*write access"):
        write_snapshot([user("a")], tmp_path / "file")


def test_what_json_cannot_express_is_named_by_its_message(tmp_path):
    with pytest.raises(SnapshotError, match="Message 1 cannot be written as JSON"):
        write_snapshot([user("a"), user("b") | {"content": {1, 2}}], tmp_path)
    deep = []
    for _ in range(100_000):
        deep = [deep]
    with pytest.raises(SnapshotError, match="Message 0 cannot be written as JSON"):
        write_snapshot([user("a") | {"content": deep}], tmp_path)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("content", [b"{half", b"[1, 2]\n", b"\xff\xfe", None])
def test_what_is_no_snapshot_is_refused_with_its_path(tmp_path, content):
    path = tmp_path / "memory_x.jsonl"
    if content is not None:
        path.write_bytes(content)
    with pytest.raises(SnapshotError, match=r"memory_x\.jsonl cannot be read"):
        read_snapshot(path)


# --- tier 2 -----------------------------------------------------------------------------------------------


def test_dozens_of_messages_become_three_with_the_snapshots_path_in_the_second(tmp_path):
    history = session(30)
    full = FullCompactor(limit=30000, folder=tmp_path / ".memory", summarise=Scripted())
    for result in full(history), compact_all(history, Scripted(), tmp_path / ".memory"):
        assert len(history) > 60
        assert [message["role"] for message in result.messages] == ["system", "user", "assistant"]
        path = f".memory/{result.snapshot.name}"
        assert result.messages[1]["content"] == f"[Context has been compressed. Memory: {path}]\n\n{STATE}"
        assert result.messages[2]["content"] == ACKNOWLEDGEMENT
        assert read_snapshot(result.snapshot) == history
        assert result.tokens_before > 30000 > result.tokens_after


def test_below_the_limit_nothing_is_written(tmp_path):
    result = FullCompactor(folder=tmp_path / ".memory", summarise=Scripted())(session(5))
    assert not result.changed
    assert not (tmp_path / ".memory").exists()


def test_the_users_new_input_stays_word_for_word_after_the_acknowledgement(tmp_path):
    history = [*session(5), user("And now write the review.")]
    summarise = Scripted()
    result = FullCompactor(limit=1000, folder=tmp_path, summarise=summarise)(history)
    assert [message["role"] for message in result.messages] == ["system", "user", "assistant", "user"]
    assert result.messages[3] == history[-1]
    assert "write the review" not in summarise.prompts[0]


def test_results_that_the_model_has_not_read_stay_with_their_call(tmp_path):
    history = session(5)[:-1]
    result = FullCompactor(
        limit=1000,
        folder=tmp_path,
        summarise=Scripted(),
    )(history)
    assert result.messages[2:] == history[-2:]
    assert problems(result.messages) == []


def test_the_second_compaction_updates_the_first_summary_and_has_a_snapshot_of_its_own(tmp_path):
    summarise = Scripted()
    full = FullCompactor(limit=1000, folder=tmp_path / ".memory", summarise=summarise)
    first = full(session(4))
    second = full([*first.messages, *session(3)[1:]])
    assert len(second.messages) == 3
    assert STATE in summarise.prompts[1]
    assert first.snapshot.name not in summarise.prompts[1].partition("earlier-summary")[0]
    assert read_snapshot(second.snapshot)[:3] == first.messages
    assert second.snapshot != first.snapshot


def test_a_failed_summary_changes_nothing_and_the_snapshot_stays(tmp_path):
    history = session(5)
    for summarise in Raising(rate_limit()), Scripted(""):
        result = FullCompactor(limit=1000, folder=tmp_path, summarise=summarise)(history)
        assert result.messages == history
        assert result.failed
        assert read_snapshot(result.snapshot) == history


def test_the_snapshot_is_on_disk_before_the_summariser_is_asked(tmp_path):
    seen = []

    def looking(messages, most):
        seen.extend(tmp_path.glob("memory_*.jsonl"))
        raise KeyboardInterrupt

    history = session(5)
    with pytest.raises(KeyboardInterrupt):
        FullCompactor(limit=1000, folder=tmp_path, summarise=looking)(history)
    assert [read_snapshot(path) for path in seen] == [history]


def test_a_folder_without_access_leaves_the_history_as_it_is(tmp_path):
    (tmp_path / "file").write_text("in the way", encoding="utf-8")
    summarise, history = Scripted(), session(5)
    result = FullCompactor(limit=1000, folder=tmp_path / "file", summarise=summarise)(history)
    assert result.messages == history
    assert result.failed and not summarise.asked
    assert "could not be written" in result.reason


@pytest.mark.parametrize(
    ("folder", "root", "shown"),
    [
        ("play/.memory", "play", ".memory/"),
        ("play/deep/.memory", "play", "deep/.memory/"),
        ("elsewhere", "play", "/"),
    ],
)
def test_the_path_is_one_that_the_agents_file_tool_takes(tmp_path, folder, root, shown):
    full = FullCompactor(limit=1000, folder=tmp_path / folder, root=tmp_path / root, summarise=Scripted())
    text = full(session(5)).messages[1]["content"]
    assert text.startswith(f"[Context has been compressed. Memory: {shown}")


def test_the_agent_finds_a_lost_detail_in_the_snapshot_with_its_own_tool(tmp_path):
    history = [HEAD, user("My port is 48213."), assistant("Noted."), *session(5)[2:]]
    full = FullCompactor(limit=1000, folder=tmp_path / ".memory", root=tmp_path, summarise=Scripted())
    result = full(history)
    assert "48213" not in json.dumps(result.messages)
    path = result.messages[1]["content"].partition("Memory: ")[2].partition("]")[0]
    assert "48213" in playground_tools(tmp_path)["read_file"](path)


# --- who runs when ----------------------------------------------------------------------------------------


def noting(name, ran):
    def compactor(messages):
        ran.append(name)
        return ToolStubs()(messages)

    return compactor


def tiers():
    ran = []
    return noting("stubs", ran), noting("full", ran), ran


def test_tier_2_runs_after_the_users_input_above_the_limit_only():
    stubs, full, ran = tiers()
    assert not after_input([*session(2), user("on")], stubs, full).changed
    assert ran == []
    after_input([*session(2), user("on")], stubs, full, limit=1000)
    assert ran == ["full"]


def test_tier_2_waits_while_a_call_is_open():
    stubs, full, ran = tiers()
    history = [*session(2), user("on"), assistant(calls=[tool_call("w", "run_command", {})])]
    result = after_input(history, stubs, full, limit=10)
    assert result.messages == history and ran == []
    assert "waits" in result.reason


def test_tier_1_runs_after_each_tool_run_whatever_the_size():
    stubs, full, ran = tiers()
    after_tools(session(1), stubs, full)
    assert ran == ["stubs"]


def test_both_tiers_as_hooks_of_an_agent(tmp_path):
    summarise = Scripted()
    full = FullCompactor(limit=3000, folder=tmp_path / ".memory", summarise=summarise)
    client = Client(*(assistant(calls=[tool_call(f"n{i}", "read", {})]) for i in range(6)))
    agent = Agent(client, "scripted", tools=[read], **two_tiers(ToolStubs(), full))
    agent.run("read everything")
    contents = [message["content"] for message in agent.messages if message["role"] == "tool"]
    assert contents == ["[compressed]"] * 3 + [LONG] * 3
    assert not summarise.asked
    agent.messages += session(3)[1:]
    agent.run("and now?")
    assert len(summarise.asked) == 1
    assert [message["role"] for message in client.sent[-1]] == ["user", "assistant", "user"]
    assert client.sent[-1][-1] == user("and now?")


def read() -> str:
    """Read a long file."""
    return LONG


# --- chains -----------------------------------------------------------------------------------------------


def test_a_chain_is_one_compaction_with_the_snapshot_of_the_step_that_made_one(tmp_path):
    both = chain(ToolStubs(), FullCompactor(limit=9000, folder=tmp_path, summarise=Scripted()))
    history = session(6)
    small = both(history)
    assert small.changed and small.snapshot is None
    assert "9,000" not in small.reason
    large = both([*history, user(LONG), *session(6)[1:]])
    assert large.snapshot is not None
    assert "; then " in large.reason
    assert large.tokens_after < large.tokens_before


def test_a_chain_ends_at_a_failure_and_keeps_what_came_before_it(tmp_path):
    ran = []
    both = chain(
        ToolStubs(),
        FullCompactor(limit=1000, folder=tmp_path, summarise=Raising(rate_limit())),
        noting("never", ran),
    )
    result = both(session(8))
    assert result.failed and result.changed
    assert ran == []
    assert "RateLimitError" in result.reason


def test_a_failure_behind_stubs_that_work_still_stops_the_agent_after_three(tmp_path):
    from labkit.errors import CompactionError

    full = FullCompactor(limit=500, folder=tmp_path, summarise=Raising(rate_limit()))
    client = Client(*(assistant(calls=[tool_call(f"n{i}", "read", {})]) for i in range(20)))
    for hooks in (
        {"before_request": chain(ToolStubs(), full)},
        {"after_tools": ToolStubs(), "before_request": full},
    ):
        agent = agent_with(session(8), client, tools=[read], max_turns=20, **hooks)
        with pytest.raises(CompactionError, match="failed 3 times in a row"):
            agent.run("go on")


def test_an_empty_chain_does_nothing():
    history = session(1)
    result = chain()(history)
    assert result.messages == history and result.messages is not history
    assert not result.changed


def test_all_of_a_chain_can_be_run_at_once(tmp_path):
    both = chain(ToolStubs(), FullCompactor(folder=tmp_path, summarise=Scripted()))
    result = both.now(session(5), focus="the ports")
    assert len(result.messages) == 3


def test_the_hooks_of_lesson_5_4_can_be_bound_to_their_tiers(tmp_path):
    stubs, full, ran = tiers()
    client = Client(assistant(calls=[tool_call("n", "read", {})]))
    hooks = {
        "after_input": partial(after_input, stubs=stubs, full=full, limit=0),
        "after_tools": partial(after_tools, stubs=stubs, full=full),
    }
    Agent(client, "scripted", tools=[read], **hooks).run("go")
    assert ran == ["full", "stubs", "stubs"]


def test_a_summary_as_long_as_it_may_be_stays_under_the_limit(tmp_path):
    def as_long_as_it_may_be(messages, max_tokens):
        return Reply(assistant("word" + " word" * (max_tokens - 1)), "stop")

    history = [system("s"), user("go")]
    for number in range(12):
        call = assistant(calls=[tool_call(f"c{number}", "look", {})])
        history += [call, tool_result(f"c{number}", "the tide is out " * 120), assistant("read")]
    result = FullCompactor(limit=800, folder=tmp_path / ".memory", summarise=as_long_as_it_may_be)(history)
    assert result.changed and not result.over_limit

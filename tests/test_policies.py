"""The policies by name, and `labkit replay`, which compares them."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner

from labkit.cli import cli
from labkit.errors import SetupError
from labkit.messages import assistant, system, tool_call, tool_result, user
from labkit.policies import POLICIES, make_policy, policy_hooks
from labkit.replay import replay


def long_session() -> list[dict]:
    history = [system("You are a coding agent.")]
    for turn in range(12):
        history += [
            user(f"Read part {turn} of the article."),
            assistant(calls=[tool_call(f"c{turn}", "read_file", {"path": f"part-{turn}.md"})]),
            tool_result(f"c{turn}", f"Part {turn}. " + "The tide turned twice a day. " * 120),
            assistant(f"Part {turn} says that the tide turned twice a day."),
        ]
    return history


@pytest.fixture
def recording(tmp_path: Path) -> Path:
    path = tmp_path / "session 中.jsonl"
    path.write_text("\n".join(map(json.dumps, long_session())), encoding="utf-8")
    return path


def labkit(*words: object):
    return CliRunner().invoke(cli, [str(word) for word in words])


@pytest.mark.parametrize("name", [name for name in POLICIES if name != "off"])
def test_each_policy_sends_less_than_none_does(name, tmp_path):
    limit = None if name == "count" else 4000
    assert replay(long_session(), **policy_hooks(name, limit, tmp_path)).sent < replay(long_session()).sent


def test_without_a_policy_nothing_changes():
    assert replay(long_session(), **policy_hooks("off")).sent == replay(long_session()).sent


@pytest.mark.parametrize("name", ["count", "safe-cut", "two-tier"])
def test_a_limit_of_nothing_is_not_taken_for_no_limit(name, tmp_path):
    compactor = make_policy(name, 0, tmp_path).compactor
    assert getattr(compactor, "threshold" if name == "count" else "limit") == 0


def test_an_unknown_policy_is_answered_with_those_there_are():
    with pytest.raises(SetupError, match="off, count, safe-cut, two-tier"):
        policy_hooks("sliding-window")


def test_the_command_compares_all_policies_and_names_each(recording):
    answer = labkit("replay", recording, "--limit", 4000)
    assert answer.exit_code == 0, answer.output
    assert all(name in answer.output for name in POLICIES)


def test_the_command_saves_its_chart(recording, tmp_path):
    answer = labkit(
        "replay", recording, "--policy", "off", "--policy", "safe-cut", "--chart", tmp_path / "bill.svg"
    )
    assert answer.exit_code == 0, answer.output
    assert "count" not in answer.output.split("Saved")[0].split("\n", 1)[1]
    assert (tmp_path / "bill.svg").read_text(encoding="utf-8").startswith("<?xml")


def test_a_recording_that_cannot_be_read_is_a_short_error(tmp_path):
    (tmp_path / "no.jsonl").write_text("not json", encoding="utf-8")
    answer = labkit("replay", tmp_path / "no.jsonl")
    assert answer.exit_code == 1
    assert "cannot be read" in answer.output and "Traceback" not in answer.output


def test_every_request_is_shown_on_demand(recording):
    output = labkit("replay", recording, "--policy", "off", "--requests").output
    assert "24 requests" in output

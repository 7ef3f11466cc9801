"""The summariser by rules: what it keeps, and that it keeps to the request it is given."""

import pytest

from labkit.compaction import extractive_summary
from labkit.compaction.extractive import BLOCK_START
from labkit.compaction.summary import (
    COUNT_SECTIONS,
    FULL_SECTIONS,
    SAFE_CUT_SECTIONS,
    Instructions,
    render_history,
    summary_request,
)
from labkit.messages import assistant, tool_call, tool_result, user
from labkit.tokens import shared_counter
from labkit.vocabulary import load_encoding

ARTICLE = "# The mill that waited\n\n" + "The pond mattered more than the wheel. " * 300


def call(call_id, name, result, **arguments):
    return [assistant(calls=[tool_call(call_id, name, arguments)]), tool_result(call_id, result)]


WORK = [
    user("Fix the discount bug; never edit tests/; it is due on 2031-04-17."),
    *call("a", "read_file", ARTICLE, path="docs/mill.md"),
    *call("b", "edit_file", "Edited.", path="shop/price.py", old="n > 10", new="n >= 10"),
    *call("c", "write_file", "Wrote 20 characters.", path="notes/out.md", content="# Result\n\nAll good."),
    *call(
        "d",
        "run_command",
        "F..\nRan 3 tests in 0.01s\n\nFAILED (failures=1)\n[exit code 1]",
        command="pytest -q",
    ),
    *call("e", "read_file", "Error: there is no file missing.md", path="missing.md"),
    assistant("One test still fails. I decided to leave the rounding alone."),
]


def summary(messages, instructions=COUNT_SECTIONS, previous="", most=1000):
    return extractive_summary(summary_request(messages, instructions, previous), most).text


def test_source_a_s_five_musts_are_kept():
    sections = dict(part.split("\n", 1) for part in summary(WORK).removeprefix("## ").split("\n## "))
    assert "Fix the discount bug; never edit tests/; it is due on 2031-04-17." in sections["Goal"]
    assert sections["Files read"] == "- docs/mill.md: The mill that waited"
    assert "- shop/price.py: n > 10 → n >= 10" in sections["Files changed"]
    assert "- notes/out.md: Result" in sections["Files changed"]
    assert "- pytest -q: FAILED (failures=1)" in sections["Commands"]
    assert "missing.md: Error" in sections["Commands"]
    assert "One test still fails." in sections["Progress and next step"]


def test_source_b_and_c_get_their_own_sections():
    text = summary(WORK, SAFE_CUT_SECTIONS)
    assert [line for line in text.splitlines() if line.startswith("## ")] == [
        "## Facts",
        "## Decisions",
        "## File state",
    ]
    assert "decided to leave the rounding alone" in text.partition("## Decisions")[2]
    text = summary(WORK, FULL_SECTIONS)
    assert text.startswith("## Accomplished\n- read docs/mill.md")
    assert "never edit tests/" in text.partition("## Current state")[2]


def test_an_unanswered_request_is_in_progress():
    assert "in progress: Now the docs" in summary([*WORK, user("Now the docs")])
    assert "in progress" not in summary(WORK)


def test_a_remark_beside_a_call_is_no_answer():
    history = [user("go"), assistant("I look.", [tool_call("a", "read_file", {"path": "a.md"})])]
    assert "I look." not in summary([*history, tool_result("a", "text")])


def test_an_update_keeps_what_the_earlier_summary_said_and_replaces_what_changed():
    first = summary(WORK)
    later = [
        user("Run it again"),
        *call("f", "run_command", "OK", command="pytest -q"),
        *call("g", "read_file", "# Shop", path="shop/README.md"),
        assistant("All pass now."),
    ]
    second = summary(later, previous=first)
    for kept in (
        "never edit tests/",
        "docs/mill.md",
        "shop/price.py",
        "notes/out.md",
        "shop/README.md",
        "All pass now.",
    ):
        assert second.count(kept) == 1
    assert "pytest -q: OK" in second
    assert "FAILED" not in second and "exit code 1" not in second


def test_an_earlier_summary_in_somebody_elses_words_is_carried_over():
    second = summary(
        [user("go on")], previous="The goal is to port.\n- state: half done\n\n## Odd title\n- port 48213"
    )
    for kept in "The goal is to port.", "state: half done", "port 48213":
        assert kept in second


def test_rules_numbers_and_dates_outlive_talk_when_there_is_little_room():
    chat = [part for n in range(30) for part in (user(f"and what about point {'i' * n}"), assistant("fine"))]
    chat[21] = user("Never write to shop/; the cap is 412 euros.")
    text = summary([*WORK[:1], *chat], most=150)
    assert shared_counter().text(text) <= 150
    assert "2031-04-17" in text and "412 euros" in text


def test_long_paths_stay_whole_however_little_room_there_is():
    path = "src/" + "deeply/nested/" * 8 + "module.py"
    assert path in summary(call("a", "read_file", ARTICLE, path=path), most=80)


@pytest.mark.parametrize("most", [1, 5, 20, 60, 200])
def test_it_never_writes_more_tokens_than_it_may(most):
    assert 0 < shared_counter().text(summary(WORK * 5, most=most)) <= most


def test_chinese_titles_get_chinese_labels():
    sections = (
        ("目标", "最终目标"),
        ("已读文件", "路径"),
        ("修改的文件", "路径"),
        ("命令", "结果"),
        ("进展与下一步", ""),
    )
    text = summary(
        [user("读取文章，不要修改 tests/"), *WORK[1:]], Instructions("你是压缩器。", sections, 500, "短")
    )
    assert text.startswith("## 目标\n- 要求: 读取文章，不要修改 tests/\n## 已读文件\n- docs/mill.md")
    assert "## 修改的文件\n- shop/price.py" in text
    assert "- 已答: One test still fails" in text


def test_a_request_that_is_not_ours_is_summarised_as_best_it_can():
    reply = extractive_summary([user("Summarise: we sold the mill in 1871 for 300 pounds.")], 100)
    assert "1871" in reply.text
    assert extractive_summary([], 50).finish_reason == "stop"


def test_arguments_cut_in_the_middle_still_name_their_path():
    text = summary(call("a", "write_file", "ok", path="big/out.md", content="word " * 4000))
    assert "- big/out.md: word" in text


@pytest.mark.parametrize(
    "said", ["Done.", "完成了!", "{...}", "/", "  ", "", "\n\n", "- one\n- two", "(an end)"]
)
def test_a_history_counts_as_the_sum_of_its_blocks(said):
    history = render_history([user(said), *WORK, assistant(said), user("go on")])
    blocks = BLOCK_START.split(history)
    assert len(blocks) > len(WORK)
    encoded = load_encoding().encode_ordinary
    assert sum(len(encoded(block)) for block in blocks) == len(encoded(history))

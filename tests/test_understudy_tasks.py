"""Whole tasks: the understudy behind the wire, the loop, and the real tools on a copy of the playground."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from labkit.compaction import FullCompactor, SafeCutCompactor, ToolStubs
from labkit.connect import connect, disconnect
from labkit.loop import Agent
from labkit.messages import calls_of, problems
from labkit.playground import fresh_playground, playground_tools

ARTICLE_TASKS = {
    "english": (
        "read `big-article.md` and give its main point in three sentences",
        "also read `hello.txt` and `notes.md`, and write their contents with that summary into `review.txt`",
    ),
    "chinese": (
        "读取 `big-article.zh.md`，用三句话概括它的要点",
        "再读 `hello.txt` 和 `notes.md`，把它们的内容连同那份摘要一起写入 `review.txt`",
    ),
}
REPAIRS = {
    "english": (
        "Find the failing test in `shop`, read the modules involved, fix the bug BUG-7, and run the tests."
    ),
    "chinese": "找出 `shop` 里失败的测试，读相关模块，修复 BUG-7，然后运行测试。",
}


@pytest.fixture(scope="module", autouse=True)
def one_server() -> Iterator[None]:
    yield
    disconnect()


@pytest.fixture
def playground() -> Path:
    return fresh_playground("task")


def agent_in(playground: Path, **settings: Any) -> Agent:
    client, model = connect()
    settings = {"system": "You are a coding agent.", "max_turns": 30, **settings}
    return Agent(client, model, playground_tools(playground), **settings)


def run_and_note(agent: Agent, *tasks: str) -> list[tuple[str, str]]:
    """Run the tasks; the tool calls in order, each with its path or command."""
    noted: list[tuple[str, str]] = []

    def note(event: Any) -> None:
        if event.kind == "reply":
            for call in calls_of(event.message):
                arguments = json.loads(call["function"]["arguments"])
                noted.append(
                    (call["function"]["name"], arguments.get("path") or arguments.get("command", ""))
                )

    agent.on_event = note
    for task in tasks:
        agent.run(task)
    assert not problems(agent.messages)
    return noted


# --- the two tasks of source system B ---------------------------------------------------------------------


@pytest.mark.parametrize("language", ARTICLE_TASKS)
@pytest.mark.parametrize("stream", [False, True])
def test_the_article_is_summarised_and_a_review_written_from_it(playground, language, stream):
    first, second = ARTICLE_TASKS[language]
    agent = agent_in(playground, stream=stream)
    summary = agent.run(first)
    assert "main point" in summary or "主旨" in summary
    assert run_and_note(agent, second) == [
        ("read_file", "hello.txt"),
        ("read_file", "notes.md"),
        ("write_file", "review.txt"),
    ]
    review = (playground / "review.txt").read_text(encoding="utf-8")
    for part in ("hello.txt", "notes.md"):
        assert (playground / part).read_text(encoding="utf-8").strip() in review
    assert summary in review


OTHER_WORDS = [
    (
        "Please read big-article.md and tell me the main point in three sentences.",
        "Please also read hello.txt and notes.md and write what they say, together with that summary, "
        "to review.txt.",
    ),
    (
        "summarise big-article.md, 3 sentences",
        "now hello.txt and notes.md too; write both and the summary into review.txt",
    ),
    (
        "raed big-article.md and giv its main point in three sentences",
        "also raed hello.txt and notes.md and wirte their contents with that summary into review.txt",
    ),
    (
        "In three sentences, what is the main point of big-article.md?",
        "Into review.txt write the contents of hello.txt and notes.md along with that summary.",
    ),
    (
        "What does big-article.md say? Three sentences please.",
        "Write a review.txt with the contents of hello.txt and notes.md and that summary",
    ),
    (
        "Take a look at 'big-article.md' and sum it up in two sentences.",
        "Open 'hello.txt' and 'notes.md'. Then write everything, including that summary, into 'review.txt'.",
    ),
    (
        'Please provide a three-sentence summary of "big-article.md"',
        'Also read "hello.txt" and "notes.md" and produce review.txt with their contents and the summary',
    ),
    (
        "Read ./logbook/day-01.md. What is the key takeaway? Use two sentences.",
        "Read hello.txt and notes.md as well, then combine their contents with the summary in out/review.md.",
    ),
    (
        "帮我看看 big-article.zh.md 讲了什么，三句话就行",
        "还有 hello.txt 和 notes.md 也看一下，连同上面的总结一起存到 review.txt",
    ),
    (
        "麻烦您读一下“big-article.md”，两句话总结。",
        "麻烦您把“hello.txt”和“notes.md”的内容以及前面的总结保存到“review.txt”。",
    ),
    (
        "big-article.md 的要点是什么？请用3句话回答",
        "接着读取 hello.txt 与 notes.md 并将其内容连同摘要生成 review.txt",
    ),
    ("读big-article.md，用三句话给出主旨", "再读hello.txt和notes.md，将内容与摘要一并写入review.txt"),
    (
        "请打开 big-article.md，概括成三句话",
        "新建 review.txt，写上 hello.txt 和 notes.md 的内容，再加上那份概括",
    ),
    (
        "請閱讀 big-article.md，用三句話概括要點",
        "再讀 hello.txt 和 notes.md，把它們的內容連同那份摘要一起寫入 review.txt",
    ),
    (
        "read 一下 big-article.md，give me 三句话 summary",
        "再 read hello.txt 和 notes.md，把 contents 和 summary write 到 review.txt",
    ),
]


@pytest.mark.parametrize(("first", "second"), OTHER_WORDS)
def test_the_two_tasks_are_understood_in_other_words(playground, first, second):
    agent = agent_in(playground)
    summary = agent.run(first)
    made = run_and_note(agent, second)
    (target,) = [path for name, path in made if name == "write_file"]
    review = (playground / target).read_text(encoding="utf-8")
    assert summary in review
    for part in ("hello.txt", "notes.md"):
        assert (playground / part).read_text(encoding="utf-8").strip() in review


@pytest.mark.parametrize("language", ARTICLE_TASKS)
def test_the_review_survives_a_compaction_between_the_tasks(playground, language):
    first, second = ARTICLE_TASKS[language]
    agent = agent_in(playground, before_request=SafeCutCompactor(limit=6000))
    summary = agent.run(
        first.replace(".zh.md", ".md")
    )  # the longer article is the one that is over the limit
    run_and_note(agent, second)
    assert any(request.compaction for request in agent.trace.requests)
    assert summary in (playground / "review.txt").read_text(encoding="utf-8")


def test_a_summary_that_has_been_lost_is_made_again_from_the_article(playground):
    agent = agent_in(playground, before_request=SafeCutCompactor(limit=6000))
    agent.run(ARTICLE_TASKS["english"][0])
    for index, message in enumerate(agent.messages):
        if message["role"] == "assistant" and "main point" in (message["content"] or ""):
            agent.messages[index] = {**message, "content": "Understood."}
    made = run_and_note(agent, ARTICLE_TASKS["english"][1])
    assert ("read_file", "big-article.md") in made
    assert "it stored water" in (playground / "review.txt").read_text(encoding="utf-8")


# --- ten steps and more -----------------------------------------------------------------------------------


def test_the_bug_in_the_shop_is_found_and_fixed_step_by_step(playground):
    agent = agent_in(playground, max_turns=12)
    made = run_and_note(agent, REPAIRS["english"])
    names = [name for name, _ in made]
    assert len(made) >= 10
    assert names[0] == "list_files" and names.count("edit_file") == 1 and names.count("run_command") == 2
    assert ("edit_file", "shop/discounts.py") in made
    assert not any(name == "edit_file" and "tests" in path for name, path in made)
    assert "quantity > BULK_QUANTITY" in (playground / "shop/discounts.py").read_text(encoding="utf-8")
    assert "tests pass" in agent.messages[-1]["content"]


@pytest.mark.parametrize(
    "words",
    [
        "Find the failing test in the shop project, read the modules involved, fix the bug, run the tests.",
        "There is a bug in the shop. Find it and fix it, please.",
        "One of the tests in the shop folder is failing: please find out why and correct the code.",
        "Look into shop/ISSUES.md and fix the issue marked as next, then run all tests.",
        "make the tests in shop pass",
        "Solve BUG-7.",
        "fix the bulk discount bug in `shop/discounts.py` and check that the tests pass",
        "find teh fialing test in shop, read the modules, fix the bug and run the tests",
        "请运行 shop 的测试，找到失败的那个，阅读相关代码，把错误改好，再跑一遍测试。",
        "shop 里有个测试不通过，帮我修一下。",
        "帮我解决 BUG-7",
        "调试 shop 项目：先跑测试，再看代码，最后修 bug",
    ],
)
def test_the_bug_is_fixed_whatever_the_words(playground, words):
    made = run_and_note(agent_in(playground), words)
    assert len(made) >= 10
    assert "quantity > BULK_QUANTITY" in (playground / "shop/discounts.py").read_text(encoding="utf-8")


@pytest.mark.parametrize(
    "hooks", [{"before_request": SafeCutCompactor(limit=1500)}, {"after_tools": ToolStubs()}]
)
def test_a_project_that_had_to_be_looked_for_is_not_lost_with_the_listing(playground, hooks):
    run_and_note(agent_in(playground, max_turns=40, **hooks), "Solve BUG-7.")
    assert "quantity > BULK_QUANTITY" in (playground / "shop/discounts.py").read_text(encoding="utf-8")


def test_each_file_of_a_listing_is_read(playground):
    agent = agent_in(playground)
    made = run_and_note(
        agent, "List all files in the logbook and read each one; then write a summary of them to log.txt"
    )
    assert len([name for name, _ in made if name == "read_file"]) == 10


def test_the_bug_is_fixed_in_chinese_too(playground):
    agent = agent_in(playground)
    run_and_note(agent, REPAIRS["chinese"])
    assert "全部通过" in agent.messages[-1]["content"]


@pytest.mark.parametrize(
    "hooks",
    [
        {"before_request": SafeCutCompactor(limit=1500)},
        {"after_tools": ToolStubs()},
        {"after_tools": ToolStubs(keep_recent=0, min_chars=0)},
        {"after_tools": ToolStubs(keep_recent=1, describe=True)},
    ],
    ids=["safe-cut", "stubs", "no-stub-spared", "described-stubs"],
)
def test_the_bug_is_fixed_while_the_history_is_being_compacted(playground, hooks):
    agent = agent_in(playground, **hooks)
    run_and_note(agent, REPAIRS["english"])
    assert "quantity > BULK_QUANTITY" in (playground / "shop/discounts.py").read_text(encoding="utf-8")
    assert "tests pass" in agent.messages[-1]["content"]


def test_a_shop_without_a_bug_is_left_alone(playground):
    path = playground / "shop/discounts.py"
    path.write_text(path.read_text(encoding="utf-8").replace(">= BULK_Q", "> BULK_Q"), encoding="utf-8")
    agent = agent_in(playground)
    made = run_and_note(agent, REPAIRS["english"])
    assert "edit_file" not in [name for name, _ in made]
    assert "nothing to fix" in agent.messages[-1]["content"]


def test_a_bug_note_that_names_the_line_is_followed(playground):
    path = playground / "shop/discounts.py"
    code = path.read_text(encoding="utf-8").replace("more than 10 pieces", "many pieces")
    path.write_text(code, encoding="utf-8")
    note = "BUG-7: `quantity >= BULK_QUANTITY` should be `quantity > BULK_QUANTITY`."
    (playground / "shop/ISSUES.md").write_text(note, encoding="utf-8")
    run_and_note(agent_in(playground), REPAIRS["english"])
    assert "quantity > BULK_QUANTITY" in path.read_text(encoding="utf-8")


def test_a_bug_that_nothing_explains_is_reported_and_not_guessed(playground):
    path = playground / "shop/discounts.py"
    code = path.read_text(encoding="utf-8").replace("more than 10 pieces", "many pieces")
    path.write_text(code, encoding="utf-8")
    agent = agent_in(playground)
    run_and_note(agent, REPAIRS["english"])
    assert path.read_text(encoding="utf-8") == code
    assert "see no fix" in agent.messages[-1]["content"]


def test_a_task_that_was_stopped_goes_on_when_asked_to(playground):
    agent = agent_in(playground, max_turns=4)
    assert "Stopped" in agent.run(REPAIRS["english"])
    answers = [agent.run("go on") for _ in range(2)]
    assert "tests pass" in answers[-1]


# --- the rest of what it can do ---------------------------------------------------------------------------


def test_it_reads_a_whole_folder_and_writes_down_what_it_found(playground):
    agent = agent_in(playground)
    made = run_and_note(
        agent, "Read the files in `logbook` one after the other and write a one-sentence summary to `l.md`."
    )
    assert [path for name, path in made if name == "read_file"] == [
        f"logbook/day-{day:02}.md" for day in range(1, 11)
    ]
    text = (playground / "l.md").read_text(encoding="utf-8")
    assert all(f"day-{day:02}.md" in text for day in range(1, 11))


def test_it_lists_counts_searches_and_runs(playground):
    agent = agent_in(playground)
    assert "notes.md" in agent.run("List the files.")
    words = len((playground / "hello.txt").read_text(encoding="utf-8").split())
    assert f"{words} words" in agent.run("How many words are in `hello.txt`?")
    assert "shop/ISSUES.md" in agent.run("Search for `BUG-7` in `shop`.")
    assert "exit code 0" in agent.run("Run `python --version`.")


def test_it_appends_to_what_is_there(playground):
    agent = agent_in(playground)
    agent.run('Write "first line" to `log.txt`.')
    agent.run('Append "second line" to `log.txt`.')
    assert (playground / "log.txt").read_text(encoding="utf-8").split("\n\n") == [
        "first line",
        "second line\n",
    ]


def test_a_file_that_does_not_exist_is_reported_after_one_look_around(playground):
    agent = agent_in(playground)
    made = run_and_note(agent, "Read `nothere.md` and give its main point in two sentences.")
    assert made == [("read_file", "nothere.md"), ("list_files", ".")]
    assert "nothere.md" in agent.messages[-1]["content"] and "`notes.md`" in agent.messages[-1]["content"]


def test_a_task_that_asks_for_no_end_ends_at_the_loop_limit(playground):
    agent = agent_in(playground, max_turns=5)
    assert "Stopped after 5 requests" in agent.run("Read `notes.md` again and again, never stop.")


def test_a_text_that_vanishes_again_and_again_is_given_up_with_a_word(playground):
    agent = agent_in(playground, after_tools=ToolStubs(keep_recent=0, min_chars=0))
    answer = agent.run(
        "Read `hello.txt` and `notes.md` one after the other and write their contents into `both.txt`."
    )
    assert "its text was gone again" in answer
    assert len(agent.trace.requests) < 12


def test_two_fresh_runs_are_equal_byte_by_byte(playground):
    histories = []
    for name in ("one", "two"):
        disconnect()  # a server of its own: the prefix cache is the only thing that one remembers
        agent = agent_in(fresh_playground(name), stream=True)
        for task in (*ARTICLE_TASKS["english"], REPAIRS["chinese"]):
            agent.run(task)
        histories.append(json.dumps([agent.messages, agent.trace.table()]))
    assert histories[0] == histories[1]


# --- what compaction took away ----------------------------------------------------------------------------


def test_a_lost_detail_is_found_in_the_snapshot(playground):
    agent = agent_in(playground, after_input=FullCompactor(limit=3000, folder=playground / ".memory"))
    agent.run("Read `big-article.md` and give its main point in one sentence.")
    made = run_and_note(agent, "Who was the last miller?")
    assert "Elias Treloar" in agent.messages[-1]["content"]
    assert made and all(path.startswith(".memory/") for _, path in made)


def test_a_file_whose_text_became_a_stub_is_read_again_for_a_question(playground):
    agent = agent_in(playground, after_tools=ToolStubs(keep_recent=0))
    agent.run("Read `big-article.md` and give its main point in one sentence.")
    agent.run("Thanks!")
    assert run_and_note(agent, "Who was the last miller?") == [("read_file", "big-article.md")]
    assert "Elias Treloar" in agent.messages[-1]["content"]

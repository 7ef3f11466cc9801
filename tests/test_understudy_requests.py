"""What the understudy takes a user's words to ask for, in English and in Chinese."""

from __future__ import annotations

import pytest

from labkit.understudy.requests import parse
from labkit.understudy.spelling import spelled_right
from labkit.understudy.verbs import is_chinese, sentences_asked


def kinds(text: str) -> list[str]:
    return [step.kind for step in parse(text)]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("read `big-article.md` and give its main point in three sentences", ["read", "summarise"]),
        (
            "also read `hello.txt` and `notes.md`, "
            "and write their contents with that summary into `review.txt`",
            ["read", "write"],
        ),
        ("读取 `big-article.md`，用三句话概括它的要点", ["read", "summarise"]),
        ("再读 `hello.txt` 和 `notes.md`，把它们的内容连同那份摘要一起写入 `review.txt`", ["read", "write"]),
        ("List the files in `shop`.", ["list"]),
        ("What files are there?", ["list"]),
        ("列出所有文件", ["list"]),
        ("shop 里有哪些文件？", ["list"]),
        ("Search for `discount` in `shop`", ["search"]),
        ("在 `shop` 里搜索 `discount`", ["search"]),
        ("How many words are in hello.txt?", ["count"]),
        ("统计 `notes.md` 的行数", ["count"]),
        ("Run `python --version`", ["run"]),
        ("运行 `python --version`", ["run"]),
        ("What does `hello.txt` say?", ["read"]),
        ("给我讲讲 `notes.md` 里写了什么", ["read"]),
        ("Append the result to `log.txt`", ["write"]),
        ("Summarise `notes.md` in one sentence and save it to `s.txt`.", ["summarise", "write"]),
        ("Write a two-sentence summary of `notes.md` to `s.txt`", ["summarise", "write"]),
        ("Please list the files, read hello.txt, and count its words.", ["list", "read", "count"]),
        ("Find the failing test in `shop`, read the modules, fix BUG-7, run the tests", ["repair"]),
        ("找出 `shop` 里失败的测试，读相关模块，修复 BUG-7，然后运行测试", ["repair"]),
        ("Fix BUG-7 in `shop`, then write the result to `report.txt`", ["repair", "write"]),
    ],
)
def test_a_request_becomes_its_steps(text, expected):
    assert kinds(text) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("What is my name?", "ask"),
        ("Which files have you read?", "ask"),
        ("你读过哪些文件？", "ask"),
        ("When is the review due, according to `notes.md`?", "ask"),
        ("我的目标是什么？", "ask"),
        ("My name is Ada and I like to read.", "tell"),
        ("My goal is to write a review to help Ines.", "tell"),
        ("I want to fix my bike.", "tell"),
        ("I have a list of groceries.", "tell"),
        ("我叫小明，我的目标是写一份报告。", "tell"),
        ("Hello!", "tell"),
    ],
)
def test_talk_is_not_taken_for_work(text, expected):
    assert kinds(text) == [expected]


def test_files_are_found_in_backticks_quotes_and_bare():
    for text in (
        "read `a.md` and `b/c.txt`",
        "read a.md and b/c.txt",
        'read "a.md" and "b/c.txt".',
        "读a.md和b/c.txt",
    ):
        assert parse(text)[0].paths == ["a.md", "b/c.txt"], text


def test_a_dot_in_a_file_name_ends_no_sentence():
    steps = parse("Read a.md. Then count the lines of b.md.")
    assert [(step.kind, step.paths) for step in steps] == [("read", ["a.md"]), ("count", ["b.md"])]


def test_the_file_to_write_is_not_one_to_summarise():
    summarise, write = parse("Write a summary of `notes.md` into `s.txt`")
    assert summarise.paths == ["notes.md"]
    assert write.name == "s.txt"


@pytest.mark.parametrize(
    "text",
    [
        "Write a summary of `a.md` in three sentences",
        "Write a.md's main point in two sentences",
        "Save the summary of a.md as you like",
        "生成 a.md 的摘要",
    ],
)
def test_a_file_that_is_only_spoken_of_is_never_written_over(text):
    assert not [step for step in parse(text) if step.kind == "write"]


def test_a_length_said_afterwards_belongs_to_the_summary():
    for text in ("What is the main point of a.md? Two sentences, please.", "概括 a.md，两句话就行"):
        assert [(step.kind, step.paths, step.number) for step in parse(text)] == [("summarise", ["a.md"], 2)]
    assert kinds("My review has to be in three sentences.") == ["tell"]


def test_slips_of_the_keyboard_are_mended_and_other_words_left_alone():
    assert spelled_right("Raed, wirte and summarze teh contnets") == "read, write and summarize teh contents"
    for text in ("The reader writes summaries of the discount, and the repairs count", "real road research"):
        assert spelled_right(text) == text


def test_a_name_in_chinese_characters_is_a_file():
    assert parse("读 说明.md 并概括")[0].paths == ["说明.md"]


def test_explicit_use_takes_the_arguments_as_they_stand():
    first, second = parse('Use `add` with {"a": 2, "b": 3} and use read_file with `{"path": `')
    assert (first.kind, first.name, first.arguments) == ("use", "add", '{"a": 2, "b": 3}')
    assert (second.kind, second.name, second.arguments) == ("use", "read_file", '{"path": ')
    assert [step.name for step in parse('用工具 `add` 参数 {"a": 1}')] == ["add"]


@pytest.mark.parametrize(
    ("text", "number"),
    [
        ("in one sentence", 1),
        ("a two-sentence summary", 2),
        ("in 12 sentences", 12),
        ("用四句话", 4),
        ("shortly", 3),
    ],
)
def test_the_number_of_sentences_is_understood(text, number):
    assert sentences_asked(text) == number


def test_the_language_is_that_of_the_words_not_of_the_file_names():
    assert is_chinese("读 `a.md`")
    assert not is_chinese("read `文章.md`")

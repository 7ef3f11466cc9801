"""How the understudy shortens a text and finds a fact in it."""

from __future__ import annotations

import pytest

from labkit.places import shipped_playground
from labkit.understudy.reader import Passage, look_up, main_points, passages_of, sentences


def article(name: str) -> str:
    return (shipped_playground() / name).read_text(encoding="utf-8")


@pytest.mark.parametrize("name", ["big-article.md", "big-article.zh.md"])
def test_the_main_point_of_the_article_is_among_its_three_sentences(name):
    points = main_points(article(name), 3)
    assert len(points) == 3
    assert any("main point" in point or "主旨" in point for point in points)
    assert all(point in article(name) for point in points), "every sentence stands in the text, word for word"
    assert points == main_points(article(name), 3)


@pytest.mark.parametrize("number", [1, 2, 5, 10])
def test_as_many_sentences_as_asked_for_in_the_order_of_the_text(number):
    text = article("big-article.md")
    points = main_points(text, number)
    assert len(points) == number
    assert [text.index(point) for point in points] == sorted(text.index(point) for point in points)


@pytest.mark.parametrize("text", ["", "\n\n", "# Only a heading", "|a|b|\n|-|-|", "```\ncode\n```"])
def test_a_text_without_prose_does_no_harm(text):
    assert len(main_points(text, 3)) <= 3


def test_sentences_are_split_in_both_scripts():
    assert sentences("It cost 4.2 euros. Fine! 是吗？是的。") == [
        "It cost 4.2 euros.",
        "Fine!",
        "是吗？",
        "是的。",
    ]


@pytest.mark.parametrize(
    ("question", "answer"),
    [
        ("Who was the last miller?", "Elias Treloar"),
        ("How wide is the wheel?", "4.9 metres"),
        ("When did Grace change the order of things?", "1713"),
        ("What did Hannah Treloar write about water below the sill?", "sill"),
    ],
)
def test_a_fact_is_found_in_the_article(question, answer):
    found = look_up(question, list(passages_of("big-article.md", article("big-article.md"))))
    assert found is not None and answer in found.text


@pytest.mark.parametrize(
    "question", ["What is the price of gold?", "Who is the president of Mars?", "???", ""]
)
def test_what_is_not_there_is_not_found(question):
    assert look_up(question, list(passages_of("big-article.md", article("big-article.md")))) is None


def test_a_chinese_question_finds_its_sentence():
    found = look_up(
        "评审的截止日期是什么时候？",
        [Passage("a", "海水很深。"), Passage("a", "评审的截止日期是三月十四日。")],
    )
    assert found is not None and "三月" in found.text

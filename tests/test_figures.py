"""The published figures of the three source systems, made with the understudy over HTTP."""

import pytest

from labkit.figures import figures
from labkit.messages import problems


@pytest.fixture(scope="module")
def made():
    return list(figures())


def test_a_makes_nine_messages_of_twenty_one(made):
    figure = made[0]
    assert (len(figure.before), len(figure.compaction.messages)) == (21, 9)


def test_b_makes_about_two_hundred_tokens_of_about_seven_thousand_and_keeps_the_state(made):
    compaction = made[1].compaction
    assert 6500 < compaction.tokens_before < 7700
    assert 150 < compaction.tokens_after < 300
    kept = "\n".join(message["content"] for message in compaction.messages)
    assert "big-article.md" in kept  # the file read
    assert "lasted because it stored water" in kept  # what was found
    assert "review.txt" in kept  # what is to be done now


def test_c_makes_three_messages_of_dozens_with_the_snapshots_path_in_the_second(made):
    figure = made[2]
    assert len(figure.before) > 24
    first, second, third = figure.compaction.messages
    assert [first["role"], second["role"], third["role"]] == ["system", "user", "assistant"]
    assert figure.compaction.snapshot.name in second["content"]


@pytest.mark.parametrize("place", range(3))
def test_what_is_left_is_acceptable_and_the_line_shows_both_figures(made, place):
    figure = made[place]
    assert problems(figure.compaction.messages) == []
    for number in (figure.compaction.tokens_before, figure.compaction.tokens_after):
        assert f"{number:,}" in str(figure)

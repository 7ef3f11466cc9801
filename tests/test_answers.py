"""The checks are checked: right answers pass, wrong ones get the words meant for them."""

from __future__ import annotations

import importlib.util
from pathlib import Path
from types import ModuleType

import pytest

from labkit.checks import registry
from labkit.checks.card import Card
from labkit.checks.engine import Verdict, run

FOLDER = Path(__file__).parent / "answers"


def load(path: Path) -> ModuleType:
    spec = importlib.util.spec_from_file_location(f"answers_{path.stem}", path)
    assert spec and spec.loader
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def file_of(exercise_id: str) -> Path:
    return FOLDER / f"ex_{exercise_id.replace('.', '_')}.py"


def names(function: object) -> str:
    functions = function if isinstance(function, tuple) else (function,)
    return "+".join(getattr(each, "__name__", repr(each)) for each in functions)


IDS = [exercise.id for exercise in registry.exercises()]
ANSWERS = {each: load(file_of(each)) for each in IDS if file_of(each).exists()}
RIGHT = [(each, function) for each, module in ANSWERS.items() for function in module.RIGHT]
WRONG = [(each, *wrong) for each, module in ANSWERS.items() for wrong in module.WRONG]


def ids_of(cases: list) -> list[str]:
    return [f"{case[0]}-{names(case[1])}" for case in cases]


def judge(exercise_id: str, function: object) -> Verdict:
    return run(registry.find(exercise_id), function, seconds=0.5)


@pytest.mark.parametrize("exercise_id", IDS)
def test_every_exercise_has_two_right_and_four_wrong_answers(exercise_id: str) -> None:
    assert exercise_id in ANSWERS, f"{file_of(exercise_id).name} is missing in tests/answers"
    assert len(ANSWERS[exercise_id].RIGHT) >= 2
    assert len(ANSWERS[exercise_id].WRONG) >= 4


@pytest.mark.parametrize("exercise_id", IDS)
def test_labkits_own_function_holds_to_every_idea(exercise_id: str) -> None:
    def copied(answer):
        """The same function as another object, so that it counts as the learner's."""
        return type(answer)(
            answer.__code__, answer.__globals__, answer.__name__, answer.__defaults__, answer.__closure__
        )

    exercise = registry.find(exercise_id)
    copies = []
    for answer in exercise.answers:
        copies.append(copied(answer))
        copies[-1].__kwdefaults__ = answer.__kwdefaults__
    verdict = run(exercise, tuple(copies))
    assert verdict.state == "passed", str(Card(verdict))


@pytest.mark.parametrize(("exercise_id", "function"), RIGHT, ids=ids_of(RIGHT))
def test_a_right_answer_passes(exercise_id: str, function: object) -> None:
    verdict = judge(exercise_id, function)
    assert verdict.state == "passed", str(Card(verdict))


@pytest.mark.parametrize(("exercise_id", "function", "idea", "words"), WRONG, ids=ids_of(WRONG))
def test_a_wrong_answer_gets_the_words_meant_for_it(
    exercise_id: str, function: object, idea: str, words: str
) -> None:
    verdict = judge(exercise_id, function)
    card = str(Card(verdict))
    assert verdict.state == "borrowed", card
    assert verdict.broken is not None
    assert idea in (verdict.idea.id if verdict.idea else "", verdict.broken.kind), card
    assert words in card, card
    for _, text in Card(verdict).rows:
        assert text, f"a card without one of its parts:\n{card}"


@pytest.mark.parametrize("path", sorted(FOLDER.glob("ex_*.py")), ids=lambda path: path.stem)
def test_answers_belong_to_an_exercise(path: Path) -> None:
    assert path.stem.removeprefix("ex_").replace("_", ".") in IDS

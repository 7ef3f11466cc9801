"""What a user's words ask for: a request becomes a list of steps. English and Chinese.

Rules, not understanding: a request is cut into clauses, each clause is known by its verb, and marked words
(`code`, quotes, file names) are what the verb works on.
"""

from __future__ import annotations

import re

from labkit.understudy.explicit import explicit_uses
from labkit.understudy.marks import Mark, hide, marks_in, show
from labkit.understudy.spelling import simplified, spelled_right
from labkit.understudy.step import Step
from labkit.understudy.verbs import (
    ORDER,
    QUESTION,
    is_question,
    kinds_of,
    says_only_how_long,
    search_words,
    sentences_asked,
    settle,
    traits_of,
)

_SPLIT = re.compile(
    r"(?<=[。；;！!？?\n])\s*|(?<=\.)(?=\s|$)|[，,、]\s*|\s+(?:and then|then|and|afterwards|finally)\s+"
    r"|(?=然后|接着|随后|最后|(?<!一)(?:并且|并把|并将|并(?=用|给|写|读|运|总|概|生))|再(?=读|把|将|用|运|写|看|打|跑))",
    re.I,
)


LONGEST = 8_000
"""Characters of a request that are read for what it asks."""


def parse(text: str) -> list[Step]:
    """The steps that a request asks for, in order. Text that asks for nothing known becomes one `ask` or
    `tell`.

    >>> [step.kind for step in parse("read `a.md` and give its main point in two sentences")]
    ['read', 'summarise']
    """
    if len(text) > LONGEST:  # a pasted text: what is to be done with it is said before or after it
        text = f"{text[: LONGEST // 2]}\n{text[-LONGEST // 2 :]}"
    uses, rest = explicit_uses(text)
    hidden, marks = hide(rest)
    hidden = simplified(spelled_right(hidden))
    steps = [step for clause in clauses(hidden) for step in steps_of(clause, marks)]
    steps = one_repair(steps, rest, tuple(marks))
    if not steps and not uses:
        kind = "ask" if QUESTION.search(rest.strip()) else "tell"
        steps = [Step(kind, text.strip(), tuple(marks))]
    return uses + steps


_REPAIRABLE = re.compile(r"\b(bugs?|tests?|errors?|issue|code|[A-Z]+-\d+)\b|bug|错误|缺陷|测试|代码", re.I)


def one_repair(steps: list[Step], text: str, marks: tuple[Mark, ...]) -> list[Step]:
    """Finding the test, reading the modules, fixing and running the tests belong to one repair."""
    if not any(step.kind == "repair" for step in steps):
        return steps
    if not _REPAIRABLE.search(text):  # 'fix my bike'
        return [step for step in steps if step.kind != "repair"]
    others = [step for step in steps if step.kind in ("write", "summarise")]
    taken = {mark for step in others for mark in step.marks}
    whole = Step("repair", text.strip(), tuple(mark for mark in marks if mark not in taken))
    return [whole, *others]


# --- clauses ----------------------------------------------------------------------------------------------


def clauses(hidden: str) -> list[str]:
    """A request cut at punctuation and joining words; a piece without a verb belongs to the one before."""
    found: list[str] = []
    between = 0
    for piece, end in _pieces(hidden):
        if found and belongs_to(found[-1], piece):
            found[-1] += hidden[between : end - len(piece)] + piece
        else:
            found.append(piece)
        between = end
    return found


def belongs_to(before: str, piece: str) -> bool:
    """Whether a piece is part of the clause before it: it has no verb, or that clause waits for one."""
    if not kinds_of(piece) and not is_question(piece):
        return True
    if says_only_how_long(piece) and "summarise" in kinds_of(before):
        return True
    if kinds_of(before) or before.rstrip().endswith(("?", "？")):
        return False
    return not kinds_of(piece) or not is_question(before)


def _pieces(hidden: str) -> list[tuple[str, int]]:
    pieces, start = [], 0
    for gap in _SPLIT.finditer(hidden):
        pieces.append((hidden[start : gap.start()], gap.start()))
        start = gap.end()
    pieces.append((hidden[start:], len(hidden)))
    return [(piece, end) for piece, end in pieces if piece.strip(" .。,，")]


def steps_of(clause: str, marks: list[Mark]) -> list[Step]:
    """The steps of one clause, in the order in which they have to be done."""
    shown, own = show(clause, marks).strip(" ,，.。"), tuple(marks_in(clause, marks))
    kinds = settle(set(kinds_of(clause)), clause)
    traits = traits_of(clause)
    steps = []
    for kind in (kind for kind in ORDER if kind in kinds):
        number = sentences_asked(clause, default=0) if kind == "summarise" else 0
        target = target_of(clause, marks) if "write" in kinds else ""
        words = own if kind == "write" else tuple(mark for mark in own if mark.text != target)
        step = Step(kind, shown, words, number, name=target if kind == "write" else "", traits=traits)
        steps += [step] if is_doable(step) else []
    return steps or ([Step("ask", shown, own)] if is_question(clause) else [])


def is_doable(step: Step) -> bool:
    """Whether a clause has what its verb needs: 'I like to read' names nothing to read."""
    if step.kind == "write":
        return bool(step.name)
    if step.kind == "read":
        pronoun = r"\b(it|them|this|that|these|those|files?|article|modules?|all|each)\b|它|文件|文章|这|那"
        return bool(step.marks) or re.search(pronoun, step.clause, re.I) is not None
    if step.kind == "search":
        return bool(step.marks) or bool(search_words(step.clause))
    if step.kind == "run":
        return bool(step.quoted) or bool(step.paths) or "tests" in step.traits
    return True


_INTO = (
    r"(?:\b(?:to|into|in|as|file|called|named)"
    r"|写入|写进|写到|写在|保存[到为进]|存[到入进为]|追加到?|记录到|新建|创建|文件|到|进|在)"
)
_MAKE = r"(?:\b(?:write|create|make|produce|generate)|生成)"
_TARGET = re.compile(
    rf"{_INTO}\s*(?:(?:the|a|end|of|top|new|file|called|named) )*\ue000(\d+)\ue001"
    rf"|{_MAKE}\s*(?:(?:me|the|a|new|file|called|named) )*\ue000(\d+)\ue001(?!['’]s|\s*的)",
    re.I,
)


def target_of(clause: str, marks: list[Mark]) -> str:
    """The file that a clause writes to: the one after `to`, `into` or the verb. A file that is named in
    another way ("a summary of it.md in two sentences") is never written over.
    """
    paths = [mark.text for mark in marks_in(clause, marks) if mark.is_path]
    after = [into or made for into, made in _TARGET.findall(clause)]
    named = [marks[int(place)].text for place in after if marks[int(place)].is_path]
    return [*paths[-1:], *named][-1] if named or ("append" in traits_of(clause) and paths) else ""

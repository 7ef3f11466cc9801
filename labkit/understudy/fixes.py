"""Where a fix comes from: only from what was read.

Either a note says which text should be which, or a function's description and its comparison disagree.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass


@dataclass(frozen=True)
class Fix:
    """One edit, and the sentence that says why."""

    path: str
    old: str
    new: str
    why: str


def find_fixes(path: str, code: str, notes: str, chinese: bool = False) -> Iterator[Fix]:
    """The edits that a module's code and the notes on its bugs suggest, the surest first."""
    yield from from_notes(path, code, notes, chinese)
    yield from from_descriptions(path, code, chinese)


_SHOULD_BE = (
    r"`([^`\n]+)`\s*"
    r"(?:should (?:be|read|say)|must be|->|→|becomes|应为|应该是|应当是|改为|改成)"
    r"\s*`([^`\n]+)`"
)
_REPLACE = r"(?:replace|change|把|将)\s*`([^`\n]+)`\s*(?:with|by|to|into|改为|改成|换成)\s*`([^`\n]+)`"


def from_notes(path: str, code: str, notes: str, chinese: bool) -> Iterator[Fix]:
    """A note that names a text of the code, and what it should be.

    >>> [fix.new for fix in from_notes("a.py", "x = 1", "In a.py, `x = 1` should be `x = 2`.", False)]
    ['x = 2']
    """
    for old, new in re.findall(_SHOULD_BE, notes) + re.findall(_REPLACE, notes, re.I):
        if code.count(old) == 1 and old != new:
            why = f"The notes say that `{old}` should be `{new}`. I change it in `{path}`."
            yield Fix(
                path, old, new, f"说明里写着 `{old}` 应为 `{new}`。我来改 `{path}`。" if chinese else why
            )


MEANINGS = (
    (r"\b(no|not) more than\b|\bat most\b|\bup to\b|不超过|至多|最多", "<="),
    (r"\b(no|not) (less|fewer) than\b|\bat least\b|\bor more\b|至少|不少于", ">="),
    (r"\bmore than\b|\bexceeds?\b|\babove\b|\bover\b|超过|多于|大于", ">"),
    (r"\b(less|fewer) than\b|\bbelow\b|\bunder\b|少于|低于|小于", "<"),
)
"""What words of comparison mean as an operator; the first that fits counts."""


def from_descriptions(path: str, code: str, chinese: bool) -> Iterator[Fix]:
    """A function whose docstring says one comparison and whose code makes its neighbour: `>=` where it says
    "more than".

    >>> text = 'def big(n):\\n    "\"\"More than ten."\"\"\\n    return n >= 10\\n'
    >>> [fix.new for fix in from_descriptions("a.py", text, False)]
    ['return n > 10']
    """
    for block in re.split(r"(?m)^(?=\s*def )", code):
        described = re.search(r'"""(.*?)"""', block, re.S)
        if not described:
            continue
        meaning = next((sign for words, sign in MEANINGS if re.search(words, described[1], re.I)), "")
        line = re.search(r"^[ \t]*((?:if|elif|while|return)\b.*?(<=|>=|<|>).*)$", block, re.M)
        if (
            not meaning
            or not line
            or line[2] == meaning
            or line[2][0] != meaning[0]
            or code.count(line[1]) != 1
        ):
            continue
        said = " ".join(described[1].split()).split(". ")[0].rstrip(".")
        why = f'In `{path}` the description says "{said}", but the code says `{line[1]}`. I change that line.'
        why_zh = f"`{path}` 的说明写着“{said}”，代码写的却是 `{line[1]}`。我来改这一行。"
        yield Fix(path, line[1], line[1].replace(line[2], meaning, 1), why_zh if chinese else why)

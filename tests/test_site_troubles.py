"""The troubleshooting page has an entry for every error of labkit, and for every text that one can have.

The texts are read from labkit's own source: whoever adds an error without an entry finds this test red.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from click.testing import CliRunner

import labkit
from labkit.cli import cli
from labkit.errors import LabkitError, SetupError
from labkit.site.pages import troubleshooting_page
from labkit.site.troubles import error_classes, troubles

SOURCE = Path(labkit.__file__).parent
NAMES = {kind.__name__ for kind in error_classes()}
GAP = "…"

# Texts that are put together elsewhere, as a person meets them.
MADE_ELSEWHERE = {
    "ContextLimitError": "Nothing to cut; the floor is 9 tokens (3 of them the system part), 2 over the "
    "limit of 7. The largest message is number 1 (user) with 6 tokens, 2 too many.",
    "ToolError": "x is a folder, not a file.",
    "StreamInterrupted": "The stream ended without a finish reason.",
}
BARE = "…: …."
"""The entry for a bare reason of the system's. It must not stand in for a text that says more."""


def texts_of(node: ast.expr, names: dict[str, list[str]]) -> list[str]:
    """The texts that an expression may be, with a gap for each value in it."""
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        return [node.value]
    if isinstance(node, ast.JoinedStr):
        parts = (str(part.value) if isinstance(part, ast.Constant) else GAP for part in node.values)
        return ["".join(parts)]
    return names.get(node.id, []) if isinstance(node, ast.Name) else []


def local_texts(function: ast.AST) -> dict[str, list[str]]:
    names: dict[str, list[str]] = {}
    for node in ast.walk(function):
        if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name):
            names.setdefault(node.targets[0].id, []).extend(texts_of(node.value, {}))
    return names


def raised() -> Iterator[tuple[str, str]]:
    """Each error that labkit makes: its class and its text; only a gap when the text is made elsewhere."""
    for path in sorted(SOURCE.rglob("*.py")):
        for function in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if not isinstance(function, ast.FunctionDef):
                continue
            names = local_texts(function)
            for node in ast.walk(function):
                if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in NAMES:
                    found = texts_of(node.args[0], names)
                    for text in found or [GAP]:
                        yield node.func.id, text


def entries(name: str) -> list[str]:
    return [text.says for trouble in troubles() if trouble.name == name for text in trouble.texts]


def fits(entry: str, text: str) -> bool:
    """Whether a text is one of those that an entry stands for."""
    pattern = re.escape(entry).replace(GAP, "(?:.|\n)*")
    return re.fullmatch(pattern, text) is not None


def test_labkits_source_is_read():
    found = list(raised())
    assert len(found) > 70
    assert ("SetupError", "Port … cannot be used: ….") in found


@pytest.mark.parametrize("name,text", sorted(set(raised())))
def test_every_text_of_an_error_has_an_entry(name, text):
    if not re.search(r"\w", text) and text != BARE:
        text = MADE_ELSEWHERE[name]
    assert any(fits(entry, text) for entry in entries(name) if entry != BARE or text == BARE)


@pytest.mark.parametrize("kind", error_classes(), ids=lambda kind: kind.__name__)
def test_every_error_has_a_place_on_the_page_and_names_it(kind):
    assert [trouble.slug for trouble in troubles() if trouble.name == kind.__name__] == [kind.page]
    assert f'id="{kind.page}"' in troubleshooting_page()
    assert f"troubleshooting.html#{kind.page}" in f"{SetupError.more.fget(kind)}"


def test_every_entry_belongs_to_an_error_that_labkit_makes():
    """An entry whose text is gone misleads. (The words of the service itself are no text of labkit's.)"""
    made = [*set(raised()), *MADE_ELSEWHERE.items()]
    reasons = re.findall(
        r'\(f"(\{name\} .+?)", "', (SOURCE / "sandbox" / "paths.py").read_text(encoding="utf-8")
    )
    made += [("ToolError", re.sub(r"\{.+?\}", GAP, reason)) for reason in reasons]
    made += [("StreamInterrupted", "The stream broke off: reset.")]
    stale = [
        (trouble.name, text.says)
        for trouble in troubles()
        if trouble.name != "InvalidHistory"
        for text in trouble.texts
        if not any(trouble.name == name and fits(text.says, said) for name, said in made)
    ]
    assert stale == []


def test_the_services_own_words_for_an_invalid_history_are_those_of_the_understudy():
    source = " ".join(
        str(node.value)
        for node in ast.walk(ast.parse((SOURCE / "understudy" / "refusals.py").read_text(encoding="utf-8")))
        if isinstance(node, ast.Constant) and isinstance(node.value, str)
    )
    for says in filter(lambda says: "refused the history" not in says, entries("InvalidHistory")):
        for part in filter(None, (piece.strip(" .'") for piece in says.split(GAP))):
            longest = max(re.split(r"'messages': ", part), key=len)
            assert longest[:60] in source, longest


def test_a_traceback_names_the_place_and_the_text_does_not():
    error = LabkitError("It rains.", "Take a coat.")
    assert str(error) == "It rains. Take a coat."
    assert error.__notes__ == [error.more]


def test_the_command_line_names_the_place():
    done = CliRunner().invoke(cli, ["run", "99"])
    assert done.exit_code == 1
    assert (
        done.stderr.splitlines()[-1]
        == "More: troubleshooting.html#notebook (`labkit render` makes the pages)."
    )

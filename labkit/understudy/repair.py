"""Repairing the small project: run the tests, follow the traceback and the imports, read, edit, run again.

The fix comes from what was read: a note that says which text should be which, or a function whose description and
whose comparison disagree ("more than" against `>=`).
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from dataclasses import dataclass

from labkit.messages import text_of
from labkit.understudy.draft import Draft
from labkit.understudy.reader import terms
from labkit.understudy.requests import Step
from labkit.understudy.steps import need_listing, shorten
from labkit.understudy.view import Done
from labkit.understudy.work import Work, entries, named, need_texts, text_of_file

TEST_COMMAND = re.compile(r"^\s*((?:python3? -m )?(?:unittest|pytest)\b[^\n`]*)", re.M)
NOTE = re.compile(r"(^|/)(issues?|bugs?|known|todo)[\w-]*\.(md|txt|rst)$", re.I)
README = re.compile(r"(^|/)readme[\w.]*$", re.I)


@dataclass(frozen=True)
class Fix:
    """One edit, and why."""

    path: str
    old: str
    new: str
    why: str


def repair(step: Step, work: Work) -> Draft | None:
    view, place = work.view, step.place or "."
    if not (view.hands.can("run") and view.hands.can("read") and view.hands.can("edit")):
        work.say(
            "To repair something I need tools that run commands, read files and edit files.",
            "要修复错误，我需要运行命令、读文件和编辑文件的工具。",
        )
        return None
    edits = [done for done in view.made("edit") if not done.failed or done.lost]
    if edits or view.memory.tells_of(r"chang|edit|修改|已改", f"{place}/") and view.from_summary:
        return check_again(work, place, edits[-1] if edits else None)
    return look_around(work, place) or run_first(work, place) or follow(step, work, place)


def look_around(work: Work, place: str) -> Draft | None:
    """The folder's list, then its README: each once."""
    if not work.view.made("list", place):
        listing = need_listing(work, place)
        return listing if isinstance(listing, Draft) else None
    readmes = [path for path in known_files(work, place) if README.search(path)]
    return read_once(work, readmes[:1], "It should say how the tests are run.", "里面应该写着怎样运行测试。")


def read_once(work: Work, paths: list[str], english: str = "", chinese: str = "") -> Draft | None:
    """Calls for those files that were not read for this task yet."""
    missing = [path for path in paths if not work.view.made("read", path) and path not in work.failures]
    if not missing:
        return None
    call = work.view.hands.call("read", path=missing[0])
    return work.want(f"I read `{missing[0]}`. {english}".strip(), f"我来读 `{missing[0]}`。{chinese}", [call])


def known_files(work: Work, place: str) -> list[str]:
    return [path for done in work.view.made("list", place) if done.useful for path in entries(done)]


# --- the tests --------------------------------------------------------------------------------------------


def test_command(work: Work, place: str) -> str:
    """How the tests are run: as before, as the README says, or as is usual."""
    ran = [str(done.arguments.get("command", "")) for done in work.view.made("run")]
    told = [
        found.strip()
        for done in work.view.made("read")
        if README.search(done.path) and done.useful
        for found in TEST_COMMAND.findall(done.result or "")
    ]
    usual = "python -m unittest" if place == "." else f"python -m unittest discover -s {place} -t {place}"
    fitting = [command for command in told if place == "." or place in command.split()]
    return next(iter([*(c for c in ran if "unittest" in c or "pytest" in c), *fitting]), usual)


def run_first(work: Work, place: str) -> Draft | None:
    """The first run of the tests; once more when its output is lost and nothing was written down of it."""
    runs = work.view.made("run")
    if not runs or (runs[-1].lost and not failing_from_own_words(work) and len(runs) < 3):
        command = test_command(work, place)
        return work.want("I run the tests.", "我来运行测试。", [work.view.hands.call("run", command=command)])
    return None


def passed(result: str) -> bool:
    return re.search(r"^OK\b|\d+ passed", result, re.M) is not None and not re.search(
        r"FAILED|\d+ failed", result
    )


def failing(run: Done, place: str) -> tuple[str, str]:
    """The name of the first failing test, and the file it stands in; empty where the output does not say."""
    output = run.result or ""
    name = re.search(r"^(?:FAIL|ERROR|FAILED):? (?:\S+::)?(\w+)", output, re.M)
    files = re.findall(r"File \"([^\"]+)\", line \d+|^(\S+\.py):\d+", output, re.M)
    paths = [(quoted or bare).replace("\\", "/") for quoted, bare in files]
    tests = [path for path in paths if re.search(r"(^|/)tests?[/_]", path)]
    path = (tests or paths or [""])[0]
    if place != "." and f"/{place}/" in path:
        path = place + path.rpartition(f"/{place}")[2]
    return (name[1] if name else ""), path.lstrip("/")


def failing_from_own_words(work: Work) -> tuple[str, str] | None:
    """The failing test as the understudy has written it down, for when the output itself is gone."""
    for message in work.view.messages[work.view.start + 1 :]:
        text = text_of(message.get("content")) if message.get("role") == "assistant" else ""
        found = re.search(r"(?:The test|测试) `(\w*)` (?:in|在) `([^`]+)`", text)
        if found:
            return found[1], found[2]
    return None


def check_again(work: Work, place: str, edit: Done | None) -> Draft | None:
    """After the edit: run the tests again and report."""
    runs = work.view.made("run", after=edit.index if edit else work.view.start)
    if not runs:
        command = test_command(work, place)
        return work.want(
            "I run the tests again.", "我再运行一次测试。", [work.view.hands.call("run", command=command)]
        )
    result = runs[-1].result or ""
    what = f"`{edit.path}`" if edit else f"`{place}`"
    old, new = (str(edit.arguments.get(key, "")).strip() for key in ("old", "new")) if edit else ("", "")
    change = work.view.says(f" `{old}` is now `{new}`.", f"`{old}` 改成了 `{new}`。") if old else ""
    ran = re.search(r"Ran (\d+) tests?", result)
    if runs[-1].lost or passed(result):
        number = f" ({ran[1]})" if ran else ""
        work.say(
            f"The bug in {what} is fixed and all tests{number} pass.{change}",
            f"{what} 的错误已修复，所有测试{number}通过。{change}",
        )
    else:
        work.say(
            f"I changed {what}, but tests still fail:{change}\n{shorten(result)}",
            f"我改了 {what}，但测试仍未通过：{change}\n{shorten(result)}",
        )
    return None


# --- from the failing test to the fix ---------------------------------------------------------------------


def follow(step: Step, work: Work, place: str) -> Draft | None:
    """Read the failing test, the modules it leads to, the bug note; then edit."""
    run = work.view.made("run")[-1]
    if run.useful and passed(run.result or ""):
        work.say(
            f"All tests in `{place}` pass; there is nothing to fix.",
            f"`{place}` 的测试全部通过，没有要修的。",
        )
        return None
    name, test = failing(run, place) if run.useful else (failing_from_own_words(work) or ("", ""))
    if not test:
        work.say(
            f"The tests did not run: {shorten(run.result or '')}",
            f"测试没有运行起来：{shorten(run.result or '')}",
        )
        return None
    notes = [path for path in known_files(work, place) if NOTE.search(path)]
    told = read_once(work, [test], "", "")
    if told:
        english, chinese = (
            f"The test `{name}` in `{test}` fails; I read it.",
            f"测试 `{name}` 在 `{test}` 里，没有通过；我来读它。",
        )
        return Draft(work.view.says(english, chinese), told.calls)
    wanted = read_once(work, imported(work, place), "The failing test leads there.", "没通过的测试用到了它。")
    wanted = wanted or read_once(work, notes, "It may say what is expected.", "里面可能写着应有的行为。")
    return wanted or apply_fix(step, work, place, f"{name} {test}")


def imported(work: Work, place: str) -> list[str]:
    """The project's modules that the files read so far import, in the order in which they were met."""
    listed = known_files(work, place)
    found: list[str] = []
    for done in work.view.made("read"):
        if done.path.endswith(".py") and done.useful:
            names = re.findall(r"^\s*(?:from|import)\s+([\w.]+)", done.result or "", re.M)
            paths = [("" if place == "." else f"{place}/") + name.split(".")[-1] + ".py" for name in names]
            ours = [
                p for p, n in zip(paths, names, strict=True) if n.split(".")[0] not in sys.stdlib_module_names
            ]
            found += [path for path in ours if path in listed or not listed]
    return list(dict.fromkeys(found))


def apply_fix(step: Step, work: Work, place: str, clues: str) -> Draft | None:
    """The edit, when what was read shows it; lost modules are read again first, the likeliest one before others."""
    view = work.view
    read = [done.path for done in view.made("read") if done.path.endswith(".py") and "test" not in done.path]
    notes = " ".join(
        text_of_file(view, done.path) or "" for done in view.made("read") if NOTE.search(done.path)
    )
    words = set(terms(f"{clues} {step.clause}".replace("_", " ").replace("/", " ")))
    modules = sorted(
        dict.fromkeys(read),
        key=lambda path: -len(set(terms(path.replace("_", " ").replace("/", " "))) & words),
    )
    for path in modules:
        text = text_of_file(view, path)
        if text is None:
            wanted = need_texts(work, [path])
            if wanted:
                return wanted
            continue
        fix = next(iter([*from_note(path, text, notes), *from_description(path, text)]), None)
        if fix:
            call = view.hands.call("edit", path=fix.path, old=fix.old, new=fix.new)
            return work.want(f"{fix.why} I change that line.", f"{fix.why} 我来改这一行。", [call])
    work.say(
        f"I have read {named(modules)} and see no fix in what they and the notes say.",
        f"我读了 {named(modules, ' 和 ')}，从中看不出该怎样修。",
    )
    return None


def from_note(path: str, text: str, notes: str) -> Iterator[Fix]:
    """A note that names the text and what it should be: "`a` should be `b`"."""
    recipe = (
        r"`([^`\n]+)`\s*(?:should (?:be|read|say)|must be|->|→|becomes|应为|应该是|改为|改成)\s*`([^`\n]+)`"
    )
    swap = r"(?:replace|change|把|将)\s*`([^`\n]+)`\s*(?:with|by|to|into|改为|改成|换成)\s*`([^`\n]+)`"
    for old, new in re.findall(recipe, notes) + re.findall(swap, notes, re.I):
        if text.count(old) == 1:
            yield Fix(path, old, new, f"The note says that `{old}` should be `{new}`.")


MEANINGS = (
    (r"\b(no|not) more than\b|\bat most\b|\bup to\b|不超过|至多|最多", "<="),
    (r"\b(no|not) (less|fewer) than\b|\bat least\b|\bor more\b|至少|不少于", ">="),
    (r"\bmore than\b|\bexceeds?\b|\babove\b|\bover\b|超过|多于|大于", ">"),
    (r"\b(less|fewer) than\b|\bbelow\b|\bunder\b|少于|低于|小于", "<"),
)
"""What words of comparison mean as an operator; the first that fits counts."""


def from_description(path: str, text: str) -> Iterator[Fix]:
    """A function whose docstring says one comparison and whose code makes its neighbour: `>` for `>=`, `<` for `<=`."""
    for block in re.split(r"(?m)^(?=\s*def )", text):
        described = re.search(r'"""(.*?)"""', block, re.S)
        meaning = next(
            (sign for words, sign in MEANINGS if described and re.search(words, described[1], re.I)), ""
        )
        line = re.search(r"^[ \t]*((?:if|elif|while|return)\b.*?(<=|>=|<|>).*)$", block, re.M)
        if not described or not meaning or not line or line[2] == meaning or line[2][0] != meaning[0]:
            continue
        new = line[1].replace(line[2], meaning, 1)
        if text.count(line[1]) == 1:
            said = " ".join(described[1].split()).split(". ")[0]
            yield Fix(
                path,
                line[1],
                new,
                f'In `{path}` the description says "{said}", but the code says `{line[1]}`.',
            )

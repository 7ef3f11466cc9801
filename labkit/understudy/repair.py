"""Repairing the small project: run the tests, follow the traceback and the imports, read, edit, run again.

Each request is read afresh, so what has been found out must stand in it. The understudy writes down what it
will need later ("The test `x` in `y` fails"): its own words outlive the tool results that compaction clears
away.
"""

from __future__ import annotations

import re
import sys

from labkit.understudy.draft import Draft
from labkit.understudy.fixes import find_fixes
from labkit.understudy.marks import hide
from labkit.understudy.reader import terms
from labkit.understudy.reading import need_listing
from labkit.understudy.step import Step
from labkit.understudy.view import Done
from labkit.understudy.work import Work, entries, named, need_texts, own_notes, shorten, text_of_file

SCRIPT = re.compile(r"python3? ([\w./-]*tests?[\w-]*\.py)")
TEST_COMMAND = re.compile(r"^\s*((?:python3? -m )?(?:unittest|pytest)\b[^\n`]*)", re.M)
NOTE = re.compile(r"(^|/)(issues?|bugs?|known|todo)[\w-]*\.(md|txt|rst)$", re.I)
README = re.compile(r"(^|/)readme[\w.]*$", re.I)
TEST_FILE = re.compile(r"(^|/)tests?[/_]")

FAILS = r"(?:The test|测试) `(\w*)` (?:in|在) `([^`]+)`"
USES = r"(?:The code uses|代码用到) (.+?)[;；]"
BUGS = r"(?:Known bugs stand in|已知的错误写在) `([^`]+)`"


def repair(step: Step, work: Work) -> Draft | None:
    view = work.view
    if not (view.hands.can("run") and view.hands.can("read") and view.hands.can("edit")):
        work.say(
            "To repair something I need tools that run commands, read files and edit files.",
            "要修复错误，我需要运行命令、读文件和编辑文件的工具。",
        )
        return None
    place = project_of(step, work)
    if isinstance(place, Draft):
        return place
    edits = [done for done in view.made("edit") if done.lost or not done.failed]
    told = (
        [path for path in view.memory.files("changed") if path.endswith(".py")] if view.from_summary else []
    )
    if edits or told:
        return check_again(work, place, edits[-1] if edits else None)
    return look_around(work, place) or run_first(work, place) or follow(step, work, place)


# --- where ------------------------------------------------------------------------------------------------


def project_of(step: Step, work: Work) -> str | Draft:
    """The folder with the project: the one that the user's words name, else the one that holds code. Calls to
    look for it come first.
    """
    view = work.view
    inside = [path.split("/")[0] for path in step.paths if "/" in path.removeprefix("./")]
    named_place = step.folders[-1].rstrip("/") if step.folders else next(iter(inside), step.place)
    listed = view.made("list", named_place) if named_place else []
    if named_place and not any(done.failed for done in listed):
        return named_place or "."
    words = set(re.findall(r"[A-Za-z][\w-]*", step.clause))
    known = [done.path for done in view.calls if done.skill in ("list", "read")]
    known += view.memory.files("read") if view.from_summary else []
    known += [path for done in view.made("list", ".") if done.useful for path in entries(done)]
    folders = list(dict.fromkeys(path.split("/")[0] for path in known if "/" in path))
    meant = [folder for folder in folders if folder in words]
    if meant:
        return meant[0]
    if not view.made("list", "."):
        listing = need_listing(work, ".")
        return listing if isinstance(listing, Draft) else "."
    for folder in folders or ["."]:
        listing = need_listing(work, folder)
        if isinstance(listing, Draft):
            return listing
        if re.search(r"\.py\b", listing or ""):
            return folder
    return "."


# --- what was done already --------------------------------------------------------------------------------


def was_read(work: Work, path: str) -> bool:
    """Whether the file was read for this task, as the request or a summary of the task says."""
    told = work.view.from_summary and path in work.view.memory.files("read")
    return bool(work.view.made("read", path)) or told or path in work.failures


def read_once(work: Work, paths: list[str], english: str, chinese: str) -> Draft | None:
    """A call for the first of these files that was not read yet. `{path}` in the words is its name."""
    missing = [path for path in paths if not was_read(work, path)]
    if not missing:
        return None
    call = work.view.hands.call("read", path=missing[0])
    return work.want(english.replace("{path}", missing[0]), chinese.replace("{path}", missing[0]), [call])


def known_files(work: Work, place: str) -> list[str]:
    return [path for done in work.view.made("list", place) if done.useful for path in entries(done)]


def look_around(work: Work, place: str) -> Draft | None:
    """The folder's list, then its README: each once."""
    view = work.view
    told = view.from_summary and (view.memory.ran(f"list_files {place}") or view.memory.files("read"))
    if not view.made("list", place) and not told:
        listing = need_listing(work, place)
        return listing if isinstance(listing, Draft) else None
    files = known_files(work, place)
    note = next((path for path in files if NOTE.search(path)), "")
    english = "I read `{path}`: it should say how the tests are run." + (
        f" Known bugs stand in `{note}`." if note else ""
    )
    chinese = "我来读 `{path}`：里面应该写着怎样运行测试。" + (f"已知的错误写在 `{note}`。" if note else "")
    return read_once(work, [path for path in files if README.search(path)][:1], english, chinese)


# --- the tests --------------------------------------------------------------------------------------------


def run_tests(work: Work, place: str, english: str, chinese: str) -> Draft:
    """A call that runs the tests: as before, as the README says, or as is usual.

    A README that was read but is gone by now is read again first.
    """
    view = work.view
    ran = [str(done.arguments.get("command", "")) for done in view.made("run")]
    ran += [entry.key for entry in view.memory.entries if entry.kind == "ran"] if view.from_summary else []
    before = [command for command in ran if SCRIPT.search(command) or re.search("unittest|pytest", command)]
    readmes = [path for path in view.memory.files("read") if README.search(path)] if view.from_summary else []
    wanted = need_texts(work, readmes[:1]) if not before else None
    if wanted:
        return wanted
    read = {done.path for done in view.made("read")} | set(readmes)
    text = " ".join(text_of_file(view, path) or "" for path in sorted(read) if README.search(path))
    scripts = [
        f"python {place}/{name}" if place != "." else f"python {name}" for name in SCRIPT.findall(text)
    ]
    told = [each.strip() for each in TEST_COMMAND.findall(text) if place == "." or place in each.split()]
    usual = "python -m unittest" if place == "." else f"python -m unittest discover -s {place} -t {place}"
    command = [*before, *scripts, *told, usual][0]
    return work.want(english, chinese, [view.hands.call("run", command=command)])


def run_first(work: Work, place: str) -> Draft | None:
    """The first run of the tests; once more when its output is lost and nothing was written down of it."""
    runs = work.view.made("run")
    noted = bool(own_notes(work.view, FAILS))
    if noted or (runs and (not runs[-1].lost or len(runs) >= 3)):
        return None
    return run_tests(work, place, "I run the tests.", "我来运行测试。")


def passed(result: str) -> bool:
    """Whether the output of a test run says that all is well."""
    good = re.search(r"^OK\b|\b0 failed|\d+ passed", result, re.M)
    return good is not None and not re.search(r"FAILED|\b[1-9]\d* failed", result)


def failing(run: Done, place: str) -> tuple[str, str]:
    """The name of the first failing test, and the file it stands in; empty where the output does not say."""
    output = run.result or ""
    name = re.search(r"^(?:FAIL|ERROR|FAILED):? (?:\S*[.:])?(\w+)", output, re.M)
    files = re.findall(r"File \"([^\"]+)\", line \d+|^(\S+\.py):\d+", output, re.M)
    paths = [(quoted or bare).replace("\\", "/") for quoted, bare in files]
    path = next(iter([*filter(TEST_FILE.search, paths), *paths]), "")
    if place != "." and f"/{place}/" in path:
        path = place + path.rpartition(f"/{place}")[2]
    return (name[1] if name else ""), path.lstrip("/")


def check_again(work: Work, place: str, edit: Done | None) -> Draft | None:
    """After the edit: run the tests again and report."""
    runs = work.view.made("run", after=edit.index if edit else work.view.start)
    if not runs:
        return run_tests(work, place, "I run the tests again.", "我再运行一次测试。")
    result = runs[-1].result or ""
    what = f"`{edit.path}`" if edit else f"`{place}`"
    old, new = (str(edit.arguments.get(key, "")).strip() for key in ("old", "new")) if edit else ("", "")
    change = work.view.says(f" `{old}` is now `{new}`.", f"`{old}` 改成了 `{new}`。") if old else ""
    count = re.search(r"Ran (\d+) tests?|(\d+) tests?,", result)
    number = (count[1] or count[2]) if count else ""
    if runs[-1].lost or passed(result):
        english = f"The bug in {what} is fixed and all {number} tests pass.{change}".replace("all  ", "all ")
        work.say(english, f"{what} 的错误已修复，{number} 个测试全部通过。{change}")
    else:
        work.say(
            f"I changed {what}, but tests still fail.{change}\n{shorten(result)}",
            f"我改了 {what}，但测试仍未通过。{change}\n{shorten(result)}",
        )
    return None


# --- from the failing test to the fix ---------------------------------------------------------------------


def follow(step: Step, work: Work, place: str) -> Draft | None:
    """Read the failing test, the modules it leads to and the bug note; then edit."""
    runs = work.view.made("run")
    if runs and runs[-1].useful and passed(runs[-1].result or ""):
        work.say(
            f"All tests in `{place}` pass: there is nothing to fix.",
            f"`{place}` 的测试全部通过，没有要修的。",
        )
        return None
    noted = [(found[1], found[2]) for found in own_notes(work.view, FAILS)]
    name, test = noted[0] if noted else failing(runs[-1], place) if runs else ("", "")
    if not test:
        output = shorten(runs[-1].result or "") if runs else ""
        work.say(f"I cannot tell which test fails: {output}", f"看不出是哪个测试没有通过：{output}")
        return None
    wanted = read_once(
        work,
        [test],
        f"The test `{name}` in `{test}` fails; I read it.",
        f"测试 `{name}` 在 `{test}` 里，没有通过；我来读它。",
    )
    return wanted or read_modules(work, place) or apply_fix(step, work, f"{name} {test}")


def read_modules(work: Work, place: str) -> Draft | None:
    """The modules that the test leads to, one after the other, then the bug note."""
    used = modules_used(work, place)
    wanted = read_once(
        work,
        used,
        f"The code uses {named(used)}; I read `{{path}}`.",
        f"代码用到 {named(used, ' 和 ')}；我来读 `{{path}}`。",
    )
    notes = [path for path in known_files(work, place) if NOTE.search(path)]
    notes += [found[1] for found in own_notes(work.view, BUGS)]
    return wanted or read_once(
        work,
        notes[:1],
        "I read `{path}`: it may say what is expected.",
        "我来读 `{path}`：里面可能写着应有的行为。",
    )


def modules_used(work: Work, place: str) -> list[str]:
    """The project's modules that the files read so far import, as they show it or as it was written down."""
    listed = known_files(work, place)
    found = [mark.text for note in reversed(own_notes(work.view, USES)) for mark in hide(note[1])[1]]
    for done in work.view.made("read"):
        if done.path.endswith(".py") and done.useful:
            names = re.findall(r"^\s*(?:from|import)\s+([\w.]+)", done.result or "", re.M)
            ours = [name for name in names if name.split(".")[0] not in sys.stdlib_module_names]
            paths = [("" if place == "." else f"{place}/") + name.split(".")[-1] + ".py" for name in ours]
            found += [path for path in paths if path in listed or not listed]
    return list(dict.fromkeys(found))


def apply_fix(step: Step, work: Work, clues: str) -> Draft | None:
    """The edit, when what was read shows it; lost modules are read again first, the likeliest before the
    others.
    """
    view = work.view
    read = [done.path for done in view.made("read")] + (
        view.memory.files("read") if view.from_summary else []
    )
    notes = "\n".join(text_of_file(view, path) or "" for path in dict.fromkeys(read) if NOTE.search(path))
    modules = likeliest_first(read, f"{clues} {step.clause}")
    for path in modules:
        wanted = need_texts(work, [path])
        if wanted:
            return wanted
        fix = next(find_fixes(path, text_of_file(view, path) or "", notes, view.chinese), None)
        if fix:
            call = view.hands.call("edit", path=fix.path, old=fix.old, new=fix.new)
            return Draft(fix.why, (call,))
    work.say(
        f"I have read {named(modules)} and see no fix in what the code and the notes say.",
        f"我读了 {named(modules, ' 和 ')}，从代码和说明里看不出该怎样修。",
    )
    return None


def likeliest_first(paths: list[str], clues: str) -> list[str]:
    """The modules among these files, those whose names share words with the clues before the others."""
    words = set(terms(re.sub(r"[_/.]", " ", clues)))
    modules = [path for path in dict.fromkeys(paths) if path.endswith(".py") and not TEST_FILE.search(path)]
    return sorted(modules, key=lambda path: -len(set(terms(re.sub(r"[_/.]", " ", path))) & words))

"""Attempts to leave the playground, each through every file tool. None may read or change a thing outside."""

from __future__ import annotations

import json
import os
import shutil
import socket
import threading
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from labkit.errors import ToolError
from labkit.messages import tool_call
from labkit.playground import playground_tools
from labkit.sandbox import PortableFolder, PosixFolder, path_parts
from labkit.tools import Toolbox, run_tool_call

SECRET = "the treasure lies under the third oak"
posix_only = pytest.mark.skipif(os.name == "nt", reason="Windows has no such files, or needs rights for them")


@pytest.fixture
def house(tmp_path: Path) -> Path:
    """A folder with a secret beside the playground: outside/secret.txt and playground/notes.md."""
    (tmp_path / "outside" / "deep").mkdir(parents=True)
    (tmp_path / "outside" / "secret.txt").write_text(SECRET, encoding="utf-8")
    (tmp_path / "outside" / "deep" / "secret.txt").write_text(SECRET, encoding="utf-8")
    (tmp_path / "playground" / "shop").mkdir(parents=True)
    (tmp_path / "playground" / "notes.md").write_text("plain notes\n", encoding="utf-8")
    (tmp_path / "playground" / "shop" / "till.py").write_text("total = 1\n", encoding="utf-8")
    return tmp_path


@pytest.fixture
def toolbox(house: Path) -> Toolbox:
    return playground_tools(house / "playground")


@pytest.fixture(autouse=True)
def nothing_outside_changes(house: Path) -> Iterator[None]:
    before = snapshot(house / "outside")
    yield
    assert snapshot(house / "outside") == before
    assert {path.name for path in house.iterdir()} - {"my_labs"} == {"outside", "playground"}


def snapshot(folder: Path) -> dict[str, bytes | None]:
    return {str(path): path.read_bytes() if path.is_file() else None for path in sorted(folder.rglob("*"))}


def use(toolbox: Toolbox, name: str, **arguments: object) -> str:
    return run_tool_call(tool_call("c", name, json.dumps(arguments)), toolbox)["content"]


USES: dict[str, Callable[[Toolbox, str], str]] = {
    "read_file": lambda box, path: use(box, "read_file", path=path),
    "write_file": lambda box, path: use(box, "write_file", path=path, content="owned"),
    "edit_file": lambda box, path: use(box, "edit_file", path=path, old="treasure", new="nothing"),
    "list_files": lambda box, path: use(box, "list_files", path=path),
    "search_text": lambda box, path: use(box, "search_text", path=path, pattern="treasure"),
}

# --- by the path alone ------------------------------------------------------------------------------------

# No attempt aims at a file that matters: with the guard broken on purpose, each of them is really made.
PATHS = {
    "parent": "../outside/secret.txt",
    "parent of a folder inside": "shop/../../outside/secret.txt",
    "parent that would come back inside": "../playground/notes.md",
    "parent at the end": "shop/..",
    "parent between dots and slashes": "./shop/.//../../outside/secret.txt",
    "parent with a space": ".. /outside/secret.txt",
    "absolute": "{outside}/secret.txt",
    "absolute, system": "/proc/version",
    "absolute, two slashes": "/{outside}/secret.txt",
    "absolute beside the playground, same beginning": "{playground}-2/secret.txt",
    "absolute inside, then out": "{playground}/../outside/secret.txt",
    "file address": "file://{outside}/secret.txt",
    "home": "~/secret.txt",
    "another's home": "~root/secret.txt",
    "drive": "C:\\Windows\\win.ini",
    "drive with slashes": "c:/Windows/win.ini",
    "drive, relative": "C:secret.txt",
    "share": "\\\\server\\share\\secret.txt",
    "device prefix": "\\\\?\\C:\\secret.txt",
    "backslashes": "..\\outside\\secret.txt",
    "percent-encoded dots": "%2e%2e/outside/secret.txt",
    "percent-encoded slash": "..%2foutside%2fsecret.txt",
    "percent-encoded twice": "%252e%252e%252foutside",
    "full-width dots": "．．/outside/secret.txt",
    "full-width slash": "shop／..／..／outside",
    "one sign that folds to two dots": "‥/outside/secret.txt",
    "NUL": "notes.md\0/../../outside/secret.txt",
    "NUL as an ending": "../outside/secret.txt\0.md",
    "line break": "notes.md\n../outside/secret.txt",
    "half a character": "\udc2e\udc2e/outside/secret.txt",
    "overlong name": "a" * 300,
    "overlong path": "a/" * 3000 + "secret.txt",
    "overlong way out": "shop/../" * 50 + "../outside/secret.txt",
}


@pytest.mark.parametrize("tool_name", USES)
@pytest.mark.parametrize("attempt", PATHS)
def test_a_path_cannot_lead_out(attempt, tool_name, house, toolbox):
    places = {"{outside}": str(house / "outside"), "{playground}": str(house / "playground")}
    path = PATHS[attempt]
    for place, real in places.items():
        path = path.replace(place, real)
    before = snapshot(house / "playground")
    text = USES[tool_name](toolbox, path)
    if attempt in ("percent-encoded twice", "file address"):
        # Once decoded this is still only an odd name, and it names nothing outside.
        assert SECRET not in text
        return
    assert text.startswith("Error: ") and SECRET not in text
    assert snapshot(house / "playground") == before


@pytest.mark.parametrize(
    "path", ["con", "NUL.txt", "shop/aux.py", "com1", "lpt9.x", "notes.md.", "notes.md ", "notes.md:b", "a?b"]
)
def test_names_that_are_no_files_on_windows_are_refused_there(path):
    with pytest.raises(ToolError, match="not allowed"):
        path_parts(path, windows=True)


@pytest.mark.parametrize(
    ("path", "parts"),
    [
        (".", ()),
        ("", ()),
        ("./notes.md", ("notes.md",)),
        ("shop//till.py", ("shop", "till.py")),
        ("shop/", ("shop",)),
        ("...", ("...",)),
        ("a..b/..c", ("a..b", "..c")),
        ("50% off.md", ("50% off.md",)),
        ("水车.md", ("水车.md",)),
        ("a~b", ("a~b",)),
    ],
)
def test_ordinary_paths_are_let_through(path, parts):
    assert path_parts(path, windows=False) == parts


def test_the_playgrounds_own_absolute_path_is_a_path_inside_it(house, toolbox):
    assert use(toolbox, "read_file", path=str(house / "playground" / "notes.md")) == "plain notes\n"


# --- by what lies there -----------------------------------------------------------------------------------


def link_to_file(house: Path) -> str:
    (house / "playground" / "link.txt").symlink_to(house / "outside" / "secret.txt")
    return "link.txt"


def relative_link_to_file(house: Path) -> str:
    (house / "playground" / "link.txt").symlink_to("../outside/secret.txt")
    return "link.txt"


def link_to_folder(house: Path) -> str:
    (house / "playground" / "link").symlink_to(house / "outside", target_is_directory=True)
    return "link"


def file_below_a_link(house: Path) -> str:
    return f"{link_to_folder(house)}/secret.txt"


def folder_below_a_link(house: Path) -> str:
    return f"{link_to_folder(house)}/deep"


def new_file_below_a_link(house: Path) -> str:
    return f"{link_to_folder(house)}/new/file.txt"


def dangling_link(house: Path) -> str:
    (house / "playground" / "link.txt").symlink_to(house / "outside" / "new.txt")
    return "link.txt"


def chain_of_links(house: Path) -> str:
    (house / "playground" / "first").symlink_to("second")
    (house / "playground" / "second").symlink_to(house / "outside" / "secret.txt")
    return "first"


def link_to_itself(house: Path) -> str:
    (house / "playground" / "loop").symlink_to("loop")
    return "loop/loop"


def link_to_the_root_of_the_disk(house: Path) -> str:
    (house / "playground" / "disk").symlink_to("/", target_is_directory=True)
    return f"disk{house}/outside/secret.txt"


def link_to_a_process(house: Path) -> str:
    (house / "playground" / "me").symlink_to("/proc/self", target_is_directory=True)
    return "me/environ"


def pipe(house: Path) -> str:
    os.mkfifo(house / "playground" / "pipe")
    return "pipe"


def socket_file(house: Path) -> str:
    # A short name, since a socket's path may have no more than about 100 bytes.
    here = Path.cwd()
    os.chdir(house / "playground")
    try:
        with socket.socket(socket.AF_UNIX) as made:
            made.bind("socket")
    finally:
        os.chdir(here)
    return "socket"


def link_to_a_device(house: Path) -> str:
    (house / "playground" / "zero").symlink_to("/dev/zero")
    return "zero"


LURES = [
    link_to_file,
    relative_link_to_file,
    link_to_folder,
    file_below_a_link,
    folder_below_a_link,
    new_file_below_a_link,
    dangling_link,
    chain_of_links,
    link_to_itself,
    link_to_the_root_of_the_disk,
    link_to_a_process,
    pipe,
    socket_file,
    link_to_a_device,
]


@posix_only
@pytest.mark.timeout(20)
@pytest.mark.parametrize("tool_name", USES)
@pytest.mark.parametrize("lure", LURES, ids=lambda lure: lure.__name__)
def test_what_lies_in_the_playground_cannot_lead_out(lure, tool_name, house, toolbox):
    path = lure(house)
    text = USES[tool_name](toolbox, path)
    assert text.startswith("Error: ") and SECRET not in text


@posix_only
@pytest.mark.parametrize("lure", LURES, ids=lambda lure: lure.__name__)
@pytest.mark.parametrize("kind", [PosixFolder, PortableFolder])
def test_both_kinds_of_folder_refuse_it(kind, lure, house):
    parts = path_parts(lure(house))
    folder = kind(house / "playground")
    for attempt in (
        lambda: folder.read(parts, 1000),
        lambda: folder.write(parts, b"owned"),
        lambda: folder.entries(parts),
    ):
        with pytest.raises(ToolError):
            attempt()


@posix_only
@pytest.mark.timeout(20)
def test_searching_and_listing_everything_walks_past_links_pipes_and_sockets(house, toolbox):
    link_to_folder(house)
    link_to_the_root_of_the_disk(house)
    link_to_a_device(house)
    pipe(house)
    (house / "playground" / "round").symlink_to(".", target_is_directory=True)
    assert use(toolbox, "search_text", pattern="treasure").startswith("No line contains")
    assert use(toolbox, "search_text", pattern="plain") == "notes.md:1: plain notes"
    rows = use(toolbox, "list_files").splitlines()
    assert "link  (a link, not followed)" in rows and "pipe  (not a file)" in rows and "shop/" in rows


@posix_only
def test_a_hard_link_is_not_written(house, toolbox):
    (house / "playground" / "hard.txt").hardlink_to(house / "outside" / "secret.txt")
    for tool_name in ("write_file", "edit_file"):
        assert "hard link" in USES[tool_name](toolbox, "hard.txt")


@posix_only
def test_a_folder_of_the_file_system_below_a_file_is_refused(house, toolbox):
    for tool_name, attempt in USES.items():
        assert attempt(toolbox, "notes.md/secret.txt").startswith("Error: "), tool_name


# --- by a swap between check and use ----------------------------------------------------------------------


class Busy:
    """Repeats a change of the files in a thread of its own, as fast as it can."""

    def __init__(self, change: Callable[[], None]) -> None:
        self._change = change
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._repeat)

    def _repeat(self) -> None:
        while not self._stop.is_set():
            self._change()

    def __enter__(self) -> None:
        self._thread.start()

    def __exit__(self, *exception: object) -> None:
        self._stop.set()
        self._thread.join()


def swap_folder_and_link(folder: Path, link: Path) -> Callable[[], None]:
    aside = folder.with_name("aside")

    def change() -> None:
        folder.rename(aside)
        while True:
            try:
                link.rename(folder)
                break
            except OSError:  # write_file has made the missing folder anew in between
                shutil.rmtree(folder, ignore_errors=True)
        aside.rename(link)

    return change


def turn_file_into_link_and_back(file: Path, target: Path) -> Callable[[], None]:
    draft = file.with_name("draft")

    def change() -> None:
        draft.symlink_to(target)
        draft.replace(file)
        draft.write_text("harmless", encoding="utf-8")
        draft.replace(file)

    return change


@posix_only
def test_a_folder_swapped_for_a_link_while_it_is_used_leads_nowhere(house, toolbox):
    (house / "playground" / "shop" / "secret.txt").write_text("harmless", encoding="utf-8")
    link_to_folder(house)
    answers = set()
    with Busy(swap_folder_and_link(house / "playground" / "shop", house / "playground" / "link")):
        for _ in range(300):
            answers.add(use(toolbox, "read_file", path="shop/secret.txt"))
            use(toolbox, "write_file", path="shop/new.txt", content="owned")
            use(toolbox, "edit_file", path="shop/secret.txt", old="treasure", new="nothing")
            answers.add(use(toolbox, "search_text", pattern="treasure", path="shop"))
            answers.add(use(toolbox, "list_files", path="shop"))
    assert not [answer for answer in answers if SECRET in answer or "deep" in answer]


@posix_only
def test_a_file_swapped_for_a_link_while_it_is_used_leads_nowhere(house, toolbox):
    file = house / "playground" / "file.txt"
    file.write_text("harmless", encoding="utf-8")
    answers = set()
    with Busy(turn_file_into_link_and_back(file, house / "outside" / "secret.txt")):
        for _ in range(300):
            answers.add(use(toolbox, "read_file", path="file.txt"))
            answers.add(use(toolbox, "search_text", pattern="oak"))
            use(toolbox, "edit_file", path="file.txt", old="treasure", new="nothing")
            use(toolbox, "write_file", path="file.txt", content="owned")
    assert not [answer for answer in answers if SECRET in answer]

"""The playground: what is in it, and what its six tools do."""

from __future__ import annotations

import json
import os
import re
import stat
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from labkit import file_tools
from labkit.errors import SetupError
from labkit.excerpts import MAX_CHARACTERS, cut_middle, line_excerpt
from labkit.messages import tool_call
from labkit.places import shipped_playground
from labkit.playground import fresh_playground, playground_folder, playground_tools
from labkit.tokens import estimate_tokens
from labkit.tools import Toolbox, run_tool_call

posix_only = pytest.mark.skipif(os.name == "nt", reason="Windows has no such modes and links")


@pytest.fixture
def root(tmp_path: Path) -> Path:
    folder = tmp_path / "a playground with spaces and ü"
    folder.mkdir()
    return folder


@pytest.fixture
def toolbox(root: Path) -> Toolbox:
    return playground_tools(root)


def use(toolbox: Toolbox, name: str, **arguments: object) -> str:
    return run_tool_call(tool_call("c", name, json.dumps(arguments)), toolbox)["content"]


# --- what is in it ----------------------------------------------------------------------------------------


def test_the_article_is_about_7000_estimated_tokens_and_comes_whole():
    toolbox = playground_tools()
    text = use(toolbox, "read_file", path="big-article.md")
    assert text == (shipped_playground() / "big-article.md").read_text(encoding="utf-8")
    assert 6750 <= estimate_tokens([{"role": "tool", "tool_call_id": "c", "content": text}]) <= 7250


def test_the_chinese_article_is_long_and_chinese():
    text = (shipped_playground() / "big-article.zh.md").read_text(encoding="utf-8")
    assert len(re.findall(r"[\u4e00-\u9fff]", text)) > 2400 and len(text) >= 3000


def test_the_small_files_are_small_and_the_notes_hold_a_rule_and_a_date():
    assert len((shipped_playground() / "hello.txt").read_text(encoding="utf-8").splitlines()) == 1
    notes = (shipped_playground() / "notes.md").read_text(encoding="utf-8")
    assert len(notes) < 1000 and "Never change files under `tests/`" in notes and "14 March 2031" in notes


def test_ten_days_of_the_logbook_hold_a_detail_each():
    days = sorted((shipped_playground() / "logbook").glob("day-*.md"))
    texts = [day.read_text(encoding="utf-8") for day in days]
    assert len(days) == 10 and all(1500 <= len(text) <= 3000 for text in texts)
    details = [detail for text in texts for detail in re.findall(r"\*\*(.+?)\*\*", text)]
    assert len(details) == len(set(details)) == 10


@pytest.mark.parametrize(
    "command",
    [
        "python -m unittest discover -s shop -t shop",
        "cd shop && python -m unittest",
        "python shop/run_tests.py",
    ],
)
def test_the_shop_has_one_failing_test_and_one_line_mends_it(command):
    toolbox = playground_tools(fresh_playground("shop-test"))
    text = use(toolbox, "run_command", command=command)
    assert re.findall(r"^FAIL\w*:? (\S+)", text, re.MULTILINE)[0].endswith(
        "exactly_ten_pieces_get_no_discount"
    )
    assert "[exit code 1]" in text and ("failures=1" in text or "1 failed" in text)
    assert use(
        toolbox,
        "edit_file",
        path="shop/discounts.py",
        old="quantity >= BULK_QUANTITY",
        new="quantity > BULK_QUANTITY",
    ).startswith("Edited shop/discounts.py at line")
    assert "[exit code 0]" in use(toolbox, "run_command", command=command)


def test_the_shops_own_runner_prints_the_same_twice_in_any_folder():
    outputs = [
        use(playground_tools(fresh_playground(name)), "run_command", command="python shop/run_tests.py")
        for name in ("one", "another-one")
    ]
    assert (
        outputs[0] == outputs[1] and 'File "shop/tests/test_discounts.py"'.replace("/", os.sep) in outputs[0]
    )


def test_the_shop_names_its_bug():
    assert "BUG-7" in (shipped_playground() / "shop" / "ISSUES.md").read_text(encoding="utf-8")


# --- the learner's own copies -----------------------------------------------------------------------------


def test_the_learners_playground_is_copied_once_and_then_left_alone(workspace):
    toolbox = playground_tools()
    assert playground_folder() == workspace / "playground"
    use(toolbox, "write_file", path="notes.md", content="mine")
    assert use(playground_tools(), "read_file", path="notes.md") == "mine"


def test_a_fresh_playground_keeps_the_one_before(workspace):
    first = fresh_playground("lab4")
    (first / "mine.txt").write_text("one", encoding="utf-8")
    second = fresh_playground("lab4")
    assert second == first == workspace / "playgrounds" / "lab4"
    assert not (second / "mine.txt").exists() and (second / "hello.txt").exists()
    assert (workspace / "playgrounds" / "lab4.previous" / "mine.txt").exists()
    fresh_playground("lab4")
    assert not (workspace / "playgrounds" / "lab4.previous" / "mine.txt").exists()
    assert sorted(path.name for path in first.parent.iterdir()) == ["lab4", "lab4.previous"]


def test_a_fresh_playground_is_equal_to_the_shipped_one():
    def files(folder: Path) -> dict[str, bytes]:
        found = (path for path in folder.rglob("*") if path.is_file() and "__pycache__" not in path.parts)
        return {path.relative_to(folder).as_posix(): path.read_bytes() for path in found}

    assert files(fresh_playground("x")) == files(shipped_playground())


@pytest.mark.parametrize(
    "name", ["", ".", "..", "../x", "a/b", "a\\b", "/tmp/x", ".hidden", "x.previous", "x."]
)
def test_a_playgrounds_name_is_a_plain_word(name):
    with pytest.raises(SetupError, match="name"):
        fresh_playground(name)


def test_a_root_that_is_not_there_is_refused(tmp_path):
    with pytest.raises(SetupError, match="nowhere"):
        playground_tools(tmp_path / "nowhere")


# --- list, read, write, edit, search ----------------------------------------------------------------------


def test_the_tools_are_the_six_and_each_is_described(toolbox):
    assert toolbox.names == [
        "list_files",
        "read_file",
        "write_file",
        "edit_file",
        "search_text",
        "run_command",
    ]
    for schema in toolbox.schemas:
        parameters = schema["function"]["parameters"]["properties"]
        assert schema["function"]["description"] and all(
            "description" in each for each in parameters.values()
        )


def test_listing_names_each_path_from_the_root(root, toolbox):
    (root / "shop" / "__pycache__").mkdir(parents=True)
    (root / "shop" / "till.py").write_text("x" * 1234, encoding="utf-8")
    (root / "empty").mkdir()
    assert use(toolbox, "list_files") == "empty/\nshop/"
    assert use(toolbox, "list_files", path="shop") == "shop/till.py  1,234 bytes"
    assert use(toolbox, "list_files", path="empty") == "(the folder is empty)"
    assert "is a file" in use(toolbox, "list_files", path="shop/till.py")
    assert "does not exist" in use(toolbox, "list_files", path="shopp")


def test_a_long_listing_is_cut_and_says_so(root, toolbox):
    for number in range(230):
        (root / f"{number:03}.txt").touch()
    rows = use(toolbox, "list_files").splitlines()
    assert len(rows) == 201 and rows[-1] == "[... 30 more are left out here ...]"


def test_a_part_of_a_file_says_how_to_read_on(root, toolbox):
    (root / "a.txt").write_text("one\ntwo\nthree\nfour\n", encoding="utf-8")
    text = use(toolbox, "read_file", path="a.txt", start_line=2, max_lines=2)
    assert text == "two\nthree\n[lines 2 to 3 of 4; read on with start_line=4]"
    assert use(toolbox, "read_file", path="a.txt", start_line=3) == "three\nfour\n"


def test_a_big_file_keeps_head_and_tail_and_names_the_cut_which_can_then_be_read(root, toolbox):
    lines = [f"line {number} " + "x" * 90 + "\n" for number in range(1, 501)]
    (root / "a.txt").write_text("".join(lines), encoding="utf-8")
    text = use(toolbox, "read_file", path="a.txt")
    assert len(text) < MAX_CHARACTERS + 200
    assert text.startswith("line 1 ") and text.endswith(lines[-1])
    cut = re.search(
        r"lines (\d+) to (\d+) of 500 left out here .* start_line=(\d+) and max_lines=(\d+)", text
    )
    first, last, start, count = map(int, cut.groups())
    assert f"line {first - 1} " in text and f"line {first} x" not in text and start == first
    rest = use(toolbox, "read_file", path="a.txt", start_line=start, max_lines=count)
    assert rest.startswith(f"line {first} ") and count == last - first + 1


def test_a_single_huge_line_is_cut_in_its_middle(root, toolbox):
    (root / "a.json").write_text("[" + "1," * 100_000 + "1]", encoding="utf-8")
    text = use(toolbox, "read_file", path="a.json")
    assert (
        len(text) < MAX_CHARACTERS + 200
        and text.endswith("1]")
        and "180,003 characters left out here" in text
    )


@pytest.mark.parametrize(
    ("data", "words"),
    [
        (b"", "is empty"),
        (b"\x89PNG\r\n\0\0", "not a text file"),
        ("Grüße".encode("latin-1"), "not UTF-8 text (byte 3 of 5)"),
        (b"x" * 8_000_001, "8,000,000 can be read"),
    ],
)
def test_what_is_not_text_is_named(root, toolbox, data, words):
    (root / "thing").write_bytes(data)
    assert words in use(toolbox, "read_file", path="thing")


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ({"path": "nots.md"}, "did you mean notes.md?"),
        ({"path": "notes.md", "start_line": 0}, "1 or more"),
        ({"path": "notes.md", "max_lines": 0}, "1 or more"),
        ({"path": "notes.md", "start_line": 9}, "has only 1 lines"),
        ({"path": "."}, "is a folder"),
    ],
)
def test_reading_what_is_not_there_says_what_is(root, toolbox, arguments, words):
    (root / "notes.md").write_text("a note", encoding="utf-8")
    text = use(toolbox, "read_file", **arguments)
    assert text.startswith("Error: ") and words in text


def test_writing_makes_folders_and_says_whether_a_file_was_replaced(root, toolbox):
    assert (
        use(toolbox, "write_file", path="a/b/c.txt", content="1\n2\n")
        == "Wrote a/b/c.txt: 4 characters, 2 lines."
    )
    assert use(toolbox, "write_file", path="a/b/c.txt", content="水").startswith(
        "Replaced a/b/c.txt: 1 character"
    )
    assert (root / "a" / "b" / "c.txt").read_bytes() == "水".encode()
    assert [path.name for path in (root / "a" / "b").iterdir()] == ["c.txt"]


@posix_only
def test_writing_keeps_the_files_mode_and_respects_read_only(root, toolbox):
    file = root / "run.sh"
    file.write_text("old", encoding="utf-8")
    file.chmod(0o750)
    use(toolbox, "write_file", path="run.sh", content="new")
    assert stat.S_IMODE(file.stat().st_mode) == 0o750
    file.chmod(0o444)
    assert "read-only" in use(toolbox, "write_file", path="run.sh", content="newer")
    assert file.read_text(encoding="utf-8") == "new"


@posix_only
def test_a_write_for_which_there_is_no_room_leaves_the_old_file_whole(root, toolbox):
    resource = pytest.importorskip("resource")  # limits of a process are POSIX only
    (root / "a.txt").write_text("old", encoding="utf-8")
    most, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (100_000, hard))
    try:
        text = use(toolbox, "write_file", path="a.txt", content="x" * 500_000)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (most, hard))
    assert text.startswith("Error: a.txt: ") and text.endswith("Tell the user.")
    assert [(path.name, path.read_text(encoding="utf-8")) for path in root.iterdir()] == [("a.txt", "old")]


def test_writing_in_place_of_a_folder_or_below_a_file_changes_nothing(root, toolbox):
    (root / "folder").mkdir()
    (root / "file").write_text("x", encoding="utf-8")
    assert "is a folder" in use(toolbox, "write_file", path="folder", content="x")
    assert "is a file" in use(toolbox, "write_file", path="file/new.txt", content="x")
    assert sorted(path.name for path in root.rglob("*")) == ["file", "folder"]


def test_content_that_cannot_be_written_is_refused(root, toolbox):
    assert "half a character" in use(toolbox, "write_file", path="a.txt", content="a\ud800")
    assert "2,000,000" in use(toolbox, "write_file", path="a.txt", content="x" * 2_000_001)
    assert not list(root.iterdir())


def test_editing_replaces_the_one_place_and_nothing_else(root, toolbox):
    (root / "a.py").write_bytes(b"one\r\ntwo\r\nthree\r\n")
    assert use(toolbox, "edit_file", path="a.py", old="two\nthree", new="2\n3") == "Edited a.py at line 2."
    assert (root / "a.py").read_bytes() == b"one\r\n2\r\n3\r\n"


@pytest.mark.parametrize(
    ("before", "old", "new", "after"),
    [
        (b"one\r\ntwo\r\n", "two", "2\n3", b"one\r\n2\r\n3\r\n"),
        (b"one\r\ntwo\r\n", "one\ntwo", "1\r\n2", b"1\r\n2\r\n"),
        (b"one\r\ntwo\r\n", "\ntwo\n", "\n", b"one\r\n"),
        (b"one\ntwo\n", "one\r\ntwo", "1\r\n2", b"1\n2\n"),
        (b"one\r\ntwo\nthree", "one\ntwo\nt", "T", b"Three"),
        (b"\xef\xbb\xbfone\n", "one", "1", b"\xef\xbb\xbf1\n"),
    ],
)
def test_an_edit_keeps_the_files_own_line_ends_and_its_first_mark(root, toolbox, before, old, new, after):
    (root / "a.txt").write_bytes(before)
    assert use(toolbox, "edit_file", path="a.txt", old=old, new=new).startswith("Edited a.txt")
    assert (root / "a.txt").read_bytes() == after


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        ("x", "y", "does not occur"),
        ("a", "y", "occurs 3 times"),
        ("oo", "y", "occurs 2 times"),
        ("", "y", "nothing to replace"),
        ("b", "b", "nothing to replace"),
    ],
)
def test_an_edit_that_is_not_clear_changes_nothing(root, toolbox, old, new, words):
    (root / "a.txt").write_text("a b a c a ooo", encoding="utf-8")
    text = use(toolbox, "edit_file", path="a.txt", old=old, new=new)
    assert text.startswith("Error: ") and words in text
    assert (root / "a.txt").read_text(encoding="utf-8") == "a b a c a ooo"


def test_searching_finds_plain_text_in_any_case_with_path_and_line(root, toolbox):
    (root / "shop").mkdir()
    (root / "shop" / "till.py").write_text("def ring_up():\n    Total = a.*b\n", encoding="utf-8")
    (root / "z.bin").write_bytes(b"\0total")
    found = use(toolbox, "search_text", pattern="TOTAL")
    assert found.startswith("shop/till.py:2: Total = a.*b\n[1 file not searched: not text")
    assert use(toolbox, "search_text", pattern="a.*b", path="shop/till.py") == "shop/till.py:2: Total = a.*b"
    assert use(toolbox, "search_text", pattern="t.tal").startswith(
        "No line contains 't.tal' (1 file searched; 1 file not searched: not text"
    )
    assert "does not exist" in use(toolbox, "search_text", pattern="x", path="nope")
    assert "within one line" in use(toolbox, "search_text", pattern="a\nb")


@pytest.mark.timeout(20)
def test_a_pattern_that_would_hang_a_regular_expression_does_not(root, toolbox):
    (root / "a.txt").write_text("a" * 1_000_000 + "!", encoding="utf-8")
    assert use(toolbox, "search_text", pattern="(a+)+$").startswith("No line contains")


def test_a_search_names_what_it_could_not_look_into(root, toolbox, monkeypatch):
    (root / "big.txt").write_bytes(b"needle\n" * 1_200_000)
    alone = use(toolbox, "search_text", pattern="needle", path="big.txt")
    assert "(0 files searched; 1 file not searched" in alone and "too large" in alone
    (root / "a.txt").write_text("needle", encoding="utf-8")
    rows = use(toolbox, "search_text", pattern="needle").splitlines()
    assert rows[0] == "a.txt:1: needle" and rows[1].startswith("[1 file not searched")
    monkeypatch.setattr(file_tools, "MAX_SEARCHED_BYTES", 10)
    (root / "b.txt").write_text("needle", encoding="utf-8")
    assert "[2 files not searched" in use(toolbox, "search_text", pattern="needle")


@posix_only
def test_a_folder_that_cannot_be_opened_does_not_end_a_search(root, toolbox):
    (root / "closed").mkdir(mode=0)
    (root / "a.txt").write_text("needle", encoding="utf-8")
    if os.access(root / "closed", os.R_OK):
        pytest.skip("root opens every folder")
    rows = use(toolbox, "search_text", pattern="needle").splitlines()
    assert rows[0] == "a.txt:1: needle" and rows[1].startswith("[1 file not searched")


@posix_only
def test_a_name_with_a_line_end_in_it_takes_one_row(root, toolbox):
    (root / "a\nb.txt").write_text("x", encoding="utf-8")
    assert use(toolbox, "list_files") == "a?b.txt  1 bytes"
    assert use(toolbox, "search_text", pattern="x") == "a?b.txt:1: x"


def test_many_matches_are_cut_and_long_lines_show_the_match(root, toolbox):
    (root / "a.txt").write_text("needle\n" * 500, encoding="utf-8")
    rows = use(toolbox, "search_text", pattern="needle").splitlines()
    assert len(rows) == 101 and "more than 100 lines match" in rows[-1]
    (root / "a.txt").write_text("x" * 50_000 + "needle" + "x" * 50_000, encoding="utf-8")
    text = use(toolbox, "search_text", pattern="needle")
    assert "needle" in text and len(text) < 500


# --- excerpts ---------------------------------------------------------------------------------------------


@given(st.text(max_size=300), st.integers(2, 100))
def test_a_cut_text_keeps_its_two_ends_and_counts_what_is_gone(text, limit):
    cut = cut_middle(text, limit)
    if len(text) <= limit:
        assert cut == text
        return
    head, tail = re.split(r"\n\[\.\.\. [\d,]+ characters left out here \.\.\.\]\n", cut)
    assert text.startswith(head) and text.endswith(tail) and len(head) + len(tail) == limit


@given(
    st.lists(st.text("ab", max_size=30).map(lambda line: line + "\n"), min_size=1, max_size=60),
    st.integers(1, 60),
    st.integers(1, 60),
)
def test_every_line_is_shown_or_named_as_left_out(lines, start, count):
    start = min(start, len(lines))
    shown = line_excerpt(lines, start, count, limit=200)
    named = re.search(r"lines (\d+) to (\d+) of \d+ left out", shown)
    left_out = range(int(named[1]), int(named[2]) + 1) if named else range(0)
    wanted = [lines[n - 1] for n in range(start, min(len(lines), start + count - 1) + 1) if n not in left_out]
    assert [row + "\n" for row in shown.splitlines() if not row.startswith("[")] == wanted

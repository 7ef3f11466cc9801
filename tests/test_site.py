"""The site: every page whole in itself, every link leads somewhere, the same bytes for the same labs."""

from __future__ import annotations

import re
from html import escape
from itertools import pairwise

import pytest
from click.testing import CliRunner
from site_tools import ROOT, made_site, parsed

from labkit.cli import cli
from labkit.errors import NotebookError, SetupError
from labkit.exercises import solution_source
from labkit.notebook_run import CellError
from labkit.notebooks import SOLUTION, RunResult, execute, exercise_of, read_notebook
from labkit.site import render_site
from labkit.site.glossary import Linker, words
from labkit.site.lab_page import lab_page
from labkit.site.outputs import WIDGET, output_html
from labkit.site.pictures import pictures, write_pictures
from labkit.site.prose import Prose
from labkit.site.series import series
from labkit.workspace import shipped_labs

NOTEBOOKS = sorted((ROOT / "labs").glob("0*.ipynb"))
LABS = [f"{path.stem}.html" for path in NOTEBOOKS]
PAGES = ["index.html", *LABS, "glossary.html", "troubleshooting.html"]
pytestmark = pytest.mark.timeout(300)


def page(name: str) -> str:
    return made_site().pages()[name]


# --- what is there ----------------------------------------------------------------------------------------


def test_the_command_makes_a_page_of_each_lab_and_says_where_to_start():
    site = made_site()
    assert sorted(site.pages()) == sorted(PAGES)
    assert f"{len(PAGES)} pages. Start with {site.folder / 'index.html'}" in site.printed
    assert sorted(path.name for path in site.folder.iterdir()) == sorted(PAGES)


def test_the_index_is_a_map_of_the_whole_series_and_links_the_labs_that_are_there():
    found = parsed(page("index.html"))
    stops = [each for each in found.named("h3") if each.attributes.get("id", "").startswith("lab-")]
    assert [stop.text.split(":")[0] for stop in stops] == [f"Lab {number}" for number in range(1, 9)]
    there = {int(name[:2]) for name in LABS}
    for number, stop in enumerate(stops, start=1):
        assert ("not written yet" in stop.text) == (number not in there)
    linked = [link.attributes["href"] for link in found.named("a")]
    assert all(name in linked for name in PAGES)


def test_the_readme_tells_the_same_of_the_labs_as_the_map():
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    for lab in series()[:5]:
        assert f"| {lab.number} {lab.title} | {lab.builds} | {lab.trouble} |" in readme


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_an_exercise_is_shown_as_it_is_met_with_hints_and_solution_folded(path):
    html = page(f"{path.stem}.html")
    text = re.sub(r"<[^>]+>", "", html)
    assert not re.search(r"<details[^>]*\bopen\b", html.partition("<main")[2])
    abouts = [about for about in map(exercise_of, read_notebook(path)["cells"]) if about]
    assert abouts
    for about in abouts:
        start = html.index(f'id="exercise-{about["exercise"].replace(".", "-")}"')
        shown = html[start : html.index("</details></div>", start)]
        visible, *folded = shown.split("<details>")
        assert "NotImplementedError" in visible
        assert [fold.split("</summary>")[0] for fold in folded] == [
            *(f"<summary>Hint {n} of {len(about['hints'])}" for n in range(1, len(about["hints"]) + 1)),
            f"<summary>Solution of exercise {about['exercise']}",
        ]
        assert escape(solution_source(about["function"]), quote=False) in text.replace("&#39;", "'").replace(
            "&quot;", '"'
        )


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_a_lab_has_its_outputs_and_every_check_passed(path):
    html = page(f"{path.stem}.html")
    assert "labkit-strip" in html and "labkit-chart" in html and "labkit-quiz" in html
    for about in filter(None, map(exercise_of, read_notebook(path)["cells"])):
        assert f"Exercise {about['exercise']}: passed" in html


# --- each page --------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", PAGES)
def test_every_link_leads_somewhere(name):
    ids = {each: set(parsed(html).ids()) for each, html in made_site().pages().items()}
    broken = []
    for link in parsed(page(name)).named("a"):
        file, _, place = link.attributes["href"].partition("#")
        target = file or name
        if "://" not in target and (target not in ids or (place and place not in ids[target])):
            broken.append(link.attributes["href"])
    assert broken == []


@pytest.mark.parametrize("name", PAGES)
def test_a_page_needs_nothing_but_itself(name):
    html = page(name)
    assert parsed(html).named("script", "link", "iframe", "object", "embed") == []
    sources = [e.attributes["src"] for e in parsed(html).elements if "src" in e.attributes]
    assert [source for source in sources if not source.startswith("data:")] == []
    styles = "".join(e.text for e in parsed(html).named("style"))
    styles += "".join(e.attributes.get("style", "") for e in parsed(html).elements)
    assert "@import" not in styles and not re.search(r"url\(\s*['\"]?(?!#)", styles)


@pytest.mark.parametrize("name", PAGES)
def test_every_picture_says_what_it_shows(name):
    found = parsed(page(name))
    ids = {e.attributes["id"]: e for e in found.elements if "id" in e.attributes}
    assert all(image.attributes.get("alt") for image in found.named("img"))
    for svg in found.named("svg"):
        if "svg" in svg.around:
            continue
        assert svg.attributes.get("role") == "img"
        names = svg.attributes["aria-labelledby"].split()
        assert len(" ".join(ids[each].text for each in names)) > 40


@pytest.mark.parametrize("name", PAGES)
def test_headings_are_in_order_and_ids_are_given_once(name):
    found = parsed(page(name))
    levels = [int(each.name[1]) for each in found.named("h1", "h2", "h3", "h4", "h5", "h6")]
    assert levels[0] == 1 and levels.count(1) == 1
    assert [pair for pair in pairwise(levels) if pair[1] > pair[0] + 1] == []
    ids = found.ids()
    assert sorted(ids) == sorted(set(ids))


@pytest.mark.parametrize("name", PAGES)
def test_a_page_says_its_language_and_title_and_lets_a_phone_show_it(name):
    found = parsed(page(name))
    assert found.named("html")[0].attributes["lang"] == "en"
    assert found.named("title")[0].text.endswith("Agent Loop Labs")
    assert any(each.attributes.get("name") == "viewport" for each in found.named("meta"))
    assert found.named("a")[0].attributes["href"] == "#main"


# --- the glossary -----------------------------------------------------------------------------------------

IN_THE_PLAN = (
    "history, message, turn, request, tool call, tool result, exchange, compaction, cut, summary, tail, "
    "stub, snapshot, context window, limit, usage, prefix cache"
)


def test_the_glossary_has_every_word_that_the_labs_explain():
    known = {form for word in words() for form in (word.name, *word.forms)}
    for path in NOTEBOOKS:
        cells = read_notebook(path)["cells"]
        tables = "\n".join("".join(cell["source"]) for cell in cells if cell["cell_type"] == "markdown")
        rows = re.findall(r"^\|((?: ?,? ?\*\*.+?\*\*)+) \|", tables, re.MULTILINE)
        explained = [word for row in rows for word in re.findall(r"\*\*(.+?)\*\*", row)]
        assert explained
        assert [word for word in explained if word not in known and f"{word}s?" not in known] == []


@pytest.mark.parametrize("word", IN_THE_PLAN.split(", "))
def test_the_glossary_has_the_words_of_the_series(word):
    entries = {each.text for each in parsed(page("glossary.html")).named("dt")}
    assert word in entries


@pytest.mark.parametrize("name", LABS)
def test_a_word_is_linked_once_at_its_first_use(name):
    links = [each for each in parsed(page(name)).named("a") if each.attributes.get("class") == "word"]
    targets = [each.attributes["href"] for each in links]
    assert len(targets) >= 8 and len(targets) == len(set(targets))


def test_a_word_is_found_in_its_forms_across_a_line_and_not_in_code_or_headings():
    prose = Prose(Linker())
    html = prose.html("# The history\n\n`history` is sent with each\ntool\ncall. Histories, and history.")
    assert re.findall(r'#([\w-]+)">', html) == ["tool-call", "history"]
    assert ">Histories</a>, and history." in html


# --- what a cell gave -------------------------------------------------------------------------------------


def output(**data: str) -> dict:
    names = {"html": "text/html", "text": "text/plain", "widget": WIDGET, "png": "image/png"}
    return {"output_type": "display_data", "data": {names[each]: value for each, value in data.items()}}


def test_a_widget_is_shown_by_the_static_form_that_comes_with_it():
    html = output_html(output(widget="{}", text="VBox()", html="<p>The same, as a picture</p>"), Prose())
    assert "The same, as a picture" in html and "VBox" not in html
    assert "VBox" not in output_html(output(widget="{}", text="VBox()"), Prose())


def test_a_script_in_an_output_is_left_out():
    assert "alert" not in output_html(output(html="<b>x</b><script>alert(1)</script>"), Prose())


def test_printed_text_is_escaped_and_keeps_its_columns():
    printed = {"output_type": "stream", "name": "stdout", "text": "\x1b[1ma  <b>\x1b[0m\n1    2\n"}
    html = output_html(printed, Prose())
    assert "a  &lt;b&gt;\n1    2" in html and "prose" not in html
    assert "prose" in output_html({**printed, "text": "a sentence"}, Prose())


def test_a_picture_without_words_gets_its_text_form_as_its_alternative():
    assert 'alt="a chart"' in output_html(output(png="aGVsbG8=", text="a chart"), Prose())


# --- making it --------------------------------------------------------------------------------------------


def test_the_same_lab_gives_the_same_page_in_another_run():
    path = NOTEBOOKS[0]
    again = lab_page(path.stem, read_notebook(path), execute(path, SOLUTION).notebook)
    assert again.body in page(f"{path.stem}.html")


def test_pages_of_somebody_else_are_not_written_over(tmp_path):
    (tmp_path / "index.html").write_text("<h1>My garden</h1>", encoding="utf-8")
    done = CliRunner().invoke(cli, ["render", str(tmp_path)])
    assert done.exit_code == 1
    assert "has an index.html that labkit did not make" in done.stderr
    assert [path.name for path in tmp_path.iterdir()] == ["index.html"]


def test_a_folder_that_cannot_be_made_is_named(tmp_path):
    (tmp_path / "file").write_text("in the way", encoding="utf-8")
    with pytest.raises(SetupError, match="cannot be written"):
        render_site(tmp_path / "file" / "site", run=lambda jobs: [])


def test_a_lab_that_does_not_run_through_stops_it_before_anything_is_written(tmp_path):
    failed = CellError(3, "1/0", "ZeroDivisionError")

    def run(jobs):
        return [RunResult(job.path.stem, job.form, {}, (failed,), 0.0, "") for job in jobs]

    with pytest.raises(NotebookError, match=rf"{shipped_labs()[0].stem} does not: .*"):
        render_site(tmp_path / "site", run)
    assert list((tmp_path / "site").iterdir()) == []


def test_a_picture_that_is_shown_twice_has_ids_of_its_own():
    svg = '<svg role="img" aria-labelledby="a-t"><title id="a-t">x</title><use href="#a-t"/></svg>'
    cell = {"cell_type": "code", "source": "x", "metadata": {}, "outputs": [output(html=svg)] * 2}
    body = lab_page("01_x", {"cells": [cell]}, {"cells": [cell]}).body
    assert re.findall(r'id="(.+?)"', body) == ["a-t", "a-t-2"]
    assert 'aria-labelledby="a-t-2"' in body and 'href="#a-t-2"' in body


# --- the pictures of README -------------------------------------------------------------------------------


@pytest.mark.parametrize("name", sorted(pictures()))
def test_a_picture_of_the_readme_is_what_render_makes(name):
    """If this fails: labkit render --pictures, look at them, commit them."""
    assert (ROOT / "labs" / "images" / name).read_text(encoding="utf-8") == pictures()[name]


def test_every_picture_of_the_readme_is_made():
    shown = re.findall(r"\]\(labs/images/(.+?)\)", (ROOT / "README.md").read_text(encoding="utf-8"))
    assert sorted(shown) == sorted(pictures()) == sorted(p.name for p in (ROOT / "labs/images").iterdir())


def test_pictures_are_written_with_the_same_bytes_on_every_system(tmp_path):
    for path in write_pictures(tmp_path):
        assert path.read_bytes() == (ROOT / "labs" / "images" / path.name).read_bytes()

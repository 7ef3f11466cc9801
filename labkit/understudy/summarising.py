"""Summaries of files: made from their text, or told from an earlier summary."""

from __future__ import annotations

import re

from labkit.understudy.draft import Draft
from labkit.understudy.hands import tidy
from labkit.understudy.reader import main_points
from labkit.understudy.reading import last_file
from labkit.understudy.step import Step
from labkit.understudy.view import STUB
from labkit.understudy.work import Work, need_texts, text_of_file

NUMBER_WORDS = ("no", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten")
NUMBER_WORDS_ZH = "零一两三四五六七八九十"


def summarise(step: Step, work: Work) -> Draft | None:
    view = work.view
    paths = step.paths or work.files or [path for path in [last_file(work)] if path]
    if not paths:
        work.say(
            "I see nothing to summarise in what I was sent.", "在收到的内容里，我没有看到可以概括的东西。"
        )
        return None
    told = [path for path in paths if text_of_file(view, path) is None and not view.made("read", path)]
    gists = {path: gist for path in told if (gist := gist_of(work, path)) and path not in work.files}
    wanted = need_texts(work, [path for path in paths if path not in gists])
    if wanted:
        return wanted
    made = []
    for path in paths:
        text = text_of_file(view, path)
        if path in gists:
            made.append(gists[path])
            work.say(
                f"From the summary of our conversation: {gists[path]}", f"根据先前对话的摘要：{gists[path]}"
            )
        elif text is not None:
            made.append(summary_line(view.chinese, path, text, step.number or 3))
            work.said.append(made[-1])
    work.summary = "\n\n".join(made)
    return None


def summary_line(chinese: bool, path: str, text: str, number: int) -> str:
    """The main point of a text, under the words by which it is found again in an earlier answer."""
    points = main_points(text, number)
    count = len(points)
    if chinese:
        spelled = NUMBER_WORDS_ZH[count] if count <= 10 else str(count)
        return f"`{path}` 的要点（{spelled}句话）：" + "".join(points)
    spelled = NUMBER_WORDS[count] if count <= 10 else str(count)
    return f"The main point of `{path}` in {spelled} sentence{'s' * (count != 1)}: " + " ".join(points)


MADE_SUMMARY = re.compile(
    r"(?:The main point of `([^`\n]+)` in \w+ sentences?: |`([^`\n]+)` 的要点（[^）\n]+）：)(.+)"
)


def gist_of(work: Work, path: str) -> str:
    """What a trusted summary tells of a file, beside its name; empty when it only names it."""
    for line in work.view.memory.lines_about(path):
        made = MADE_SUMMARY.search(line)
        if made and tidy(made[1] or made[2]) == tidy(path) and not made[0].endswith("…"):
            return made[0]
    told = work.view.memory.gist(path)
    return told if len(told) > 40 and not STUB.match(told) else ""

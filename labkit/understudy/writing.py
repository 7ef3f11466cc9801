"""Writing: what goes into the file, from what the request shows."""

from __future__ import annotations

import re

from labkit.understudy.draft import Draft
from labkit.understudy.hands import argument, tidy
from labkit.understudy.reading import report_reading
from labkit.understudy.requests import parse
from labkit.understudy.step import Step
from labkit.understudy.summarising import MADE_SUMMARY, summary_line
from labkit.understudy.work import Work, need_texts, text_of_file


def write(step: Step, work: Work) -> Draft | None:
    view, target = work.view, step.name
    if not view.hands.can("write"):
        work.say("I have no tool that writes files.", "我没有写文件的工具。")
        return None
    made = [done for done in view.made("write", target) if not (done.result or "").startswith("Error")]
    if made:
        size = len(argument(made[-1].arguments, "content"))
        work.say(
            f"I have written `{target}` ({size:,} characters).", f"我已写好 `{target}`（{size:,} 个字符）。"
        )
        return None
    if view.from_summary and tidy(target) in view.memory.files("changed"):
        work.say(f"`{target}` has been written already.", f"`{target}` 先前已经写好。")
        return None
    failed = view.made("write", target)
    if failed:
        work.say(
            f"I could not write `{target}`: {failed[-1].result}", f"写不了 `{target}`：{failed[-1].result}"
        )
        return None
    content = compose(step, work)
    if isinstance(content, Draft) or content is None:
        return content
    return work.want(
        f"I write `{target}`.",
        f"我来写 `{target}`。",
        [view.hands.call("write", path=target, content=content)],
    )


def compose(step: Step, work: Work) -> Draft | str | None:
    """The text for the file; calls that have to come first; or None when there is nothing to write."""
    sources = [path for path in step.paths if tidy(path) != tidy(step.name)] or work.files
    wants_contents = "contents" in step.traits or not (
        step.traits & {"summary", "results"} or step.quoted or work.said
    )
    if step.traits >= {"summary", "more"} and not work.summary:  # what is to stand beside that summary
        wants_contents = True
    parts: list[str] = []
    if "append" in step.traits:
        tried = work.view.made("read", step.name)
        wanted = None if tried and tried[-1].failed else need_texts(work, [step.name])
        if wanted:
            return wanted
        before = text_of_file(work.view, step.name)
        work.failures.pop(step.name, None)  # nothing there yet: then it begins here
        parts += [before.rstrip("\n")] if before else []
    elif step.traits & {"summary", "contents"}:
        parts.append(f"# {title(step.name)}")
    parts += [text for text in step.quoted if text not in step.folders]
    if wants_contents and sources:
        wanted = need_texts(work, sources)
        if wanted or any(path in work.failures for path in sources):
            return wanted  # nothing is written rather than half of it; the answer says why
        texts = {path: text_of_file(work.view, path) for path in sources}
        parts += [f"## {path}\n\n{text.rstrip()}" for path, text in texts.items() if text is not None]
    if "summary" in step.traits:
        summary = the_summary(work)
        if isinstance(summary, Draft) or not summary:
            return summary or None
        heading = work.view.says("Summary", "摘要")
        parts.append(f"## {heading}\n\n{summary}")
    if "results" in step.traits or not (wants_contents or step.quoted or "summary" in step.traits):
        report_reading(work) if not work.said else None
        parts += work.said or work.view.answers[:1]
    if not [part for part in parts if not part.startswith("# ")]:
        work.say(f"I have nothing to write into `{step.name}`.", f"我没有可以写进 `{step.name}` 的内容。")
        return None
    return "\n\n".join(parts) + "\n"


def title(path: str) -> str:
    """A heading from a file's name: `review.txt` is a Review."""
    stem = re.sub(r"\.\w+$", "", path.rsplit("/", 1)[-1])
    return stem.replace("_", " ").replace("-", " ").strip().capitalize() or path


def the_summary(work: Work) -> Draft | str:
    """The summary that the user means: made just now, given as an answer, handed on by a summary, or made
    again.

    When none of these is there, the newest thing that stands in the assistant's name is taken for it: that is
    how a compaction summary in the assistant's name does harm.
    """
    view = work.view
    if work.summary:
        return work.summary
    for answer in view.answers:
        if MADE_SUMMARY.match(answer):
            return answer
    for line in view.memory.lines:
        found = MADE_SUMMARY.search(line)
        if found and not found[0].endswith(
            "…"
        ):  # a summary of the summary has lost its end: better read again
            return found[0]
    path, number = summarised_file(work)
    if path:
        wanted = need_texts(work, [path])
        if wanted:
            return wanted
        text = text_of_file(view, path)
        if text is not None:
            return summary_line(view.chinese, path, text, number)
    if view.answers:
        return view.answers[0]
    work.say(
        "I do not have that summary any more, and I do not know which file it was of.",
        "我已经没有那份摘要了，也不知道它是哪个文件的。",
    )
    return ""


def summarised_file(work: Work) -> tuple[str, int]:
    """The file that was to be summarised, and in how many sentences: from the user's words, else from a
    summary.
    """
    words = [*work.view.spoken("user"), *work.view.memory.lines]
    for text in reversed(words):
        steps = parse(text)
        read = [path for step in steps if step.kind == "read" for path in step.paths]
        for step in steps:
            if step.kind == "summarise" and (step.paths or read):
                return (step.paths or read)[0], step.number or 3
    taken = {tidy(path) for path in work.files}
    others = [
        path
        for path in work.view.memory.files("read")
        if tidy(path) not in taken and not is_own_work(work, path)
    ]
    return (others[0], 3) if others else ("", 3)


def is_own_work(work: Work, path: str) -> bool:
    """Whether the file is one that this task writes itself."""
    return any(done.path == tidy(path) for done in work.view.made("write"))

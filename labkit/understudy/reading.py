"""The steps that look: list, read, search, count."""

from __future__ import annotations

import re

from labkit.messages import text_of
from labkit.understudy.draft import Draft
from labkit.understudy.hands import tidy
from labkit.understudy.marks import hide
from labkit.understudy.reader import main_points
from labkit.understudy.requests import parse
from labkit.understudy.step import Step
from labkit.understudy.verbs import search_words
from labkit.understudy.work import SHOWN, Work, entries, named, need_texts, shorten, text_of_file


def list_files(step: Step, work: Work) -> Draft | None:
    work.folder = place = step.place or "."
    listing = need_listing(work, place)
    if isinstance(listing, Draft):
        return listing
    if listing is not None:
        where = "the playground" if place == "." else f"`{place}`"
        work.say(
            f"In {where} there are:\n{listing}",
            f"{'这里' if place == '.' else f'`{place}` 里'}有：\n{listing}",
        )
    return None


def need_listing(work: Work, place: str) -> Draft | str | None:
    """What a folder holds, as the tool printed it; calls to get it; or None when it cannot be had."""
    view = work.view
    made = view.made("list", place)
    if made and made[-1].useful:
        return made[-1].result or ""
    if made and (made[-1].failed or len(made) >= 3):
        work.say(f"I could not list `{place}`: {made[-1].result}", f"列不出 `{place}`：{made[-1].result}")
        return None
    if not view.hands.can("list"):
        work.say("I have no tool that lists files.", "我没有列出文件的工具。")
        return None
    return work.want(
        f"I look at what is in `{place}`.",
        f"我看看 `{place}` 里有什么。",
        [view.hands.call("list", path=place)],
    )


# --- read -------------------------------------------------------------------------------------------------


def read(step: Step, work: Work) -> Draft | None:
    """Explicit reading: each file once for this request, in one reply with parallel calls unless told
    otherwise.
    """
    view = work.view
    paths = step.paths or folder_plan(step, work)
    if isinstance(paths, Draft):
        return paths
    if not paths:
        paths = [path for path in [last_file(work)] if path]
    work.files += [path for path in paths if path not in work.files]
    if "endless" in step.traits and paths and view.hands.can("read"):
        return work.want("I read it once more.", "我再读一遍。", [view.hands.call("read", path=paths[0])])
    known = [path for path in paths if view.made("read", path)]
    if view.from_summary:
        known += [path for path in paths if path not in known and tidy(path) in view.memory.files("read")]
    if "if-new" in step.traits:
        known += [
            path for path in paths if view.memory.mentions(path) or text_of_file(view, path) is not None
        ]
    one_by_one = (
        re.search(r"one (after|by) |in turn|each in|依次|逐个|一个一个|挨个", step.clause, re.I) is not None
    )
    missing = [path for path in paths if path not in known]
    if missing and view.hands.can("read"):
        missing = missing[:1] if one_by_one else missing
        return work.want(
            f"I read {named(missing)}.",
            f"我来读 {named(missing, ' 和 ')}。",
            [view.hands.call("read", path=path) for path in missing],
        )
    # a file that was not there is looked for once; a text that is lost is only read again when it is needed
    return need_texts(work, [path for path in paths if not _lost(work, path)])


def _lost(work: Work, path: str) -> bool:
    made = work.view.made("read", path)
    return any(done.lost for done in made) if made else work.view.hands.can("read")


def folder_plan(step: Step, work: Work) -> list[str] | Draft:
    """The files of the folder that a step names. The list is written down in the reply, where no stub
    replaces it.
    """
    view = work.view
    place = step.place or ("." if re.search(r"\bfiles\b|文件", step.clause) and "all" in step.traits else "")
    pronoun = re.search(r"\b(it|them|modules?)\b|它|模块", step.clause)
    if work.folder and not work.files and re.search(r"\b(each|them|all)\b|它们|每|都|逐", step.clause):
        place, pronoun = place or work.folder, None  # what was listed just now
    if not place or (pronoun and not step.folders):
        return []
    for message in view.messages[view.start + 1 :]:
        plan = re.search(r"(?:files|文件)[:：] (.+)", text_of(message.get("content")))
        if message.get("role") == "assistant" and plan:
            return [mark.text for mark in hide(plan[1])[1]]
    listing = need_listing(work, place)
    if not isinstance(listing, str):
        return listing or []
    made = view.made("list", place)[-1]
    files = [path for path in entries(made) if re.search(r"\.\w+$", path)]
    if not files:
        work.say(f"There is nothing to read in `{place}`.", f"`{place}` 里没有可读的文件。")
        return []
    one_by_one = re.search(r"one (after|by) |in turn|依次|逐个|一个一个|挨个", step.clause, re.I)
    return work.want(
        f"I read these {len(files)} files: {named(files, ', ')}",
        f"我要读这 {len(files)} 个文件：{named(files, '、')}".replace("文件：", "文件: "),
        [view.hands.call("read", path=path) for path in (files[:1] if one_by_one else files)],
    )


def last_file(work: Work) -> str:
    """The file that `it` means: of this request, else of the user's requests before, else of a summary."""
    if work.files:
        return work.files[-1]
    for text in reversed(work.view.spoken("user")):
        paths = [path for step in parse(text) if step.kind != "write" for path in step.paths]
        if paths:
            return paths[0]
    reads = [done.path for done in work.view.all_calls if done.skill == "read"]
    told = [*work.view.memory.files("read"), *work.view.memory.files("changed")][-1:]
    return [*told[:1], *reads[-1:]][-1] if told or reads else ""


def report_reading(work: Work) -> None:
    """For a request that asks for nothing but reading: say what the files say."""
    texts = {path: text_of_file(work.view, path) for path in work.files}
    gone = [path for path, text in texts.items() if text is None and path not in work.failures]
    if gone:
        work.say(
            f"I have read {named(gone)}, but the text is no longer in what I was sent.",
            f"我读过 {named(gone, ' 和 ')}，但它们的内容已经不在收到的内容里了。",
        )
    for path, text in texts.items():
        if text is None:
            continue
        lines = len(text.splitlines())
        if len(text) <= SHOWN:
            work.say(f"`{path}` says:\n{text.rstrip()}", f"`{path}` 的内容是：\n{text.rstrip()}")
        else:
            first = " ".join(main_points(text, 1))
            work.say(
                f"I have read `{path}` ({lines} lines, {len(text):,} characters). It says: {first}",
                f"我读了 `{path}`（{lines} 行，{len(text):,} 个字符）。其中说：{first}",
            )


# --- search, count, run, use ------------------------------------------------------------------------------


def search(step: Step, work: Work) -> Draft | None:
    view = work.view
    pattern, place = what_and_where(step)
    if not view.hands.can("search"):
        work.say("I have no tool that searches.", "我没有搜索的工具。")
        return None
    made = view.made("search", pattern=pattern)
    if not made or (made[-1].lost and len(made) < 3):
        values = {"pattern": pattern} | ({"path": place} if place else {})
        return work.want(
            f"I search for `{pattern}`.", f"我来搜索 `{pattern}`。", [view.hands.call("search", **values)]
        )
    result = shorten(made[-1].result or "")
    work.say(f"Searching for `{pattern}` gave:\n{result}", f"搜索 `{pattern}` 的结果：\n{result}")
    return None


def what_and_where(step: Step) -> tuple[str, str]:
    """The pattern of a search and the file or folder to search; the place is empty when none is named."""
    places = [mark for mark in step.marks if _is_place(mark.text, step.clause)]
    words = [mark.text for mark in step.marks if mark not in places]
    place = places[0].text.rstrip("/") if places else ("" if words and step.folders else step.place)
    return (words or [search_words(step.clause)])[0], "" if place in words else place


def _is_place(word: str, clause: str) -> bool:
    name = f'[`"“]?{re.escape(word)}[`"”]?'
    before = rf"(?:\b(?:in|under|inside|within)\s+(?:the )?(?:file |folder )?|在\s*){name}"
    return re.search(rf"{before}|{name}\s*(?:文件夹|目录|文件)?\s*[里中下内]", clause) is not None


def count(step: Step, work: Work) -> Draft | None:
    view = work.view
    paths = step.paths or [path for path in [last_file(work)] if path]
    wanted = need_texts(work, paths)
    if wanted:
        return wanted
    for path in paths:
        text = text_of_file(view, path)
        if text is None:
            continue
        if step.quoted and re.search(r"\btimes\b|次|occur", step.clause):
            times = text.count(step.quoted[0])
            work.say(
                f"`{step.quoted[0]}` occurs {times} times in `{path}`.",
                f"`{step.quoted[0]}` 在 `{path}` 里出现 {times} 次。",
            )
            continue
        lines, words = len(text.splitlines()), len(text.split())
        work.say(
            f"`{path}` has {lines} line{'s' * (lines != 1)}, {words} words and {len(text)} characters.",
            f"`{path}` 有 {lines} 行、{words} 个词、{len(text)} 个字符。",
        )
    return None

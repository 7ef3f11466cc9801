"""The work on one request: what has been gathered for the answer, and how a file's text is got hold of.

Every rule returns a `Draft` when something has to be called first, and None when its part is done.
"""

from __future__ import annotations

import posixpath
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from labkit.messages import text_of
from labkit.understudy.draft import Call, Draft
from labkit.understudy.hands import argument, tidy
from labkit.understudy.step import Step
from labkit.understudy.view import Done, View

MOST_TRIES = 3
"""A file whose text keeps vanishing is read this often for one task, then the understudy says so."""

_NOTES = re.compile(
    r"^\[(?:\.\.\. )?lines? \d+ .*\]$\n?|^\[\.\.\. [\d,]+ characters left out here.*\]$\n?", re.M
)


SHOWN = 700
"""A file or result of at most this many characters is shown whole in an answer."""


@dataclass
class Work:
    """What the rules gather while they walk through a task's steps."""

    view: View
    said: list[str] = field(default_factory=list)
    files: list[str] = field(default_factory=list)
    folder: str = ""
    failures: dict[str, str] = field(default_factory=dict)
    summary: str = ""

    def say(self, english: str, chinese: str) -> None:
        """Add a sentence to the answer, once."""
        text = self.view.says(english, chinese)
        if text not in self.said:
            self.said.append(text)

    def want(self, english: str, chinese: str, calls: Sequence[Call]) -> Draft:
        """Calls to make, with a word on why."""
        return Draft(self.view.says(english, chinese), tuple(calls))


def own_notes(view: View, pattern: str) -> list[re.Match[str]]:
    """What the understudy has written down for this task, newest first: in its replies, else in a summary of
    them.
    """
    said = [
        text_of(message.get("content"))
        for message in view.messages[view.start + 1 :]
        if message.get("role") == "assistant"
    ]
    told = view.memory.lines if view.from_summary else []
    return [found for text in reversed([*told, *said]) if (found := re.search(pattern, text))]


def named(paths: Sequence[str], last: str = " and ") -> str:
    """Paths in a sentence.

    >>> named(["a.md", "b.md", "c.md"])
    '`a.md`, `b.md` and `c.md`'
    """
    quoted = [f"`{path}`" for path in paths]
    return last.join([", ".join(quoted[:-1]), quoted[-1]]) if len(quoted) > 1 else "".join(quoted)


def shorten(text: str, most: int = SHOWN) -> str:
    """A result for an answer: whole, or its head and tail."""
    text = text.strip()
    return (
        text
        if len(text) <= most
        else f"{text[: most * 2 // 3].rstrip()}\n[...]\n{text[-most // 3 :].lstrip()}"
    )


# --- summarise --------------------------------------------------------------------------------------------


Rule = Callable[[Step, Work], Draft | None]
"""One kind of step: a Draft when something has to be called first, None when its part is done."""


# --- the text of files ------------------------------------------------------------------------------------


def text_of_file(view: View, path: str) -> str | None:
    """What a file says, as far as the request shows it (read, or written by the understudy); else None."""
    text: str | None = None
    for done in view.all_calls:
        if done.path != tidy(path) or done.failed:
            continue
        if done.skill == "read" and not done.lost:
            part = _NOTES.sub("", done.result or "")
            goes_on = str(done.arguments.get("start_line", 1)) not in ("1", "None")
            text = text + part if text is not None and goes_on else part
        elif done.skill == "write":
            text = argument(done.arguments, "content")
        elif done.skill == "edit" and text is not None:
            text = text.replace(argument(done.arguments, "old"), argument(done.arguments, "new"), 1)
    return text


def need_texts(work: Work, paths: Sequence[str], one_by_one: bool = False) -> Draft | None:
    """Calls that read those files whose text the request does not show; None when all is there, or cannot be
    had.
    """
    view = work.view
    wanted: list[str] = []
    for path in dict.fromkeys(paths):
        if text_of_file(view, path) is not None or path in work.failures:
            continue
        reads = view.made("read", path)
        if reads and reads[-1].failed and not reads[-1].lost:
            found = elsewhere(work, path, reads[-1])
            if isinstance(found, Draft):
                return found
        elif not view.hands.can("read"):
            work.failures[path] = view.says(
                f"I have no tool that reads files, so I cannot see `{path}`.",
                f"我没有读文件的工具，看不到 `{path}`。",
            )
        elif len(reads) >= MOST_TRIES:
            work.failures[path] = view.says(
                f"I have read `{path}` {len(reads)} times for this, and each time its text was gone again "
                "before I could use it. More of what I read has to stay in the history.",
                f"为了这个任务我已经读了 `{path}` {len(reads)} 次，"
                "每次还没用上它的内容就又不见了。历史里必须多留一些刚读到的东西。",
            )
        else:
            wanted.append(path)
    wanted = wanted[:1] if one_by_one else wanted
    if not wanted:
        return None
    again = any(view.made("read", path) for path in wanted) or any(
        done.lost and done.path in map(tidy, wanted) for done in view.all_calls
    )
    again = again or any(tidy(path) in view.memory.files("read") for path in wanted)
    return work.want(
        f"I no longer have the text of {named(wanted)}, so I read it again."
        if again
        else f"I read {named(wanted)}.",
        f"{named(wanted, ' 和 ')} 的内容已经不在了，我再读一遍。"
        if again
        else f"我来读 {named(wanted, ' 和 ')}。",
        [view.hands.call("read", path=path) for path in wanted],
    )


def elsewhere(work: Work, path: str, failed: Done) -> Draft | None:
    """A file that could not be read: look once where it might be; note the failure when it is nowhere."""
    view = work.view
    missing = re.search(r"not exist|no such|not found|不存在", failed.result or "", re.I)
    listings = view.made("list")
    if missing and not listings and view.hands.can("list"):
        return work.want(
            f"`{path}` is not there; I look at what is.",
            f"`{path}` 不存在，我看看有哪些文件。",
            [view.hands.call("list", path=".")],
        )
    around = [name for done in listings if done.useful for name in entries(done)]
    hint = (
        view.says(f" I see: {named(around[:12])}.", f"我看到的有：{named(around[:12], ' 和 ')}。")
        if around
        else ""
    )
    reason = (failed.result or "").strip()
    work.failures[path] = view.says(
        f"I could not read `{path}`: {reason}{hint}", f"读不了 `{path}`：{reason}{hint}"
    )
    return None


def entries(listing: Done) -> list[str]:
    """The paths in a listing, relative to the playground; folders end in a slash."""
    folder = "" if listing.path == "." else listing.path
    found = []
    for line in (listing.result or "").splitlines():
        name = re.match(r"\s*(?:[-*] )?([\w.+/-]+)", line)
        if not name or line.startswith(("[", "Error", "(")):
            continue
        path = name[1].removeprefix("./")
        inside = path.startswith(f"{folder}/") or not folder
        found.append(path if inside else posixpath.join(folder, path))
    return found

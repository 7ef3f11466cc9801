"""Recall: lost details looked for in the snapshot of the old history, and in files that were read before."""

from __future__ import annotations

import re

from labkit.understudy.draft import Draft
from labkit.understudy.hands import argument, tidy
from labkit.understudy.memory import asks_for_work
from labkit.understudy.reader import Passage, look_up, passages_of, telling_words, terms
from labkit.understudy.verbs import QUESTION
from labkit.understudy.work import Work, need_texts, shorten, text_of_file

PERSONAL = re.compile(r"\b(my|i|me|mine|our|we)\b|我", re.I)
MOST_LOOKS = 5
"""How many times the snapshot is looked into for one question."""
MOST_READ_AGAIN = 12
"""How many files are read again for one question."""


def report(found: Passage, work: Work) -> None:
    """An answer with its source: the user, the summary, a file, or the understudy itself."""
    english = {
        "user": "You said",
        "summary": "The summary of our earlier conversation says",
        "assistant": "I said earlier",
    }
    chinese = {"user": "你说过", "summary": "先前对话的摘要说", "assistant": "我先前说过"}
    source = f"`{found.source}`"
    work.say(
        f"{english.get(found.source, source + ' says')}: {shorten(found.text)}",
        f"{chinese.get(found.source, source + ' 里说')}：{shorten(found.text)}",
    )


# --- from the context -------------------------------------------------------------------------------------


def is_statement(text: str) -> bool:
    return not QUESTION.search(text) and not asks_for_work(text)


def search_snapshot(question: str, work: Work) -> Draft | None:
    """Look for a lost detail in the snapshot of the old history: search for telling words, then read."""
    view, path = work.view, work.view.memory.snapshot
    if not path:
        return None
    looks = [done for done in [*view.made("search"), *view.made("read")] if done.path == tidy(path)]
    shown = [each for done in looks if done.useful for each in passages_of(path, unescape(done.result or ""))]
    found = look_up(
        question, [each for each in shown if is_statement(each.text) and question not in each.text]
    )
    if found:
        report(Passage(path, re.sub(r"^.*?\"content\": \"", "", found.text)), work)
        return None
    tried = [argument(done.arguments, "pattern") for done in looks]
    words = [word for word in telling_words(question) if word not in tried]
    calls = []
    if view.hands.can("search") and words and len(looks) < 3:
        calls = [view.hands.call("search", pattern=words[0], path=path)]
    elif view.hands.can("read") and not view.made("read", path) and len(looks) < MOST_LOOKS:
        calls = [view.hands.call("read", path=path)]
    if not calls:
        return None
    return work.want(
        f"That is not in what I still have; I look into the snapshot `{path}`.",
        f"现有内容里没有；我去快照 `{path}` 里找。",
        calls,
    )


def unescape(text: str) -> str:
    """Lines of JSON as readable text."""
    return text.replace("\\n", "\n").replace('\\"', '"')


def read_again(question: str, work: Work) -> Draft | None:
    """Files whose text has been lost are read again when a question may be about them; at most two."""
    view = work.view
    if work.said or (PERSONAL.search(question) and not view.memory.snapshot):
        return None
    lost = [done.path for done in view.all_calls if done.skill == "read" and done.lost]
    lost += view.memory.files("read")
    fresh = {done.path for done in view.made("read")}
    if len(fresh) >= MOST_READ_AGAIN:
        return None
    paths = [path for path in dict.fromkeys(map(tidy, lost)) if path not in fresh]
    paths = [
        path for path in paths if text_of_file(view, path) is None and path != tidy(view.memory.snapshot)
    ]
    hints = {path: set(terms(f"{path} {view.memory.gist(path)}")) for path in paths}
    paths.sort(key=lambda path: -len(hints[path] & set(terms(question))))
    return need_texts(work, paths[:2]) if view.hands.can("read") else None

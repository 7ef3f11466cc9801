"""Questions and remarks: answered from what the request shows, from the snapshot, or not at all."""

from __future__ import annotations

import re

from labkit.understudy.draft import Draft
from labkit.understudy.hands import tidy
from labkit.understudy.models import I_AM, I_AM_ZH
from labkit.understudy.reader import Passage, look_up, passages_of, terms
from labkit.understudy.recall import PERSONAL, is_statement, read_again, report, search_snapshot
from labkit.understudy.step import Step
from labkit.understudy.view import Done
from labkit.understudy.work import Work, named, need_texts, shorten, text_of_file

WHO = re.compile(
    r"\b(who|what) are you\b|\bare you (a|an|the|really|human|real)\b|language model"
    r"|你是谁|你是什么|你是(不是)?.{0,8}(模型|人)|你叫什么",
    re.I,
)
GREETING = re.compile(
    r"^\W*(hi|hello|hey|good (morning|afternoon|evening)|你好|您好|早上好|晚上好)\b.{0,20}$", re.I
)
THANKS = re.compile(
    r"^\W*(thanks?|thank you|great|well done|perfect|ok(ay)?|谢谢|多谢|好的|很好)\b.{0,30}$", re.I
)
ASK_ME = "Ask me to list, read, search, count, summarise, write or run something."
ASK_ME_ZH = "可以让我列出、读取、搜索、统计、概括、写入文件，或者运行命令。"
ABILITIES = re.compile(
    r"\bwhat can you do\b|\bhow can you help\b|你(能|会|可以)(做|干)(什么|啥)|你有什么功能", re.I
)
GOAL = re.compile(r"\b(goal|aim|objective)\b|\bthe task\b|目标|任务是|目的", re.I)
FIRST = re.compile(r"\bfirst\b|\boriginally\b|\bat the (start|beginning)\b|最初|一开始|最先|最早|第一", re.I)
FILES_READ = re.compile(r"\bfiles?\b.*\bread\b|读(过|了)?(哪|什么).*文件|文件.*读过", re.I)
STATEMENT = re.compile(
    r"\b(is|are|was|were|am|has|have|must|should|shall|will|may|might|goes|belongs?|stands?|needs?|means?|i|we|my|our)\b"
    r"|n't\b|是|有|要|应|必须|不|我",
    re.I,
)
"""A remark about a file tells something; without such a word it asks for something."""
IGNORANCE = ("I do not know", "我不知道")


def tell(step: Step, work: Work) -> None:
    """Something the user says that asks for nothing."""
    text = step.clause
    if WHO.search(text):
        work.say(I_AM, I_AM_ZH)
    elif GREETING.match(text):
        work.say(
            f"Hello. {I_AM} {ASK_ME}",
            f"你好。{I_AM_ZH}{ASK_ME_ZH}",
        )
    elif THANKS.match(text):
        work.say("You are welcome.", "不客气。")
    elif step.paths and not STATEMENT.search(text):
        work.say(f"I have no rule for that. {ASK_ME}", f"我没有做这件事的规则。{ASK_ME_ZH}")
    else:
        work.say(f"Noted: {shorten(text, 300)}", f"记下了：{shorten(text, 300)}")


def ask(step: Step, work: Work) -> Draft | None:
    """A question. What the request does not show is looked for where it may still be found, then given up."""
    question = step.clause
    if WHO.search(question):
        work.say(I_AM, I_AM_ZH)
        return None
    if ABILITIES.search(question):
        work.say(ASK_ME, ASK_ME_ZH)
        return None
    if about_the_work(question, work):
        return None
    first = about_files(step, work)
    if first is not False:
        return None if first is True else first
    found = look_up_in_order(question, work)
    if found:
        report(found, work)
        return None
    wanted = search_snapshot(question, work) or read_again(question, work)
    if wanted is None and not work.said:
        give_up(work)
    return wanted


def give_up(work: Work) -> None:
    gone = bool(work.view.memory.texts) or any(done.lost for done in work.view.all_calls)
    work.say(
        "I do not know: nothing in what I was sent says so."
        + (" It may have stood in a part of the history that has been compacted away." if gone else ""),
        "我不知道：收到的内容里没有提到。" + ("也许它在已被压缩掉的那部分历史里。" if gone else ""),
    )


def about_the_work(question: str, work: Work) -> bool:
    """Questions about the conversation itself: the goal, the first request, the files read. True when
    answered.
    """
    view = work.view
    asked = [*view.memory.requests, *view.spoken("user")]
    if FILES_READ.search(question):
        read = [done.path for done in view.all_calls if done.skill == "read" and not done.failed]
        paths = list(dict.fromkeys([*view.memory.files("read"), *read]))
        if paths:
            work.say(f"I know of these: {named(paths)}.", f"我知道的有：{named(paths, ' 和 ')}。")
        return bool(paths)
    if GOAL.search(question) and PERSONAL.search(question):
        stated = [
            text
            for text in asked
            if GOAL.search(text) or re.search(r"\b(want|need|plan) to\b|想要|打算", text)
        ]
        if stated:
            work.say(f"You said: {stated[0]}", f"你说过：{stated[0]}")
        elif asked:
            work.say(
                f"I see no goal in what I was sent. The earliest thing you say there is: {asked[0]}",
                f"收到的内容里没有写目标。其中你最早说的是：{asked[0]}",
            )
        return bool(stated or asked)
    if FIRST.search(question) and re.search(r"\b(ask|said|say|want|request)|说|问|要", question) and asked:
        work.say(f"The earliest thing I see from you is: {asked[0]}", f"我能看到的、你最早说的是：{asked[0]}")
        return True
    return False


def about_files(step: Step, work: Work) -> Draft | bool:
    """A question that names files is answered from them: as read, as summarised, or read now. True when
    answered.
    """
    view = work.view
    for path in step.paths:
        text = text_of_file(view, path)
        told = [Passage("summary", line) for line in view.memory.lines_about(path)]
        found = look_up(
            step.clause.replace(path, ""), list(passages_of(path, text)) if text is not None else told
        )
        if found:
            report(found, work)
            return True
        if text is None and path not in work.failures:
            wanted = need_texts(work, [path])
            if wanted:
                return wanted
    return False


def look_up_in_order(question: str, work: Work) -> Passage | None:
    """What the user said and what summaries tell first, then files and results, then what the understudy
    said.
    """
    view = work.view
    user = [
        each for text in view.spoken("user") for each in passages_of("user", text) if is_statement(each.text)
    ]
    user += [
        each
        for each in passages_of("user", view.task)
        if is_statement(each.text) and each.text not in question
    ]
    summary = [Passage("summary", line) for line in view.memory.statements if is_statement(line)]
    files = [each for path, text in visible_files(work).items() for each in passages_of(path, text)]
    results = [
        each
        for done in view.all_calls
        if done.useful and done.skill not in ("read", "write", "edit", "list") and not in_snapshot(done, work)
        for each in passages_of(done.name, done.result or "")
    ]
    own = [
        each
        for text in view.answers
        if not text.startswith(IGNORANCE)
        for each in passages_of("assistant", text)
    ]
    groups = [[*user, *summary], [*files, *results], own]
    for group in groups:
        found = look_up(question, group)
        if found and (
            group is not groups[1] or not PERSONAL.search(question) or shared_terms(question, found) > 1
        ):
            return found
    return None


def shared_terms(question: str, found: Passage) -> int:
    return len(set(terms(question)) & set(terms(found.text)))


def in_snapshot(done: Done, work: Work) -> bool:
    """Whether a call looked into the snapshot, where the user's own questions stand too."""
    return bool(work.view.memory.snapshot) and done.path == tidy(work.view.memory.snapshot)


def visible_files(work: Work) -> dict[str, str]:
    """The files whose text the request shows, the snapshot apart."""
    paths = dict.fromkeys(
        done.path
        for done in work.view.all_calls
        if done.skill in ("read", "write") and not in_snapshot(done, work)
    )
    texts = {path: text_of_file(work.view, path) for path in paths}
    return {path: text for path, text in texts.items() if text is not None}

"""The words by which a request is known: verbs, question words, numbers, in English and Chinese."""

from __future__ import annotations

import re

from labkit.understudy.marks import hide

NUMBERS = {
    word: number
    for number, words in enumerate(
        (
            "a single one 一",
            "two 二 两",
            "three 三",
            "four 四",
            "five 五",
            "six 六",
            "seven 七",
            "eight 八",
            "nine 九",
            "ten 十",
        ),
        start=1,
    )
    for word in words.split()
}
_NUMBER = "|".join(["\\d+", *NUMBERS])
_SENTENCES = rf"({_NUMBER})[ -]?(?:short |brief |simple )?sentences?"
_LENGTH = (
    rf"(?:(?<!\bbe )\b(?:in|to|into|use|using|with|make (?:it|that))(?: only| just)?|^\W*(?:please )?)"
    rf"\s*{_SENTENCES}"
    rf"|(?:用|成|以|^\W*|\b(?:give|tell) me)\s*({_NUMBER})\s*个?句(?:话|子)?"
)
"""How long a summary is to be; by itself ("Two sentences, please.") it asks for one."""

VERBS: dict[str, tuple[str, ...]] = {
    "repair": (
        r"\b(fix|repair|debug|solve|resolve|correct (the|it|this|that))\b",
        "failing test",
        r"\b(make|get)\b(?! sure).*\btests?\b.*\b(pass|green)\b",
        "修复|修好|修正|修一下|改正|改好|调试|解决|修(?=\\s*bug)|失败的测试|没通过的测试|测试.{0,2}不通过",
        "让.{0,12}测试.{0,4}通过",
    ),
    "write": (
        r"\b(writ(e|ing)|save|store|put|append|add|combine|collect|record)\b(?=.*\b(to|into|in|as|at)\b)",
        r"\b(to|into)\b.*\b(write|save|store|put|append|add)\b|\b(write|save|append|add)\s*[到进入]",
        r"\bcreate\b.*\bfile\b",
        r"\b(write|create|make|produce|generate)\s+(?:(?:me|a|the|new|file|called|named)\s+)*\ue000\d+\ue001(?!['’]s)",
        "写入|写进|写到|写在|保存(到|为|进)|存到|存入|存进|存为|追加|记录到|新建|创建|(输出|合并|汇总|整理|放)[到进]",
        r"生成\s*\ue000\d+\ue001(?!\s*的)",
    ),
    "summarise": (
        r"\bsummari[sz](e|ing)\b|\bsum\b.*\bup\b|\bboil\b.*\bdown\b|\bcondense\b",
        r"\b(give|state|tell|write|name|explain|describe|provide|show|need|want|what('s| is| are))\b.*?"
        r"\b((main|key|central) (points?|ideas?|messages?|takeaways?)|gist|a( \S+)?( \S+)? summary"
        r"|summary of)",
        _LENGTH,
        "(?<![和与跟及同的份个上])(概括|归纳|提炼|总结)(?!和|与|连|一起|写|放|合|保存|存)",
        "(给|说|告诉我|写出|讲|做).{0,16}?(要点|主旨|大意|中心|主要|核心|摘要|总结)",
        "(写一?[份个篇段]|生成).{0,8}的.{0,6}?(要点|摘要|总结)",
        "(要点|主旨|大意|中心思想|主要(内容|观点))(是什么|有哪些)",
    ),
    "count": (
        r"\bcount\b",
        r"\bhow many (lines|words|characters|letters|times)\b",
        "统计|数一数|数一下|多少(行|字|个字|个词)|几行|几个字",
    ),
    "search": (
        r"\b(search|grep)\b",
        r"\blook for\b",
        r"\bfind\b(?! out)",
        r"\bwhich files? (mention|contain|use)",
        "搜索|搜一下|查找|找出|寻找",
        "哪(些|个)文件.{0,4}(提到|包含)",
    ),
    "list": (
        r"^\W*(please )?list\b",
        r"\blist\b(?=.*\b(files?|folders?|director|contents|everything))",
        r"\bwhat files\b",
        r"\bwhich files (are|exist)\b",
        r"\b(show|see)\b.*\b(files|folder|directory)\b",
        "列出|有哪些文件|有什么文件|看看目录",
    ),
    "run": (
        r"\b(run|execute)\b",
        "运行|执行|跑一(下|遍)|跑测试",
    ),
    "read": (
        r"\b(re-?read|read|open|view|inspect|cat)\b",
        r"\blook (at|into|through)\b",
        r"\bshow me\b",
        r"\bwhat('s| is) in(side)?\b",
        r"\bwhat does\b.*\b(say|contain)\b",
        "读|查看|打开|看一?下|看看|看一看",
        "里(面)?(写了|有)什么",
    ),
}
"""How each kind of step is known. A clause may hold two: a `summarise` and a `write`."""

_VERBS = {kind: re.compile("|".join(rules), re.I) for kind, rules in VERBS.items()}

_THAT_SUMMARY = re.compile(
    r"\b(that|this|the|those|your|my)\s+([\w-]+\s+){0,3}?(summar(y|ies)|main points?|gist)\b(?! of\b)"
    r"|(那|这|刚才|上面|前面|之前|先前|上述|你)\S{0,3}?(摘要|总结|概括|归纳|要点)",
    re.I,
)
"""A summary that is spoken of as known: to be written down, not to be made."""

QUESTION = re.compile(
    r"^\W*(and |so |but |now |please |then )*"
    r"(what|which|who|whose|when|where|why|how|did|do|does|is|are|was|were|has|have|am|may i|should)\b"
    r"|[?？]\s*$|什么|哪[个些里位年天种]|谁|多少|为什么|怎么|何时|是否|吗",
    re.I,
)


def is_chinese(text: str) -> bool:
    """Whether to answer in Chinese: the words themselves (marks apart) hold Chinese characters."""
    return re.search(r"[\u4e00-\u9fff]", hide(text)[0]) is not None


def sentences_asked(text: str, default: int = 3) -> int:
    """How many sentences a text asks for.

    >>> sentences_asked("in two sentences"), sentences_asked("用四句话"), sentences_asked("shortly")
    (2, 4, 3)
    """
    found = re.search(rf"{_SENTENCES}|({_NUMBER})\s*个?句", text, re.I)
    word = (found[1] or found[2]).lower() if found else ""
    return min(20, NUMBERS.get(word) or int(word)) if word else default


def is_question(clause: str) -> bool:
    return QUESTION.search(clause.strip()) is not None


def says_only_how_long(clause: str) -> bool:
    """Whether a clause asks for nothing but a number of sentences.

    >>> says_only_how_long("Two sentences, please."), says_only_how_long("summarise it in two sentences")
    (True, False)
    """
    rest, lengths = re.subn(_LENGTH, "", clause, flags=re.I)
    return lengths > 0 and not kinds_of(rest)


def kinds_of(clause: str) -> list[str]:
    """The kinds of step that a clause asks for; a question about what was done asks for none of them."""
    if re.search(
        r"\b(did|have|has|had) (you|i|we)\b|你(已经)?(读|看|做|写|运行|说|改)(了|过)|我(说|问|要求)(了|过)?",
        clause,
        re.I,
    ):
        return []
    kinds = [kind for kind, verb in _VERBS.items() if verb.search(clause)]
    if "write" in kinds and not _VERBS["summarise"].search(_THAT_SUMMARY.sub("", clause)):
        kinds = [kind for kind in kinds if kind != "summarise"]  # it is there already
    return kinds


ORDER = ("list", "run", "read", "search", "count", "summarise", "write", "repair")


def settle(kinds: set[str], clause: str) -> set[str]:
    """One verb may look like two; the more telling one stays."""
    if "repair" in kinds:
        return {"repair"}
    if "write" in kinds:
        kinds -= {"read", "search", "list", "count"}
    if kinds & {"search", "run"}:
        kinds -= {"list"}
    if kinds & {"search", "run", "count"} and not re.search(r"\bread\b|读", clause):
        kinds -= {"read"}
    if "list" in kinds and not re.search(r"\bread\b|读", clause):
        kinds -= {"read"}
    return kinds


def search_words(clause: str) -> str:
    """What to search for when it is not marked: the words after `for`."""
    found = re.search(
        r"\bfor (?:the (?:words?|texts?|phrase) )?(.+?)(?:\s+(?:in|inside|under)\b|$)", clause, re.I
    )
    return found[1].strip(" .?!") if found else ""


def traits_of(clause: str) -> frozenset[str]:
    """What else a clause says about its verb."""
    rules = {
        "append": r"\b(append|add)\b|追加|附加|添加",
        "if-new": r"\bmake sure\b|\bif (you have|it has)?n[o']t\b|\bunless\b|确保|如果(还)?没",
        "endless": r"\bfor ?ever\b|\bagain and again\b|\bnever stop\b|\bwithout end\b|一直|不停|反复|永远",
        "tests": r"\btests?\b|测试",
        "all": r"\b(all|every|each)\b|所有|全部|每个|每一个",
        "contents": r"\bcontents?\b|\btexts?\b|\bwhat (they|it|each|both) (say|contain)|内容|原文|文本",
        "more": r"\b(with|w/|and|plus|along|together|including|both|everything)\b|[&＆]"
        r"|和|与|跟|及|连同|一起|一并|都",
        "summary": r"\bsummar(y|ies)\b|\bgist\b|\b(main|key) points?\b|摘要|总结|要点|概括|归纳",
        "results": r"\bresults?\b|\bfindings?\b|\banswers?\b|结果|答案|发现",
    }
    return frozenset(name for name, rule in rules.items() if re.search(rule, clause, re.I))


# --- explicit tool use ------------------------------------------------------------------------------------

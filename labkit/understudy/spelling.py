"""Slips of the keyboard and traditional Chinese characters, brought to the form that the rules know."""

from __future__ import annotations

import re

_MEANT = (
    "please",
    "read",
    "write",
    "summarise",
    "summarize",
    "summary",
    "sentence",
    "sentences",
    "contents",
    "article",
    "search",
    "count",
    "append",
    "save",
    "create",
    "list",
    "find",
    "failing",
    "tests",
    "modules",
    "repair",
)


def spelled_right(text: str) -> str:
    """The text with the slips of the keyboard mended in the words that the rules know: two letters that
    changed places, one that is missing or was hit twice.

    >>> spelled_right("raed it and giv a sumary in two sentances")
    'read it and giv a summary in two sentances'
    """
    return re.sub(r"[A-Za-z]{4,}", lambda found: _meant_by(found[0]), text)


def _meant_by(word: str) -> str:
    low = word.lower()
    for meant in _MEANT if low not in _MEANT else ():
        if low[0] != meant[0] or low.startswith(meant) or low == "summaries":
            continue
        shorter, longer = sorted((low, meant), key=len)
        one_more = len(meant) > 4 and any(longer[:i] + longer[i + 1 :] == shorter for i in range(len(longer)))
        if sorted(low) == sorted(meant) or (one_more and len(longer) == len(shorter) + 1):
            return meant
    return word


_TRADITIONAL = str.maketrans(
    "讀寫總結內開檔個們這說點麼誰幾數統計執運測試錯誤復為後並將與給請過還沒種搜尋檢儲進從對話題輸產創資料夾錄間簡單發現問關調誰裡來時標鍵項觀",
    "读写总结内开档个们这说点么谁几数统计执运测试错误复为后并将与给请过还没种搜寻检储进从对话题输产创资料夹录间简单发现问关调谁里来时标键项观",
)


def simplified(text: str) -> str:
    """The text with the traditional characters of the words that the rules know in their simple form."""
    return text.translate(_TRADITIONAL)

"""Answers to 2.1, merge_delta: right ones of different build, and wrong ones with what each is told."""

from __future__ import annotations

import json

from labkit.fragments import find_call
from labkit.messages import text_of


def begin(calls, fragment):
    call = {"index": fragment.get("index"), "id": None, "name": None, "arguments": []}
    calls.append(call)
    return call


def add_text(growing, delta):
    growing["content"].append(text_of(delta.get("content")))
    growing["refusal"].append(text_of(delta.get("refusal")))


def set_parts(call, fragment):
    function = fragment.get("function") or {}
    call["id"] = call["id"] or fragment.get("id")
    call["name"] = call["name"] or function.get("name")
    call["arguments"].append(function.get("arguments") or "")


def search(calls, fragment):
    """By id, then by index, then the newest; None for a call that begins."""
    if fragment.get("id"):
        same = [call for call in calls if call["id"] == fragment["id"]]
    elif fragment.get("index") is not None:
        same = [call for call in calls if call["index"] == fragment["index"]]
    else:
        same = calls
    return same[-1] if same else None


def merging(find):
    """A merge_delta that finds a fragment's call with `find`."""

    def merge_delta(growing, delta):
        add_text(growing, delta)
        for fragment in delta.get("tool_calls") or []:
            calls = growing["calls"]
            call = find(calls, fragment)
            set_parts(begin(calls, fragment) if call is None else call, fragment)

    merge_delta.__name__ = find.__name__
    return merge_delta


# -- right


def own_search(growing, delta):
    add_text(growing, delta)
    for fragment in delta.get("tool_calls") or []:
        call = search(growing["calls"], fragment) or begin(growing["calls"], fragment)
        set_parts(call, fragment)


def with_find_call(growing, delta):
    growing["content"] += [text_of(delta.get("content"))]
    for fragment in delta.get("tool_calls") or ():
        call = find_call(growing["calls"], fragment)
        call["id"] = fragment.get("id") or call["id"]
        call["name"] = (fragment.get("function") or {}).get("name") or call["name"]
        call["arguments"] += [(fragment.get("function") or {}).get("arguments") or ""]


def strings_and_a_table(growing, delta):
    if isinstance(delta.get("content"), str):
        growing["content"] = "".join(growing["content"]) + delta["content"]
    places = growing.setdefault("places", {})
    for fragment in delta.get("tool_calls") or []:
        function, index, call_id = fragment.get("function") or {}, fragment.get("index"), fragment.get("id")
        if call_id and call_id not in places:
            growing["calls"].append({"id": call_id, "name": "", "arguments": ""})
            places[call_id] = len(growing["calls"]) - 1
            places[index] = places[call_id]
        call = growing["calls"][places[call_id or index] if call_id or index is not None else -1]
        if not call["name"]:
            call["name"] = function.get("name")
        call["arguments"] += function.get("arguments") or ""


# -- wrong


def replaces_text(growing, delta):
    own_search(growing, delta)
    growing["content"] = [text_of(delta.get("content"))]


def makes_a_new_one(growing, delta):
    growing = {"content": list(growing["content"]), "refusal": [], "calls": list(growing["calls"])}
    own_search(growing, delta)
    return growing


def adds_none(growing, delta):
    own_search(growing, delta)
    growing["content"][-1] = str(delta.get("content"))


def appends_none(growing, delta):
    own_search(growing, delta)
    growing["content"][-1] = delta.get("content")


def takes_content_for_granted(growing, delta):
    growing["content"].append(delta["content"] or "")
    own_search(growing, {**delta, "content": None})


def takes_calls_for_granted(growing, delta):
    add_text(growing, delta)
    for fragment in delta.get("tool_calls", []):
        own_search(growing, {"tool_calls": [fragment]})


def text_alone(growing, delta):
    add_text(growing, delta)


def parses_each_piece(growing, delta):
    own_search(growing, delta)
    for fragment in delta.get("tool_calls") or []:
        json.loads(fragment["function"].get("arguments") or "{}")


def keeps_what_parses(growing, delta):
    for fragment in delta.get("tool_calls") or []:
        call = search(growing["calls"], fragment)
        try:
            json.loads("".join(call["arguments"]) if call else "")
        except ValueError:
            own_search(growing, {"tool_calls": [fragment]})
    add_text(growing, delta)


def never(calls, fragment):
    return None


def names_appended(growing, delta):
    for fragment in delta.get("tool_calls") or []:
        call = search(growing["calls"], fragment)
        name = ((call or {}).get("name") or "") + ((fragment.get("function") or {}).get("name") or "")
        own_search(growing, {"tool_calls": [fragment]})
        search(growing["calls"], fragment)["name"] = name
    add_text(growing, delta)


def by_id_only(calls, fragment):
    return next((call for call in calls if call["id"] == fragment.get("id")), None)


def by_index_only(calls, fragment):
    return next((call for call in calls if call["index"] == fragment.get("index")), None)


def erases_the_id(growing, delta):
    for fragment in delta.get("tool_calls") or []:
        own_search(growing, {"tool_calls": [fragment]})
        found = search(growing["calls"], fragment)
        if found:
            found["id"] = fragment.get("id")
    add_text(growing, delta)


def index_before_id(calls, fragment):
    if fragment.get("index") is not None:
        return by_index_only(calls, fragment)
    return search(calls, fragment)


def no_place(calls, fragment):
    if not fragment.get("id") and fragment.get("index") is None:
        return None
    return search(calls, fragment)


def odd_calls(growing, delta):
    add_text(growing, delta)
    growing["calls"] += delta.get("tool_calls") or []


RIGHT = [own_search, with_find_call, strings_and_a_table]
WRONG = [
    (replaces_text, "text", "a piece, not the whole"),
    (makes_a_new_one, "text", "in place"),
    (adds_none, "null", "str(None) is the word None"),
    (appends_none, "null", "text_of(delta.get"),
    (takes_content_for_granted, "null", "KeyError: 'content'"),
    (takes_calls_for_granted, "null", "'NoneType' object is not iterable"),
    (text_alone, "as-text", "whose call has not begun yet begins it"),
    (parses_each_piece, "as-text", "Half of a JSON text is not JSON"),
    (odd_calls, "as-text", "each call a dict with index, id, name and arguments"),
    (merging(never), "gathers", "is not a new call"),
    (names_appended, "once", "'read_fileread_file'"),
    (merging(by_id_only), "by-index", "in a call's first fragment only"),
    (erases_the_id, "by-index", "takes nothing away from its call"),
    (keeps_what_parses, "to-the-end", "1 is, and 12 was meant"),
    (merging(by_index_only), "by-id", "the ids tell them apart"),
    (merging(no_place), "by-place", "what came last"),
    (merging(index_before_id), "same-index", "two ids never mean one call"),
]

"""To which call does this fragment belong? The quirks of real providers, in one place.

The protocol says: by its index, with the id and the name in the first fragment. What services send: no index,
a null index, one that starts at 1, the same index for every call, or one that shifts; ids that come late, are
empty, repeated or missing. The rules below were made from recorded replies of such services.
"""

from __future__ import annotations

import json
from typing import Any

from labkit.messages import Message, is_json_object

Call = dict[str, Any]


def find_call(calls: list[Call], fragment: dict[str, Any], place: int = 0, together: int = 1) -> Call:
    """The call that a fragment belongs to; a new one, appended to `calls`, when it begins one.

    `place` and `together`: the fragment's place among those that came in the same chunk, and their number.

    >>> calls = []
    >>> first = find_call(calls, {"index": 0, "id": "A", "function": {"name": "f"}})
    >>> find_call(calls, {"index": 0, "id": None, "function": {"arguments": "{}"}}) is first
    True
    """
    call = _known_call(calls, fragment, place, together)
    if call is None:
        call = {"index": fragment.get("index"), "id": None, "name": None, "arguments": []}
        calls.append(call)
    return call


def _known_call(calls: list[Call], fragment: dict[str, Any], place: int, together: int) -> Call | None:
    """The call that has begun already, looked for by id, then by index, then by place; None for a new one."""
    if not calls:
        return None
    if fragment.get("id"):
        return _by_id(calls, fragment)
    index = fragment.get("index")
    call: Call | None
    if index is not None:
        call = _newest(calls, "index", index)
        if call is None and _goes_on(calls[-1], fragment):
            return calls[-1]
    elif together <= len(calls):
        call = calls[-together:][place]
    else:
        call = None if _opens(fragment) else calls[-1]
    return call if call and not _begins_another(call, fragment) else None


def _by_id(calls: list[Call], fragment: dict[str, Any]) -> Call | None:
    """The call with the fragment's id. Some services send one id for all calls: then the index decides."""
    index = fragment.get("index")
    same = [call for call in calls if call["id"] == fragment["id"]]
    fitting = [call for call in same if index is None or call["index"] is None or call["index"] == index]
    if same:
        call = (fitting or same)[-1]
        return None if _begins_another(call, fragment) else call
    # A new call, or the id of one that has none yet; some services make up a new id for each fragment.
    waiting = calls[-1] if index is None else _newest(calls, "index", index)
    if waiting and waiting["id"]:
        more = index is not None and fragment.get("function") and _goes_on(waiting, fragment)
        return waiting if more else None
    return waiting if waiting and not _begins_another(waiting, fragment) else None


def _newest(calls: list[Call], key: str, value: Any) -> Call | None:
    return next((call for call in reversed(calls) if call[key] == value), None)


def _goes_on(call: Call, fragment: dict[str, Any]) -> bool:
    """Whether a fragment with an index or id not seen yet goes on with this call: it names nothing new."""
    return not _name(fragment) and not (_brought(fragment) and _is_whole(call))


def _begins_another(call: Call, fragment: dict[str, Any]) -> bool:
    """Whether the fragment names a function while this call has its name, and cannot be a part of it."""
    name = _name(fragment)
    if not name or not call["name"]:
        return False
    return name != call["name"] or (
        _opens(fragment) and _is_whole(call) and not _adds_nothing(call, fragment)
    )


def _opens(fragment: dict[str, Any]) -> bool:
    """Whether the fragment names a function and can be its call's first: no arguments yet, or their start."""
    arguments = _brought(fragment)
    starts = not isinstance(arguments, str) or not arguments.strip() or arguments.lstrip().startswith("{")
    return bool(_name(fragment)) and starts


def _adds_nothing(call: Call, fragment: dict[str, Any]) -> bool:
    """Whether a fragment for this call, by its index or id, brings blanks or all the arguments once more."""
    index, arguments = fragment.get("index"), _brought(fragment)
    key = "id" if index is None or call["index"] is None else "index"
    known = fragment.get(key) not in (None, "") and fragment[key] == call[key]
    return known and (not str(arguments).strip() or _arguments([arguments]) == _arguments(call["arguments"]))


def _name(fragment: dict[str, Any]) -> str | None:
    return (fragment.get("function") or {}).get("name")


def _brought(fragment: dict[str, Any]) -> Any:
    """The arguments that a fragment brings; "" for none."""
    return (fragment.get("function") or {}).get("arguments") or ""


def _is_whole(call: Call) -> bool:
    """Whether the arguments so far are a JSON object. Joins them only when they end like one."""
    last = next((piece for piece in reversed(call["arguments"]) if piece), "")
    if isinstance(last, str) and not last.rstrip().endswith("}"):
        return False
    return is_json_object(_arguments(call["arguments"]))


def finished_call(call: Call, place: int, taken: set[str]) -> Message:
    """A call as it stands in a message: arguments joined (`{}` for none), an id of its own, no index."""
    call_id = str(call["id"] or f"call_{place}")
    while call_id in taken:
        call_id += "_"
    taken.add(call_id)
    function = {"name": call["name"] or "", "arguments": _arguments(call["arguments"])}
    return {"id": call_id, "type": "function", "function": function}


def _arguments(pieces: list[Any]) -> str:
    """Some services send the arguments as an object instead of as text, some end with the whole once more."""
    text = joined(
        [piece if isinstance(piece, str) else json.dumps(piece, ensure_ascii=False) for piece in pieces]
    )
    half = text[: len(text) // 2]
    if text == half + half and is_json_object(half):
        return half
    return text if text.strip() else "{}"


def joined(pieces: list[str]) -> str:
    """The pieces as one text; the two halves of a character that was cut between them become one again.

    >>> joined(["\\ud83d", "\\ude00 hi"])
    '😀 hi'
    """
    text = "".join(pieces)
    try:
        text.encode("utf-8")
    except UnicodeEncodeError:
        return text.encode("utf-16", "surrogatepass").decode("utf-16", "surrogatepass")
    return text

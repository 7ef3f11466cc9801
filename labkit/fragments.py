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
    if index is None:
        call = calls[-together:][place] if together <= len(calls) else calls[-1]
    else:
        call = _newest(calls, "index", index)
        if call is None and _goes_on(calls[-1], fragment):
            return calls[-1]
    return call if call and not _begins_another(call, fragment) else None


def _by_id(calls: list[Call], fragment: dict[str, Any]) -> Call | None:
    """The call with the fragment's id. Some services send one id for all calls: then the index decides."""
    index = fragment.get("index")
    same = [call for call in calls if call["id"] == fragment["id"]]
    for call in reversed(same):
        if index is None or call["index"] is None or call["index"] == index:
            return call
    if same:
        return None if _begins_another(same[-1], fragment) else same[-1]
    # A new call, or the id of one that has none yet.
    waiting = calls[-1] if index is None else _newest(calls, "index", index)
    return waiting if waiting and not waiting["id"] and not _begins_another(waiting, fragment) else None


def _newest(calls: list[Call], key: str, value: Any) -> Call | None:
    return next((call for call in reversed(calls) if call[key] == value), None)


def _goes_on(call: Call, fragment: dict[str, Any]) -> bool:
    """Whether a fragment with an index not seen yet goes on with this call: it names nothing new."""
    arguments = (fragment.get("function") or {}).get("arguments")
    return not _name(fragment) and not (arguments and _is_whole(call))


def _begins_another(call: Call, fragment: dict[str, Any]) -> bool:
    """Whether the fragment names a function while this call has its name, and cannot be a part of it."""
    name = _name(fragment)
    if not name or not call["name"]:
        return False
    return name != call["name"] or (_is_whole(call) and not _adds_nothing(call, fragment))


def _adds_nothing(call: Call, fragment: dict[str, Any]) -> bool:
    """Whether a fragment for this call's index repeats its name and brings blanks: a call's last words."""
    index, arguments = fragment.get("index"), (fragment.get("function") or {}).get("arguments")
    return index is not None and index == call["index"] and not str(arguments or "").strip()


def _name(fragment: dict[str, Any]) -> str | None:
    return (fragment.get("function") or {}).get("name")


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
    """Some services send the arguments as an object instead of as text."""
    text = joined(
        [piece if isinstance(piece, str) else json.dumps(piece, ensure_ascii=False) for piece in pieces]
    )
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

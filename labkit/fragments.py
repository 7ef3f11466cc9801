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
    """The call that has begun already, looked for by id, then by index, then by place."""
    if not calls:
        return None
    index, call_id = fragment.get("index"), fragment.get("id")
    if call_id:
        call = _newest(calls, "id", call_id)
        if call is None:  # a new call, or the id of one that has none yet
            call = calls[-1] if index is None else _newest(calls, "index", index)
            return call if call and not call["id"] and not _begins_another(call, fragment) else None
        same_place = index is None or call["index"] is None or index == call["index"]
        return call if same_place or not _begins_another(call, fragment) else None
    if index is not None:
        call = _newest(calls, "index", index)
        if call is None and not _name(fragment) and not _is_whole(calls[-1]):
            return calls[-1]  # the index has shifted: without a name, a fragment begins no call
    else:
        call = calls[-together:][place] if together <= len(calls) else calls[-1]
    return call if call and not _begins_another(call, fragment) else None


def _newest(calls: list[Call], key: str, value: Any) -> Call | None:
    return next((call for call in reversed(calls) if call[key] == value), None)


def _begins_another(call: Call, fragment: dict[str, Any]) -> bool:
    """Whether the fragment names a function while this call has its name, and cannot be a part of it."""
    name = _name(fragment)
    return bool(name and call["name"]) and (name != call["name"] or _is_whole(call))


def _name(fragment: dict[str, Any]) -> str | None:
    return (fragment.get("function") or {}).get("name")


def _is_whole(call: Call) -> bool:
    return is_json_object("".join(call["arguments"]))


def finished_call(call: Call, place: int, taken: set[str]) -> Message:
    """A call as it stands in a message: arguments joined (`{}` for none), an id of its own, no index."""
    call_id = call["id"] or f"call_{place}"
    while call_id in taken:
        call_id += "_"
    taken.add(call_id)
    function = {"name": call["name"] or "", "arguments": _joined(call["arguments"])}
    return {"id": call_id, "type": "function", "function": function}


def _joined(pieces: list[Any]) -> str:
    """Some services send the arguments as an object instead of as text."""
    text = "".join(
        piece if isinstance(piece, str) else json.dumps(piece, ensure_ascii=False) for piece in pieces
    )
    return text if text.strip() else "{}"

"""What a history is, what a provider rejects, and where a history may be cut.

Read in this order: `shape` (builders and readers), `pairing` (calls with their results, legal cuts), `rules`
(`problems`), `mending` (`normalise`).
"""

from labkit.messages.mending import INTERRUPTED, as_written, normalise, sound_message
from labkit.messages.pairing import Exchange, exchanges, legal_cuts
from labkit.messages.rules import Problem, is_json_object, problems
from labkit.messages.shape import (
    LEADING_ROLES,
    ROLES,
    Message,
    assistant,
    calls_of,
    function_of,
    system,
    system_length,
    text_of,
    tool_call,
    tool_result,
    user,
)

__all__ = [
    "INTERRUPTED",
    "LEADING_ROLES",
    "ROLES",
    "Exchange",
    "Message",
    "Problem",
    "as_written",
    "assistant",
    "calls_of",
    "exchanges",
    "function_of",
    "is_json_object",
    "legal_cuts",
    "normalise",
    "problems",
    "sound_message",
    "system",
    "system_length",
    "text_of",
    "tool_call",
    "tool_result",
    "user",
]

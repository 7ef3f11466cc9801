"""labkit: the inside of a coding agent, in modules small enough to read.

`import labkit` itself loads next to nothing. The names below are looked up at first use, so that
`from labkit import Agent` works and yet neither matplotlib nor the server nor Jupyter is loaded for it.

>>> import labkit
>>> labkit.estimate_tokens([{"role": "user", "content": "four"}])
2
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from labkit.checks import check
    from labkit.compaction import (
        Compaction,
        CountCompactor,
        FullCompactor,
        LedgerCompactor,
        SafeCutCompactor,
        ToolStubs,
        chain,
        model_summariser,
    )
    from labkit.errors import LabkitError
    from labkit.loop import Agent
    from labkit.messages import Message, legal_cuts, normalise, problems
    from labkit.playground import playground_tools
    from labkit.streaming import Reply, collect
    from labkit.tokens import TokenCounter, estimate_tokens
    from labkit.tools import Tool, Toolbox, tool
    from labkit.trace import Trace

# Names that a module of labkit bears itself (connect, replay, strip) are not here: `labkit.replay` would then
# be the function or the module, depending on what was imported before.
_HOMES = {
    "labkit.errors": ["LabkitError"],
    "labkit.messages": ["Message", "legal_cuts", "normalise", "problems"],
    "labkit.tokens": ["TokenCounter", "estimate_tokens"],
    "labkit.streaming": ["Reply", "collect"],
    "labkit.tools": ["Tool", "Toolbox", "tool"],
    "labkit.playground": ["playground_tools"],
    "labkit.compaction": [
        "Compaction",
        "CountCompactor",
        "FullCompactor",
        "LedgerCompactor",
        "SafeCutCompactor",
        "ToolStubs",
        "chain",
        "model_summariser",
    ],
    "labkit.loop": ["Agent"],
    "labkit.trace": ["Trace"],
    "labkit.checks": ["check"],
}
_HOME_OF = {name: home for home, names in _HOMES.items() for name in names}

__all__ = [
    "Agent",
    "Compaction",
    "CountCompactor",
    "FullCompactor",
    "LabkitError",
    "LedgerCompactor",
    "Message",
    "Reply",
    "SafeCutCompactor",
    "TokenCounter",
    "Tool",
    "ToolStubs",
    "Toolbox",
    "Trace",
    "chain",
    "check",
    "collect",
    "estimate_tokens",
    "legal_cuts",
    "model_summariser",
    "normalise",
    "playground_tools",
    "problems",
    "tool",
]


def __getattr__(name: str) -> Any:
    """A public name at its first use, from the module it lives in."""
    if name == "__version__":
        from importlib.metadata import version

        return version("agent-loop-labs")
    if name not in _HOME_OF:
        raise AttributeError(f"module 'labkit' has no attribute {name!r}")
    value = getattr(import_module(_HOME_OF[name]), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__, "__version__"})

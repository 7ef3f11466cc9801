"""Compaction: old messages become a short account of them, so that a long task fits into the context window.

In the order of the labs: `count` (lab 3), `safe_cut` (lab 4), `tool_stubs` and `two_tier` (lab 5), `ledger`
(beyond). `summary` builds the request for a summary, `asking` asks, `accept` judges the answer, `earlier`
knows the message that holds it, `snapshot` keeps the whole, `extractive` summarises by rules. All begin in
`base`.
"""

from labkit.compaction.asking import model_summariser
from labkit.compaction.base import Chain, Compaction, Compactor, Summariser, chain
from labkit.compaction.count import CountCompactor
from labkit.compaction.extractive import extractive_summary
from labkit.compaction.ledger import LedgerCompactor
from labkit.compaction.safe_cut import SafeCutCompactor
from labkit.compaction.snapshot import read_snapshot, write_snapshot
from labkit.compaction.tool_stubs import ToolStubs
from labkit.compaction.two_tier import FullCompactor, two_tiers

__all__ = [
    "Chain",
    "Compaction",
    "Compactor",
    "CountCompactor",
    "FullCompactor",
    "LedgerCompactor",
    "SafeCutCompactor",
    "Summariser",
    "ToolStubs",
    "chain",
    "extractive_summary",
    "model_summariser",
    "read_snapshot",
    "two_tiers",
    "write_snapshot",
]

"""Compaction: old messages become a short account of them, so that a long task fits into the context window.

In the order of the labs: `count` (lab 3), `safe_cut` (lab 4), `tool_stubs` and `two_tier` (lab 5), `ledger`
(beyond). `summary` builds the request for a summary, `accept` judges the answer, `snapshot` keeps the whole.
"""

from labkit.compaction.asking import model_summariser
from labkit.compaction.base import Compaction, Compactor, Summariser
from labkit.compaction.count import CountCompactor
from labkit.compaction.extractive import extractive_summary

__all__ = [
    "Compaction",
    "Compactor",
    "CountCompactor",
    "Summariser",
    "extractive_summary",
    "model_summariser",
]

"""The checks of lab 2, streaming."""

from __future__ import annotations

from labkit.checks.lab2_collect import collect
from labkit.checks.lab2_merge import merge_delta

EXERCISES = [merge_delta, collect]

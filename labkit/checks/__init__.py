"""Self-checks that teach: `check("3.1", split_history)` says which idea does not hold yet.

The engine is in engine.py; what is checked, lab by lab, in lab1.py and so on.
"""

from __future__ import annotations

from labkit.checks.board import progress_board
from labkit.checks.checking import check, hint, is_borrowed, solution
from labkit.checks.quiz import question, quiz, right, wrong

__all__ = ["check", "hint", "is_borrowed", "progress_board", "question", "quiz", "right", "solution", "wrong"]

"""The numbers that a compactor is set to: refused when it is made, not in the middle of a session."""

from __future__ import annotations

from collections.abc import Sequence
from numbers import Real


def check_numbers(compactor: object, *names: str, optional: Sequence[str] = ()) -> None:
    """Make these settings of a (frozen) compactor `int`, or raise ValueError. `optional` ones may be None.

    `0.8 * 128_000` is a float and as good as a whole number; a fraction of a window, NaN and True are none.
    """
    for name in (*names, *optional):
        value = getattr(compactor, name)
        if value is None and name in optional:
            continue
        number = isinstance(value, Real) and not isinstance(value, bool)
        if not number or value < 0 or value % 1 != 0:  # NaN and infinity leave NaN here
            raise ValueError(f"{name} is {value!r}: it must be a whole number and cannot be negative")
        object.__setattr__(compactor, name, int(value))

"""What a compactor may be set to."""

import pytest

from labkit.compaction import (
    CountCompactor,
    FullCompactor,
    LedgerCompactor,
    SafeCutCompactor,
    ToolStubs,
)
from labkit.messages import assistant, user


@pytest.mark.parametrize("value", [float("nan"), float("inf"), -1, 0.5, True, "6", None])
@pytest.mark.parametrize(
    ("kind", "name"),
    [
        (CountCompactor, "threshold"),
        (CountCompactor, "keep_last"),
        (SafeCutCompactor, "limit"),
        (SafeCutCompactor, "keep_recent"),
        (SafeCutCompactor, "keep_tokens"),
        (LedgerCompactor, "budget"),
        (LedgerCompactor, "keep_recent"),
        (FullCompactor, "limit"),
        (ToolStubs, "keep_recent"),
        (ToolStubs, "min_chars"),
        (ToolStubs, "batch_tokens"),
    ],
)
def test_a_setting_that_is_no_number_is_refused_by_its_name_when_the_compactor_is_made(kind, name, value):
    needed = {LedgerCompactor: {"limit": 900}, FullCompactor: {"folder": ".memory"}}.get(kind, {})
    assert getattr(kind(**needed | {name: 3.0}), name) == 3
    if value is None and name in ("keep_tokens", "budget"):
        assert getattr(kind(**needed | {name: None}), name) is None
        return
    with pytest.raises(ValueError, match=f"^{name} is .*: it must be a whole number"):
        kind(**needed | {name: value})


def test_a_limit_worked_out_from_a_window_is_as_good_as_a_whole_number():
    history = [user("never edit tests/ " * 2000), assistant("ok"), user("on"), assistant("yes"), user("go")]
    result = SafeCutCompactor(limit=0.5 * 6000)(history)
    assert result.changed
    assert "never edit tests/" in result.messages[0]["content"]

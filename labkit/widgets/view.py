"""What an explorer shows, as HTML and as text: for the widgets, and for a page where there are none.

Pure: a session's outcome in, pictures and tables out. The same settings give the same bytes.
"""

from __future__ import annotations

from dataclasses import dataclass

from labkit.charts.chart import text_table
from labkit.charts.growth import growth_alt, growth_title
from labkit.charts.light import light_growth
from labkit.charts.parts import plural
from labkit.policies import POLICIES
from labkit.strip import escape, number
from labkit.widgets.outcome import Outcome
from labkit.widgets.settings import Settings

CELL = "padding:1px 12px;line-height:1.35"
TEXT = "margin:4px 0;max-width:60em;line-height:1.4"  # the widget's own line height is that of a control
NUMBER_CELL = f"text-align:right;{CELL}"


@dataclass(frozen=True)
class View:
    """A session under a policy, beside the same session without one, looked at in one request (from 1)."""

    session: str
    settings: Settings
    outcome: Outcome
    plain: Outcome
    request: int

    @property
    def heading(self) -> str:
        """Session and settings in a line."""
        return f"Session {self.session}, policy {self.settings}"

    @property
    def finding(self) -> str:
        """What the growth chart shows, in a sentence."""
        return growth_title(self.outcome.requests, self.settings.limit)

    def rows(self) -> list[dict[str, object]]:
        """The totals under this policy and without one, one dict a row."""
        limit = self.settings.limit
        mine, plain = self.outcome.totals(limit), self.plain.totals(limit)
        off = self.settings.policy == "off"
        name = f"policy {self.settings.policy}"
        rows = [{"totals": what, name: mine[what], "no compaction": plain[what]} for what in mine]
        return [{key: value for key, value in row.items() if not (off and key == name)} for row in rows]

    # --- HTML -----------------------------------------------------------------------------------------------

    def growth_html(self) -> str:
        """The growth chart under its finding."""
        chart = light_growth(self.outcome.requests, self.settings.limit, self.request)
        frame = 'style="overflow-x:auto" tabindex="0" role="group"'
        finding = f'<p style="{TEXT};font-weight:bold">{escape(self.finding)}</p>'
        return f'{finding}<div {frame} aria-label="Growth chart">{chart}</div>'

    def strip_html(self) -> str:
        """What the chosen request sent, as a strip."""
        if not self.outcome.requests:
            return "<p>No requests yet.</p>"
        strip = self.outcome.strip(self.request, self.settings.limit)._repr_html_()
        return f'<div style="line-height:1.4">{strip}</div>'

    def totals_html(self) -> str:
        """The totals as a table, and what the replay had to remark."""
        rows = self.rows()
        sides = ["left", *["right"] * len(rows[0])]
        head = "".join(
            f'<th scope="col" style="text-align:{side};{CELL}">{escape(name)}</th>'
            for name, side in zip(rows[0], sides, strict=False)
        )
        body = "".join(f"<tr>{''.join(map(_cell, row.values()))}</tr>" for row in rows)
        notes = "".join(f'<p style="{TEXT}">{escape(note)}</p>' for note in self.outcome.trace.notes)
        words = f"{plural(len(self.outcome.requests), 'request')}, {POLICIES[self.settings.policy]}"
        caption = f'<caption style="text-align:left;padding:2px 0;line-height:1.4">{escape(words)}</caption>'
        return f"<table>{caption}<thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>{notes}"

    def html(self) -> str:
        """All of it, for a page without widgets."""
        heading = f'<p style="{TEXT}">{escape(self.heading)}</p>'
        parts = [heading, self.totals_html(), self.growth_html(), self.strip_html()]
        return f'<div class="labkit-explorer-static">{"".join(parts)}</div>'

    # --- text -----------------------------------------------------------------------------------------------

    def text(self) -> str:
        """All of it, printed."""
        parts = [self.heading, *text_table(self.rows()), *self.outcome.trace.notes, ""]
        parts += [growth_alt(self.finding, self.outcome.requests, self.settings.limit), ""]
        if self.outcome.requests:
            parts.append(self.outcome.strip(self.request, self.settings.limit).text())
        return "\n".join(parts)


def _cell(value: object) -> str:
    if isinstance(value, int):
        return f'<td style="{NUMBER_CELL}">{number(value)}</td>'
    return f'<th scope="row" style="text-align:left;font-weight:normal;{CELL}">{escape(str(value))}</th>'

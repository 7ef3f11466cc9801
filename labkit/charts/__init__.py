"""Pictures of a trace: growth, the drop, the bill, policies side by side, and what the labs need beside.

Each function returns a `Chart`: SVG in a notebook with its table beneath, title and table when printed.
The title says the finding, with the numbers measured. `save` writes a chart for a report.
"""

from labkit.charts.arrivals import arrivals
from labkit.charts.bill import bill, said_against_sent
from labkit.charts.chart import Chart, save
from labkit.charts.compare import policies
from labkit.charts.curves import count_against_tokens, curves
from labkit.charts.drop import drop_off
from labkit.charts.growth import growth
from labkit.charts.knobs import estimates, sweep
from labkit.charts.roles import by_role, sawtooth

__all__ = [
    "Chart",
    "arrivals",
    "bill",
    "by_role",
    "count_against_tokens",
    "curves",
    "drop_off",
    "estimates",
    "growth",
    "policies",
    "said_against_sent",
    "save",
    "sawtooth",
    "sweep",
]

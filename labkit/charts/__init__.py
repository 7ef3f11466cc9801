"""Pictures of a trace: growth, the drop, the bill, policies side by side.

Each function returns a `Chart`: SVG in a notebook with its table beneath, title and table when printed.
The title says the finding, with the numbers measured. `save` writes a chart for a report.
"""

from labkit.charts.arrivals import arrivals
from labkit.charts.bill import bill, said_against_sent
from labkit.charts.chart import Chart, save
from labkit.charts.compare import policies
from labkit.charts.drop import drop_off
from labkit.charts.growth import growth

__all__ = ["Chart", "arrivals", "bill", "drop_off", "growth", "policies", "said_against_sent", "save"]

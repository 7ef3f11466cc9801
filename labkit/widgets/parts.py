"""What all our widgets share: boxes that wrap, HTML that holds still, names for what a keyboard moves."""

from __future__ import annotations

from typing import Any

import ipywidgets as widgets

WRAP = {"display": "flex", "flex_flow": "row wrap", "align_items": "center"}

# ipywidgets gives its sliders no name that a screen reader could say (the handle is a div with the role
# "slider" and no label). This puts the visible description there, and again when a slider is rebuilt.
_NAMES = """
const name = root => {
  for (const box of root.querySelectorAll('.widget-slider')) {
    const words = box.querySelector('.widget-label')?.textContent?.trim();
    for (const part of box.querySelectorAll('.noUi-handle, .widget-readout')) {
      if (words && part.getAttribute('aria-label') !== words) {
        part.setAttribute('aria-label', words);
        if (part.matches('.widget-readout')) part.setAttribute('role', 'textbox');
      }
    }
  }
};
const start = tries => {
  const root = element.closest('.%s');
  if (root) {
    name(root);
    new MutationObserver(() => name(root)).observe(root, {childList: true, subtree: true});
  } else if (tries) setTimeout(start, 50, tries - 1);
};
start(100);
"""


def html(css: str, value: str = "") -> Any:
    """A piece of HTML that is found by its class."""
    made = widgets.HTML(value, layout=widgets.Layout(width="auto", margin="0"))
    made.add_class(css)
    return made


def row(*children: Any) -> Any:
    """Children side by side, on as many lines as it takes."""
    return widgets.Box(list(children), layout=widgets.Layout(**WRAP))


def names_for(css: str) -> Any:
    """An invisible part that names the sliders inside the box of this class for screen readers."""
    shown = {
        "output_type": "display_data",
        "data": {"application/javascript": _NAMES % css},
        "metadata": {},
    }
    return widgets.Output(outputs=(shown,), layout=widgets.Layout(height="0", margin="0", overflow="hidden"))


def close_tree(widget: Any) -> None:
    """Close a widget with all that is in it, their layouts and styles too: each has a channel of its own."""
    for child in getattr(widget, "children", ()):
        close_tree(child)
    for name in ("layout", "style"):
        part = getattr(widget, name, None)
        if isinstance(part, widgets.Widget):
            part.close()
    widget.close()

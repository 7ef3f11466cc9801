"""What all our widgets share: boxes that wrap, HTML that holds still, names for what a keyboard moves."""

from __future__ import annotations

from typing import Any

import ipywidgets as widgets

WRAP = {"display": "flex", "flex_flow": "row wrap", "align_items": "center"}

# ipywidgets gives its sliders no name that a screen reader could say (the handle is a div with the role
# "slider" and no label), and a box that scrolls cannot be reached by keyboard. This mends both inside our own
# box, and again when a part is rebuilt; it also keeps the newest line of a log in sight.
_MEND = """
const give = (part, name, value) => part.getAttribute(name) === value || part.setAttribute(name, value);
const mend = root => {
  for (const box of root.querySelectorAll('.widget-slider')) {
    const words = box.querySelector('.widget-label')?.textContent?.trim();
    for (const part of box.querySelectorAll('.noUi-handle, .widget-readout')) {
      if (words) give(part, 'aria-label', words);
      if (part.matches('.widget-readout')) give(part, 'role', 'textbox');
    }
  }
  for (const log of root.querySelectorAll('.labkit-chat-log')) {
    give(log, 'tabindex', '0');
    give(log, 'role', 'region');
    give(log, 'aria-label', 'Conversation');
    if (log.dataset.height !== String(log.scrollHeight)) log.scrollTop = log.scrollHeight;
    log.dataset.height = log.scrollHeight;
  }
  for (const line of root.querySelectorAll('.labkit-chat-status .widget-html-content')) {
    give(line, 'role', 'status');
  }
};
const start = tries => {
  const root = element.closest('.%s');
  if (root) {
    mend(root);
    new MutationObserver(() => mend(root)).observe(root, {childList: true, subtree: true});
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


def mended(css: str) -> Any:
    """An invisible part that makes what is in the box of this class fit for keyboards and screen readers."""
    shown = {
        "output_type": "display_data",
        "data": {"application/javascript": _MEND % css},
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

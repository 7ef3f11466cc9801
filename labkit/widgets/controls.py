"""The explorer's controls: each with a visible description, and a class to be found by."""

from __future__ import annotations

from typing import Any

import ipywidgets as widgets

from labkit.errors import SetupError


def dropdown(name: str, options: list[tuple[str, str]], value: str, width: str = "22em") -> Any:
    if value not in [key for _, key in options]:
        names = ", ".join(key for _, key in options)
        raise SetupError(f"There is no {name} {value!r}.", f"There are: {names}.")
    made = widgets.Dropdown(
        options=options, value=value, description=name, layout=widgets.Layout(width=width, max_width="100%")
    )
    made.add_class(f"labkit-explorer-{name}")
    return made


def slider(name: str) -> Any:
    made = widgets.IntSlider(
        description=name, min=0, max=1, layout=widgets.Layout(width="30em", max_width="100%")
    )
    made.add_class(f"labkit-explorer-{name}")
    return made


def button(words: str, arrow: str) -> Any:
    made = widgets.Button(description=words, icon=f"arrow-{arrow}", layout=widgets.Layout(width="auto"))
    made.add_class(f"labkit-explorer-{words.split()[0]}")
    return made


def set_range(slider: Any, low: int, high: int, step: int, value: int) -> None:
    """Set all four at once: one after the other, the value would be clamped in between."""
    with slider.hold_sync(), slider.hold_trait_notifications():
        slider.min, slider.max, slider.step, slider.value = low, high, step, value

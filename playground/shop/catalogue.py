"""The goods of the shop: code, name, price in cents, tax group."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Item:
    code: str
    name: str
    cents: int
    tax_group: str


ITEMS = [
    Item("APL", "Apples, 1 kg", 320, "food"),
    Item("BRD", "Bread, rye", 450, "food"),
    Item("MLK", "Milk, 1 l", 140, "food"),
    Item("TEA", "Tea, 100 g", 560, "food"),
    Item("CDL", "Candles, box of 6", 399, "household"),
    Item("SOP", "Soap, bar", 180, "household"),
    Item("NTB", "Notebook, ruled", 275, "paper"),
]

BY_CODE = {item.code: item for item in ITEMS}


def find(code):
    """The item with this code. Raises KeyError with a helpful text when there is none."""
    try:
        return BY_CODE[code.upper()]
    except KeyError:
        known = ", ".join(sorted(BY_CODE))
        raise KeyError(f"no item {code!r}; the codes are {known}") from None

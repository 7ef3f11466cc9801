"""The whole sale: a basket goes in, the totals come out."""

from dataclasses import dataclass

from discounts import bulk_discount, loyalty_discount
from tax import tax_on


@dataclass(frozen=True)
class Line:
    name: str
    quantity: int
    cents: int
    discount: int
    tax: int


@dataclass(frozen=True)
class Sale:
    lines: list
    loyalty: int

    @property
    def goods(self):
        """Cents for the goods, before any discount."""
        return sum(line.cents for line in self.lines)

    @property
    def discount(self):
        """Cents that come off, bulk and loyalty together."""
        return sum(line.discount for line in self.lines) + self.loyalty

    @property
    def tax(self):
        """Cents of tax."""
        return sum(line.tax for line in self.lines)

    @property
    def total(self):
        """Cents to pay."""
        return self.goods - self.discount + self.tax


def ring_up(basket, visits=0):
    """Turn a basket into a sale."""
    lines = [_line(item, quantity) for item, quantity in basket.lines()]
    left = sum(line.cents - line.discount for line in lines)
    return Sale(lines, loyalty_discount(left, visits))


def _line(item, quantity):
    cents = item.cents * quantity
    discount = bulk_discount(item, quantity)
    return Line(item.name, quantity, cents, discount, tax_on(item, cents - discount))

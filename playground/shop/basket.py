"""What a customer wants to buy: codes and quantities, in the order they were put in."""

import catalogue


class Basket:
    def __init__(self):
        self._quantities = {}

    def add(self, code, quantity=1):
        """Put some of an item in. Raises ValueError for a quantity below 1."""
        if quantity < 1:
            raise ValueError(f"the quantity must be at least 1, not {quantity}")
        item = catalogue.find(code)
        self._quantities[item.code] = self._quantities.get(item.code, 0) + quantity

    def remove(self, code):
        """Take an item out altogether; an item that is not in the basket is fine."""
        self._quantities.pop(code.upper(), None)

    def lines(self):
        """Pairs of item and quantity."""
        return [(catalogue.find(code), quantity) for code, quantity in self._quantities.items()]

    def pieces(self):
        """How many pieces there are in all."""
        return sum(self._quantities.values())

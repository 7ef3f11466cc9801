"""What is on the shelf. A sale takes pieces away; what falls under its mark has to be ordered."""

LOW_MARK = 4


class Stock:
    def __init__(self, pieces):
        self._pieces = dict(pieces)

    def take(self, code, quantity):
        """Take pieces off the shelf. Raises ValueError when there are not enough, and takes none then."""
        left = self._pieces.get(code, 0) - quantity
        if left < 0:
            raise ValueError(f"only {self._pieces.get(code, 0)} of {code} left, {quantity} wanted")
        self._pieces[code] = left

    def to_order(self):
        """The codes that run low, in alphabetical order."""
        return sorted(code for code, left in self._pieces.items() if left < LOW_MARK)

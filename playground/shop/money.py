"""Cents: to text, and to a percentage of them. Amounts are whole cents, always."""


def percent(cents, rate):
    """So many per cent of an amount, rounded half up to a whole cent.

    Integers only: 2.5 would round to 2 with Python's own round(), and the tax office expects 3.
    """
    return (cents * rate + 50) // 100


def as_text(cents):
    """1234 becomes '12.34', and -5 becomes '-0.05'."""
    sign = "-" if cents < 0 else ""
    return f"{sign}{abs(cents) // 100}.{abs(cents) % 100:02d}"

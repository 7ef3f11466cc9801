"""The receipt: a sale as lines of text, 40 characters wide."""

from money import as_text

WIDTH = 40


def receipt(sale):
    """The whole receipt, ready to print."""
    rows = [_row(f"{line.quantity} x {line.name}", line.cents) for line in sale.lines]
    rows.append("-" * WIDTH)
    if sale.discount:
        rows.append(_row("Discount", -sale.discount))
    rows.append(_row("Tax", sale.tax))
    rows.append(_row("To pay", sale.total))
    return "\n".join(rows)


def _row(text, cents):
    amount = as_text(cents)
    return text[: WIDTH - len(amount) - 1].ljust(WIDTH - len(amount)) + amount

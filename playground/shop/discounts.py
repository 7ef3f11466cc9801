"""The two discounts of the shop. Both return the cents that come off, never the cents that are left."""

from money import percent

BULK_QUANTITY = 10
BULK_PERCENT = 5

LOYALTY_STEPS = [(100, 3), (50, 2), (10, 1)]  # visits so far, per cent off


def bulk_discount(item, quantity):
    """Five per cent off a line with more than 10 pieces of one kind."""
    if quantity >= BULK_QUANTITY:
        return percent(item.cents * quantity, BULK_PERCENT)
    return 0


def loyalty_discount(cents, visits):
    """One to three per cent off the whole basket for customers who come often."""
    for needed, off in LOYALTY_STEPS:
        if visits >= needed:
            return percent(cents, off)
    return 0

import unittest

from catalogue import find
from discounts import bulk_discount, loyalty_discount


class BulkDiscountTest(unittest.TestCase):
    def test_a_few_pieces_get_no_discount(self):
        self.assertEqual(bulk_discount(find("MLK"), 3), 0)

    def test_exactly_ten_pieces_get_no_discount(self):
        # The sign says "more than 10".
        self.assertEqual(bulk_discount(find("MLK"), 10), 0)

    def test_eleven_pieces_get_five_per_cent(self):
        self.assertEqual(bulk_discount(find("MLK"), 11), 77)


class LoyaltyDiscountTest(unittest.TestCase):
    def test_a_new_customer_gets_none(self):
        self.assertEqual(loyalty_discount(10_000, 0), 0)

    def test_the_highest_step_that_was_reached_counts(self):
        self.assertEqual(loyalty_discount(10_000, 99), 200)
        self.assertEqual(loyalty_discount(10_000, 100), 300)

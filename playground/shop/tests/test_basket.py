import unittest

from basket import Basket


class BasketTest(unittest.TestCase):
    def test_the_same_item_twice_is_one_line(self):
        basket = Basket()
        basket.add("APL", 2)
        basket.add("apl")
        self.assertEqual([(item.code, quantity) for item, quantity in basket.lines()], [("APL", 3)])

    def test_an_unknown_code_is_refused_by_name(self):
        with self.assertRaisesRegex(KeyError, "XYZ"):
            Basket().add("XYZ")

    def test_a_quantity_below_one_is_refused(self):
        with self.assertRaises(ValueError):
            Basket().add("APL", 0)

    def test_removing_what_is_not_there_is_fine(self):
        basket = Basket()
        basket.remove("TEA")
        self.assertEqual(basket.pieces(), 0)

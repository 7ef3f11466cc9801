import unittest

from basket import Basket
from receipt import WIDTH, receipt
from stock import Stock
from till import ring_up


def basket_of(**quantities):
    basket = Basket()
    for code, quantity in quantities.items():
        basket.add(code, quantity)
    return basket


class TillTest(unittest.TestCase):
    def test_goods_and_tax_are_added_up(self):
        sale = ring_up(basket_of(BRD=2, SOP=1))
        self.assertEqual((sale.goods, sale.tax, sale.total), (1080, 97, 1177))

    def test_tax_is_due_on_the_discounted_price(self):
        sale = ring_up(basket_of(NTB=20))
        self.assertEqual((sale.discount, sale.tax), (275, 993))

    def test_loyalty_comes_off_the_whole_basket(self):
        self.assertEqual(ring_up(basket_of(TEA=1), visits=50).discount, 11)


class ReceiptTest(unittest.TestCase):
    def test_every_row_is_as_wide_as_the_paper(self):
        text = receipt(ring_up(basket_of(CDL=1, APL=12)))
        self.assertEqual({len(row) for row in text.splitlines()}, {WIDTH})

    def test_the_last_row_says_what_to_pay(self):
        self.assertTrue(receipt(ring_up(basket_of(MLK=1))).endswith("1.50"))


class StockTest(unittest.TestCase):
    def test_what_runs_low_is_listed(self):
        stock = Stock({"APL": 5, "TEA": 9})
        stock.take("APL", 2)
        self.assertEqual(stock.to_order(), ["APL"])

    def test_nothing_is_taken_when_there_is_not_enough(self):
        stock = Stock({"TEA": 5})
        with self.assertRaises(ValueError):
            stock.take("TEA", 6)
        self.assertEqual(stock.to_order(), [])

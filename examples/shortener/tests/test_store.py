import unittest

from shortener.store import Store


class Links(unittest.TestCase):
    def test_a_link_is_found_again_under_one_number(self) -> None:
        store = Store(":memory:")
        number = store.add("https://example.org/a")
        self.assertEqual(store.add("https://example.org/a"), number)
        self.assertEqual(store.find(number), "https://example.org/a")
        self.assertIsNone(store.find(number + 1))

import unittest

from shortener import codes


class Codes(unittest.TestCase):
    def test_every_number_comes_back(self) -> None:
        for number in [1, 30, 31, 961, 10**9]:
            self.assertEqual(codes.decode(codes.encode(number)), number)

    def test_what_is_no_code_is_refused(self) -> None:
        for text in ["", "2", "0", "A", "22", "a b"]:
            with self.assertRaises(ValueError):
                codes.decode(text)

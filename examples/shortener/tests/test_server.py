import unittest

from shortener.server import answer
from shortener.store import Store


class Requests(unittest.TestCase):
    def setUp(self) -> None:
        self.store = Store(":memory:")

    def test_a_link_is_shortened_and_followed(self) -> None:
        made = answer(self.store, "POST", "/", "https://example.org/a\n")
        self.assertEqual(made.status, 201)
        followed = answer(self.store, "GET", made.body.strip(), "")
        self.assertEqual((followed.status, followed.location), (302, "https://example.org/a"))

    def test_what_is_no_link_is_refused(self) -> None:
        for text in ["", "example.org", "ftp://example.org", "https://"]:
            self.assertEqual(answer(self.store, "POST", "/", text).status, 400)

    def test_an_unknown_code_is_not_found(self) -> None:
        for path in ["/", "/zz", "/0"]:
            self.assertEqual(answer(self.store, "GET", path, "").status, 404)

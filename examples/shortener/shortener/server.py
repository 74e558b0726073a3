"""Requests and answers; HTTP without sockets, so that it can be tested."""

from typing import NamedTuple, Optional
from urllib.parse import urlsplit

from shortener import codes
from shortener.store import Store


class Answer(NamedTuple):
    status: int
    body: str = ""
    location: Optional[str] = None


def is_link(url: str) -> bool:
    """Whether a text is an absolute http or https URL."""
    parts = urlsplit(url)
    return parts.scheme in ("http", "https") and bool(parts.netloc)


def answer(store: Store, method: str, path: str, body: str) -> Answer:
    """What a request is answered with."""
    if method == "POST" and path == "/":
        return shorten(store, body.strip())
    if method == "GET":
        return follow(store, path.lstrip("/"))
    return Answer(405, "use GET or POST\n")


def shorten(store: Store, url: str) -> Answer:
    if not is_link(url):
        return Answer(400, "not an http or https URL\n")
    return Answer(201, f"/{codes.encode(store.add(url))}\n")


def follow(store: Store, code: str) -> Answer:
    try:
        url = store.find(codes.decode(code))
    except ValueError:
        url = None
    if url is None:
        return Answer(404, "no such link\n")
    return Answer(302, location=url)

"""A shelf."""

import functools

ROOM = 12


# A jar has a label.
@functools.total_ordering
class Jar:
    colour = "blue"

    def __init__(self, label: str) -> None:
        self.label = label

    @property
    def long(self) -> bool:
        count = len(self.label)
        return count > 3


async def close(
    jar: Jar,
    *,
    lid: str = "tin",
) -> bool:
    def inner():
        return lid

    return inner() == lid

"""Numbers as short codes and back."""

ALPHABET = "23456789abcdefghjkmnpqrstuvwxyz"


def encode(number: int) -> str:
    """The code of a positive number."""
    if number < 1:
        raise ValueError("codes start at 1")
    digits = []
    while number:
        number, digit = divmod(number, len(ALPHABET))
        digits.append(ALPHABET[digit])
    return "".join(reversed(digits))


def decode(code: str) -> int:
    """The number of a code; ValueError if it is none."""
    number = 0
    for character in code:
        number = number * len(ALPHABET) + ALPHABET.index(character)
    if not code or encode(number) != code:
        raise ValueError(f"not a code: {code!r}")
    return number

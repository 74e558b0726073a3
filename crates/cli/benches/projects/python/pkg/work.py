import attrs
@attrs.define
class Row:
    n: int
def work(n):
    x = 1
    for i in range(n):
        x = (x * 6364136223846793005 + i) % (1 << 64)
    return Row(x)

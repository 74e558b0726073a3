import pytest
from pkg.work import work
@pytest.mark.parametrize("n", list(range(60)))
def test_work(n):
    assert work(600000 + n).n != work(600001 + n).n

"""A test with an energy budget: pytest --wattle test_budget.py."""

import pytest


@pytest.mark.energy_budget("2 kJ")
def test_sorting():
    numbers = list(range(200_000))
    numbers.sort(key=lambda n: -n)
    assert numbers[0] == 199_999

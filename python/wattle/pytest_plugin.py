# mypy: no-implicit-reexport
"""The plugin for pytest: the energy of every test, and energy budgets.

    pytest --wattle                       # prints the joules of each test

    @pytest.mark.energy_budget("5 J")     # fails above 5 J, only if the excess is larger than the ±
    def test_inference(): ...

It measures the call of a test, without its fixtures. The energy is that of the whole machine.
Where pytest does not load it by itself: `pytest -p wattle.pytest_plugin`.
"""

from __future__ import annotations

import dataclasses
import math
import os
import sys
from collections.abc import Generator, Mapping
from typing import Any

import pytest
from wattle._text import UNKNOWN, UNKNOWN_CELL, energy_text, fitting, parse_energy, printable, seconds_text

__all__ = ["EnergyBudgetWarning"]

_MARK = "energy_budget"
# The names of the properties of a test, in reports of pytest (JUnit's too).
_ENERGY, _ERROR, _TEXT, _REASON = "energy_j", "energy_uncertainty_j", "energy", "energy_unknown"
_FLAGS = "energy_flags"
_OVERLAP = "other tests ran at the same time (pytest-xdist), and the energy is that of the machine"


class EnergyBudgetWarning(pytest.PytestWarning):
    """A budget that was not checked, or not decided, and the reason."""


@dataclasses.dataclass
class _Test:
    """What is known about a test while it runs."""

    budget_j: float | None
    block: Any
    measurement: Any

    def stop(self) -> None:
        self.block.__exit__(None, None, None)


_test = pytest.StashKey[_Test]()


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.getgroup("wattle").addoption(
        "--wattle", action="store_true", help="print the energy of every test, in joules"
    )


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line(
        "markers",
        f'{_MARK}(budget): fail if the test uses more energy than budget ("5 J", "200 mJ", or a '
        "number of joules), and the excess is larger than the uncertainty.",
    )
    config.pluginmanager.register(_Check(), "wattle-energy-budget")


def _budget(item: pytest.Item) -> float | None:
    """In joules; None without a mark."""
    mark = item.get_closest_marker(_MARK)
    if mark is None:
        return None
    given = [*mark.args, *mark.kwargs.values()]
    if len(given) != 1 or set(mark.kwargs) - {"budget"}:
        raise ValueError(f'{_MARK} takes one argument: {_MARK}("5 J")')
    return parse_energy(given[0])


def pytest_runtest_setup(item: pytest.Item) -> None:
    fault = ""
    try:
        _budget(item)
    except ValueError as error:
        fault = str(error)
    # Not while the exception is handled: pytest would print the text twice.
    if fault:
        pytest.fail(fault, pytrace=False)


@pytest.hookimpl(hookwrapper=True, trylast=True)
def pytest_runtest_call(item: pytest.Item) -> Generator[None, None, None]:
    budget_j = _budget(item)
    if budget_j is None and not item.config.getoption("wattle"):
        yield
        return
    from wattle._measure import measure

    block = measure(item.nodeid)
    item.stash[_test] = test = _Test(budget_j, block, block.__enter__())
    yield
    test.stop()
    item.user_properties.extend(_properties(test.measurement))


class _Check:
    """After the test: pytest does not come here if the test failed."""

    @pytest.hookimpl(trylast=True)
    def pytest_runtest_call(self, item: pytest.Item) -> None:
        test = item.stash.get(_test, None)
        if test is None or test.budget_j is None:
            return
        test.stop()
        if _workers(item.config) > 1:
            item.warn(EnergyBudgetWarning(f"the energy budget is not checked: {_OVERLAP}"))
            return
        is_over, message = _judge(test.measurement, test.budget_j)
        if is_over:
            pytest.fail(message, pytrace=False)
        if message:
            item.warn(EnergyBudgetWarning(message))


def _judge(measurement: Any, budget_j: float) -> tuple[bool, str]:
    """True above the budget; the message is empty if the energy is within it without a doubt."""
    budget = energy_text(budget_j, None)
    total_j, error_j = measurement.total_j, measurement.uncertainty_j
    if total_j is None or error_j is None:
        return False, f"the energy budget of {budget} is not checked: {_reason(measurement)}"
    # Not as stdout has it now: pytest catches that.
    used = fitting(printable(str(measurement)), sys.__stdout__)
    if total_j - error_j > budget_j:
        return True, f"energy budget exceeded: {used}; the budget is {budget}"
    if total_j + error_j > budget_j:
        return False, (
            f"the energy budget is not decided: {used}; the budget of {budget} is within the uncertainty"
        )
    if measurement.unknown_s > 1e-3 * measurement.seconds:
        return False, (
            f"the energy budget is not decided: {used}; the budget is {budget}, and a part of the "
            "energy is unknown"
        )
    return False, ""


def _reason(measurement: Any) -> str:
    reasons = [f"{one.subject}: {one.reason}" for one in measurement.missing]
    return printable("; ".join(reasons) or ", ".join(measurement.flags) or "nothing was measured")


def _properties(measurement: Any) -> list[tuple[str, object]]:
    total_j = measurement.total_j
    if total_j is None:
        return [(_REASON, _reason(measurement))]
    text = energy_text(total_j, measurement.uncertainty_j, measurement.unknown_s)
    flags = [(_FLAGS, " ".join(measurement.flags))] if measurement.flags else []
    return [(_ENERGY, total_j), (_ERROR, measurement.uncertainty_j), (_TEXT, text), *flags]


def _workers(config: pytest.Config) -> int:
    """How many processes run tests at the same time (pytest-xdist)."""
    given: Mapping[str, Any] = getattr(config, "workerinput", {})
    return int(given.get("workercount", os.environ.get("PYTEST_XDIST_WORKER_COUNT", "1")))


def pytest_terminal_summary(terminalreporter: Any, config: pytest.Config) -> None:
    if not config.getoption("wattle"):
        return
    reports = [
        report
        for kept in terminalreporter.stats.values()
        for report in kept
        if getattr(report, "when", None) == "call"
    ]
    rows = [(report, dict(report.user_properties)) for report in reports]
    rows = [(report, known) for report, known in rows if _TEXT in known or _REASON in known]
    if not rows:
        return
    terminalreporter.section("energy of each test")
    cells = [_cells(report, known) for report, known in rows]
    widths = [max(len(row[column]) for row in cells) for column in (0, 1)]
    for energy, seconds, name in cells:
        terminalreporter.write_line(f"{energy:<{widths[0]}}  {seconds:>{widths[1]}}  {name}")
    for reason in dict.fromkeys(known[_REASON] for _, known in rows if _REASON in known):
        terminalreporter.write_line(fitting(f"{UNKNOWN}: {reason}", sys.__stdout__))
    if len({getattr(report, "worker_id", "") for report, _ in rows}) > 1:
        terminalreporter.write_line(f"the energies overlap: {_OVERLAP}")


def _cells(report: Any, known: Mapping[str, Any]) -> tuple[str, ...]:
    duration = report.duration
    seconds = seconds_text(duration) if math.isfinite(duration) else UNKNOWN_CELL
    energy = " ".join(str(known[name]) for name in (_TEXT, _FLAGS) if name in known)
    cells = (energy or UNKNOWN_CELL, seconds, printable(report.nodeid))
    return tuple(fitting(cell, sys.__stdout__) for cell in cells)

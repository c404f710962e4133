# type: ignore
"""`wattle.measure` and `wattle.Windows`."""

import asyncio
import functools
import inspect
import json
import pickle
import threading

import pytest
import wattle


def test_a_block_has_the_energy_that_its_counters_counted(tree):
    with wattle.measure("epoch") as m:
        tree.spend("intel-rapl:0", 2.0)
        tree.spend("intel-rapl:0:0", 0.5)
        tree.spend("intel-rapl:1", 1.0)
    assert m.tag == "epoch"
    assert m.total_j == pytest.approx(3.5, abs=1e-3)
    assert m.domains["package_0"].energy_j == pytest.approx(2.0, abs=1e-3)
    assert m.domains["dram_0"].energy_j == pytest.approx(0.5, abs=1e-3)
    assert list(m.domains) == ["package_0", "package_1", "dram_0"]
    assert m.covers == ("package_0", "package_1", "dram_0")
    assert m.uncertainty_j > 0
    assert m.seconds > 0
    assert isinstance(m.flags, tuple)


def test_a_measurement_prints_its_energy_and_domains(tree):
    with wattle.measure() as m:
        tree.spend("intel-rapl:0", 2.0)
    text = str(m)
    assert " J ± " in text
    assert text.endswith("(package_0, package_1, dram_0)")
    assert "package_0" in m._repr_html_()


def test_values_of_an_open_window_raise_not_stopped(tree):
    with wattle.measure() as m:
        with pytest.raises(wattle.NotStopped):
            print(m.total_j)
        assert "not ended" in repr(m)
    assert m.total_j is not None


def test_an_exception_ends_the_window_and_passes(tree):
    with pytest.raises(KeyError), wattle.measure() as m:
        tree.spend("intel-rapl:0", 1.0)
        raise KeyError("of the body")
    assert m.total_j == pytest.approx(1.0, abs=1e-3)


def test_without_sensors_values_are_none_and_have_a_reason(empty_tree):
    with wattle.measure() as m:
        pass
    assert m.total_j is None
    assert m.uncertainty_j is None
    assert m.missing
    assert m.missing[0].reason
    assert "unknown" in str(m)
    assert json.dumps(m.to_dict())


def test_strict_raises_where_nothing_can_be_read(empty_tree):
    with pytest.raises(wattle.NoSuchDevice), wattle.measure(strict=True):
        pass


def test_a_domain_that_is_absent_is_missing_or_raises(tree):
    with wattle.measure(domains=["package_0", "package_7"]) as m:
        pass
    assert m.domains["package_7"].energy_j is None
    assert [lack.subject for lack in m.missing] == ["package_7"]
    with pytest.raises(wattle.NoSuchDomain) as caught:
        wattle.measure(domains=["package_7"], strict=True).__enter__()
    assert caught.value.domain_name == "package_7"
    with pytest.raises(ValueError, match="domain"):
        wattle.measure(domains=["Package 0"]).__enter__()


def test_one_object_measures_one_block_at_a_time(tree):
    block = wattle.measure()
    with block as first, pytest.raises(wattle.InvalidState):
        block.__enter__()
    with block as second:
        pass
    assert first is not second


def test_a_handler_gets_each_measurement(tree):
    got = []
    with wattle.measure("a", handler=got.append) as m:
        pass
    assert got == [m]


def test_a_handler_with_process_gets_a_trace(tree):
    handler = wattle.PandasHandler()
    with wattle.measure("ä €", handler=handler):
        tree.spend("intel-rapl:0", 1.0)
    frame = handler.get_dataframe()
    assert list(frame["tag"]) == ["ä €"]
    assert frame["package_0_j"][0] == pytest.approx(1.0, abs=1e-3)


def test_a_decorated_function_keeps_its_measurements(tree):
    @wattle.measure
    def work(joules):
        """Works."""
        tree.spend("intel-rapl:0", joules)
        return joules

    assert work(1.0) == 1.0
    assert work(2.0) == 2.0
    assert work.__name__ == "work"
    assert work.__doc__ == "Works."
    assert [m.tag for m in work.measurements] == ["work", "work"]
    assert [m.total_j for m in work.measurements] == pytest.approx([1.0, 2.0], abs=1e-3)


def test_a_recursive_decorated_function_measures_each_call(tree):
    @wattle.measure("sum", domains="package_0")
    def sum_up(n):
        tree.spend("intel-rapl:0", 1.0)
        return 0 if n == 0 else n + sum_up(n - 1)

    assert sum_up(2) == 3
    assert [m.total_j for m in sum_up.measurements] == pytest.approx([1.0, 2.0, 3.0], abs=1e-3)


def test_a_decorated_function_that_raises_is_measured(tree):
    @wattle.measure
    def fail():
        raise OSError("no")

    with pytest.raises(OSError, match="no"):
        fail()
    assert len(fail.measurements) == 1


def test_decorated_methods_of_a_class_are_measured(tree):
    class Model:
        @wattle.measure
        def fit(self):
            return self

        @wattle.measure
        @staticmethod
        def load():
            return 1

    model = Model()
    assert model.fit() is model
    assert Model.load() == 1
    assert len(Model.fit.measurements) == 1


def test_a_decorated_coroutine_is_measured_to_its_end(tree):
    @wattle.measure
    async def fetch():
        await asyncio.sleep(0)
        tree.spend("intel-rapl:0", 1.0)
        return "done"

    assert inspect.iscoroutinefunction(fetch)
    coroutine = fetch()
    tree.spend("intel-rapl:0", 5.0)  # before its first step
    assert asyncio.run(coroutine) == "done"
    assert fetch.measurements[0].total_j == pytest.approx(1.0, abs=1e-3)


def test_an_object_that_is_called_as_a_coroutine_is_measured_to_its_end(tree):
    class Step:
        async def __call__(self, seconds):
            await asyncio.sleep(seconds)
            return seconds

    for function in (Step(), functools.partial(Step(), 0.05)):
        step = wattle.measure("step")(function)
        assert asyncio.run(step(0.05) if function.__class__ is Step else step()) == 0.05
        assert step.measurements[0].seconds >= 0.05


def test_a_decorated_generator_is_measured_until_it_ends(tree):
    @wattle.measure
    def steps():
        tree.spend("intel-rapl:0", 1.0)
        got = yield "a"
        tree.spend("intel-rapl:0", 1.0)
        yield got
        return "last"

    assert inspect.isgeneratorfunction(steps)
    generator = steps()
    assert next(generator) == "a"
    assert not steps.measurements
    assert generator.send("b") == "b"
    with pytest.raises(StopIteration) as ended:
        next(generator)
    assert ended.value.value == "last"
    assert steps.measurements[0].total_j == pytest.approx(2.0, abs=1e-3)


def test_a_decorated_generator_that_is_closed_is_measured(tree):
    @wattle.measure
    def steps():
        yield 1
        yield 2

    generator = steps()
    next(generator)
    generator.close()
    assert len(steps.measurements) == 1


def test_a_decorated_asynchronous_generator_relays_values_and_exceptions(tree):
    seen = []

    @wattle.measure
    async def steps():
        try:
            seen.append((yield 1))
        except KeyError:
            seen.append("error")
        yield 2

    async def use():
        generator = steps()
        assert await generator.asend(None) == 1
        assert await generator.asend("sent") == 2
        await generator.aclose()
        generator = steps()
        assert await generator.asend(None) == 1
        assert await generator.athrow(KeyError("x")) == 2
        assert [item async for item in steps()] == [1, 2]

    assert inspect.isasyncgenfunction(steps)
    asyncio.run(use())
    assert seen == ["sent", "error", None]
    assert len(steps.measurements) == 3


def test_an_asynchronous_block_is_measured(tree):
    async def use():
        async with wattle.measure("a") as m:
            tree.spend("intel-rapl:0", 1.0)
            await asyncio.sleep(0)
        return m

    assert asyncio.run(use()).total_j == pytest.approx(1.0, abs=1e-3)


def test_windows_overlap(tree):
    windows = wattle.Windows()
    windows.begin("a")
    tree.spend("intel-rapl:0", 1.0)
    windows.begin("b")
    tree.spend("intel-rapl:0", 2.0)
    assert list(windows) == ["a", "b"]
    a = windows.end("a")
    tree.spend("intel-rapl:0", 4.0)
    b = windows.end("b")
    assert a.total_j == pytest.approx(3.0, abs=1e-3)
    assert b.total_j == pytest.approx(6.0, abs=1e-3)
    assert len(windows) == 0


def test_a_window_is_open_once(tree):
    windows = wattle.Windows()
    with pytest.raises(wattle.NotStarted):
        windows.end("a")
    windows.begin("a")
    with pytest.raises(wattle.InvalidState):
        windows.begin("a")
    tree.spend("intel-rapl:0", 1.0)
    windows.begin("a", restart=True)
    assert windows.end("a").total_j == pytest.approx(0.0, abs=1e-3)
    windows.begin("a")
    windows.cancel("a")
    assert "a" not in windows
    with pytest.raises(wattle.NotStarted):
        windows.cancel("a")


def test_windows_end_in_other_threads(tree):
    windows = wattle.Windows(domains=["package_0"])
    keys = range(50)
    for key in keys:
        windows.begin(key)
    tree.spend("intel-rapl:0", 1.0)
    ended = []
    threads = [threading.Thread(target=lambda k=key: ended.append(windows.end(k))) for key in keys]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert [m.total_j for m in ended] == pytest.approx([1.0] * 50, abs=1e-3)


def test_a_measurement_can_be_pickled(tree):
    with wattle.measure("ä") as m:
        tree.spend("intel-rapl:0", 1.0)
    copy = pickle.loads(pickle.dumps(m))
    assert copy.tag == "ä"
    assert copy.total_j == m.total_j
    assert copy.domains == m.domains
    assert copy.timestamp == pytest.approx(m.timestamp, abs=1e-6)


def test_an_estimate_is_never_in_the_field_of_a_measurement(empty_tree):
    with wattle.measure(estimate=True) as m:
        pass
    assert m.total_j is None
    assert m.estimate is not None
    assert m.estimate.machine is None or m.estimate.machine.low_j <= m.estimate.machine.high_j
    with wattle.measure() as m:
        pass
    assert m.estimate is None


def test_tags_are_texts(tree):
    with pytest.raises(TypeError):
        wattle.measure(3)
    with wattle.measure("a\udcff b\ud800") as m:
        pass
    assert m.tag == "a\udcff b\ud800"
    assert m.sample.tag


def test_a_system_is_searched_instead_of_the_environment(tree, empty_tree, monkeypatch):
    system = wattle.System()
    monkeypatch.setenv("WATTLE_SYSFS", "/nowhere")
    with wattle.measure() as m:
        pass
    assert m.total_j is None
    with wattle.measure(system=system) as m:
        pass
    assert m.total_j is not None
    assert wattle.domains(system) == ["package_0", "package_1", "dram_0"]
    assert wattle.domains() == []

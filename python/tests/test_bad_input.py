# type: ignore
"""Bad input: a million records, any text as a tag, wrong arguments, sources that read nonsense."""

import os

import pytest
import wattle

# Large amounts


def test_a_million_records_are_a_trace(tree):
    pytest.importorskip("numpy")

    class Steps(wattle.EnergySource):
        def __init__(self):
            self.ticks = 0

        def counters(self):
            return [wattle.Counter("steps", tick_j=1.0)]

        def read(self):
            self.ticks += 1
            return (self.ticks,)

    steps = Steps()
    meter = wattle.EnergyMeter(domains=(), sources=[steps])
    # A sanitizer makes each record 20 times slower.
    count = 50_000 if "libasan" in os.environ.get("LD_PRELOAD", "") else 1_000_000
    meter.reserve(count + 1)
    record = meter.record
    meter.start("ä")
    began = steps.ticks
    for _ in range(count - 1):
        record("€")
    meter.stop()
    trace = meter.trace()
    assert len(trace) == count
    assert (trace[0].tag, trace[-1].tag) == ("ä", "€")
    columns = trace.to_numpy()
    # A read that took long because of other processes is repeated.
    read = steps.ticks - began
    assert count - 0.5 < columns["steps_j"].sum() < read + 0.5 < 1.01 * count
    assert (columns["seconds"] >= 0).all()
    assert trace[-3:].tags == ["€"] * 3


@pytest.mark.parametrize(
    "tag", ["", "日本語 ✓", "\u202eabc", "a\0b", "x" * 1_000_000, "a\nb;c\"d,e", "\udcff"], ids=range(7)
)
def test_any_text_is_a_tag(tree, tmp_path, tag):
    with wattle.measure(tag) as m:
        tree.spend("intel-rapl:0", 1.0)
    assert m.tag == tag
    assert str(m) and repr(m) and m._repr_html_()
    handler = wattle.CsvHandler(tmp_path / "out.csv")
    handler.process(wattle.EnergyTrace([m.sample]))
    handler.save_data()
    assert (tmp_path / "out.csv").stat().st_size > len(tag)


# Wrong arguments: an exception, and the interpreter goes on


@pytest.mark.parametrize(
    "call",
    [
        lambda: wattle.measure(domains=[""]).__enter__(),
        lambda: wattle.measure(domains=["package_-1"]).__enter__(),
        lambda: wattle.measure(domains=["a\0b"]).__enter__(),
        lambda: wattle.measure(domains=["package_0", "package_0"]).__enter__(),
        lambda: wattle.measure(gpus=[-1]).__enter__(),
        lambda: wattle.measure(gpus="nonsense", strict=True).__enter__(),
        lambda: wattle.measure(gpus=[1.5]).__enter__(),
        lambda: wattle.measure(b"tag"),
        lambda: wattle.EnergyMeter(sources=[object()]),
        lambda: wattle.EnergyMeter(domains=[3]),
        lambda: wattle.PowerMonitor(update_period=-1.0),
        lambda: wattle.PowerMonitor(update_period=float("nan")),
        lambda: wattle.PowerMonitor(update_period=1e300),
        lambda: wattle.PowerMonitor(max_samples_per_gpu=-1),
        lambda: wattle.PowerMonitor(power_domains=["soc"]),
        lambda: wattle.Tracker(sleep_time=float("nan")),
        lambda: wattle.Tracker(sleep_time=float("inf")),
        lambda: wattle.Tracker(ram_unit="pounds"),
        lambda: wattle.RunLog("/dev/null/run.jsonl"),
        lambda: wattle.HardwareMonitor("/dev/null/folder").__enter__(),
        lambda: wattle.HardwareMonitor("out", interval=0.0).__enter__(),
        lambda: wattle.EnergySample("time", "tag", 1.0, {}),
        lambda: wattle.EnergySample(0.0, "tag", 1.0, {"no domain!": "x"}),
        lambda: wattle.Domain("no domain!"),
        lambda: wattle.EnergyTrace([1]),
        lambda: wattle.recover_usage("/nowhere/usage"),
        lambda: wattle.Report.load("/nowhere/report"),
        lambda: wattle.System(sysfs="a\0b"),
        lambda: wattle.CsvHandler("a\0b"),
        lambda: wattle.RunLog("a\0b"),
        lambda: wattle.HardwareMonitor("a\0b").__enter__(),
        lambda: wattle.Tracker(tracking_file="a.csv\0b"),
        lambda: wattle.summarize("a\0b"),
        lambda: wattle.run("ls -l"),
        lambda: wattle.run([]),
        lambda: wattle.run(["true"], options="--estimate"),
        lambda: wattle.measure(dict),
        lambda: wattle.unit("a")(dict),
    ],
)
def test_wrong_arguments_raise(tree, call):
    # AttributeError: of an object that lacks a function.
    with pytest.raises((wattle.Error, TypeError, ValueError, OSError, AttributeError)):
        call()


@pytest.mark.parametrize(
    "values", [None, (), ("x",), (1.5,), (-1,), (2**64,), (None,), 3], ids=range(8)
)
def test_a_source_that_reads_nonsense_is_unknown(tree, values):
    class Broken(wattle.EnergySource):
        def counters(self):
            return [wattle.Counter("broken")]

        def read(self):
            return values

    with wattle.EnergyMeter(domains=["package_0"], sources=[Broken()]) as meter:
        tree.spend("intel-rapl:0", 1.0)
    sample = meter.trace()[0]
    assert sample.domains["broken"].energy_j is None
    assert sample.domains["package_0"].energy_j == pytest.approx(1.0, abs=1e-3)


@pytest.mark.parametrize("counters", [[1], "text", None, [wattle.Counter("package_0")], [wattle.Counter("")]])
def test_a_source_with_wrong_counters_is_refused(tree, counters):
    class Broken(wattle.EnergySource):
        def counters(self):
            return counters

    with pytest.raises((wattle.Error, TypeError, ValueError, AttributeError)):
        wattle.EnergyMeter(sources=[Broken()])

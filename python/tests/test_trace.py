# type: ignore
"""Meters, traces, handlers, sources of one's own."""

import pickle

import numpy
import pytest
import wattle


def sample(tag="a", seconds=1.0, **energies):
    return wattle.EnergySample(1000.0, tag, seconds, energies or {"package_0": 2.0})


def test_a_meter_records_sections(tree):
    meter = wattle.EnergyMeter(domains=["package_0"])
    with meter:
        tree.spend("intel-rapl:0", 1.0)
        meter.record("second")
        tree.spend("intel-rapl:0", 2.0)
    trace = meter.trace()
    assert trace.tags == ["", "second"]
    assert [s.total_j for s in trace] == pytest.approx([1.0, 2.0], abs=1e-3)
    assert trace.total_j == pytest.approx(3.0, abs=1e-3)


def test_a_meter_refuses_a_wrong_order(tree):
    meter = wattle.EnergyMeter()
    with pytest.raises(wattle.NotStarted):
        meter.record()
    with pytest.raises(wattle.NotStarted):
        meter.stop()
    assert len(meter.trace()) == 0
    meter.start()
    with pytest.raises(wattle.NotStopped):
        meter.trace()
    with pytest.raises(wattle.NotStopped):
        meter.resume()
    meter.stop()
    meter.stop()
    assert len(meter.trace()) == 1


def test_idle_is_measured_as_long_as_each_sample(tree):
    meter = wattle.EnergyMeter(domains=["package_0"])
    with meter:
        pass
    idle = meter.measure_idle(meter.trace())
    assert len(idle) == 1
    trace = meter.trace()
    trace.remove_idle(idle)
    trace.remove_idle({"package_0": 1.0})
    assert trace[0].total_j < 0
    with pytest.raises(wattle.InvalidArgument):
        trace.remove_idle({"dram_0": 1.0})


def test_a_trace_is_a_sequence_and_a_mapping():
    trace = wattle.EnergyTrace([sample("a"), sample("b"), sample("ü"), sample("a", 2.0)])
    assert len(trace) == 4
    assert trace[0].tag == trace[-4].tag == "a"
    assert trace["ü"].tag == "ü"
    assert trace["a"].seconds == 1.0
    assert [s.tag for s in trace[1:3]] == ["b", "ü"]
    assert [s.tag for s in trace[::-1]] == ["a", "ü", "b", "a"]
    assert isinstance(trace[1:], wattle.EnergyTrace)
    assert "b" in trace and "c" not in trace and trace[1] in trace and 3 not in trace
    assert trace.keys() == ["a", "b", "ü", "a"]
    assert trace.get("c") is None
    assert [s.tag for s in reversed(trace)] == ["a", "ü", "b", "a"]


@pytest.mark.parametrize("key", [4, -5, 10**30, "c"])
def test_a_sample_that_is_absent_raises_what_lists_and_dictionaries_raise(key):
    trace = wattle.EnergyTrace([sample()] * 4)
    for error in (wattle.NoSuchSample, KeyError, IndexError, wattle.Error):
        with pytest.raises(error):
            trace[key]


def test_traces_are_added_and_compared():
    a = wattle.EnergyTrace([sample("a")])
    b = wattle.EnergyTrace([sample("b")])
    both = a + b
    assert both.tags == ["a", "b"]
    assert a.tags == ["a"]
    a += b
    assert a == both
    a.append(sample("c"))
    assert a != both
    with pytest.raises(TypeError):
        a + 1


def test_clean_data_removes_what_guards_reject():
    trace = wattle.EnergyTrace(
        [sample("a", package_0=1.0), sample("b", package_0=-1.0), sample("c", package_0=3.0)]
    )
    trace.clean_data(lambda s: s.domains["package_0"].energy_j > 2.0)
    assert trace.tags == ["c"]

    def fail(_):
        raise RuntimeError("guard")

    with pytest.raises(RuntimeError, match="guard"):
        trace.clean_data(fail)
    assert trace.tags == ["c"]


def test_columns_are_arrays_without_a_copy():
    trace = wattle.EnergyTrace([sample("a", package_0=1.0), sample("b", package_0=None)])
    columns = trace.to_numpy()
    assert list(columns) == [
        "tag", "timestamp", "seconds", "package_0_j", "package_0_uncertainty_j", "package_0_unknown_s",
    ]  # fmt: skip
    assert columns["package_0_j"][0] == 1.0
    assert numpy.isnan(columns["package_0_j"][1])
    assert columns["timestamp"].tolist() == pytest.approx([1000.0, 1000.0])
    assert not columns["timestamp"].flags.owndata
    assert not columns["timestamp"].flags.writeable
    records = trace.to_records()
    assert records[1]["package_0_j"] is None
    assert list(trace.to_pandas()["tag"]) == ["a", "b"]
    column = trace.columns()["package_0_j"]
    assert column[0] == column[-2] == 1.0
    with pytest.raises(IndexError):
        column[2]


def test_samples_of_different_domains_share_no_table():
    trace = wattle.EnergyTrace([sample(package_0=1.0), sample(dram_0=1.0)])
    with pytest.raises(wattle.InconsistentSamples):
        trace.to_numpy()


def test_an_empty_trace_has_no_rows():
    trace = wattle.EnergyTrace()
    assert trace.to_records() == []
    assert trace.total_j is None
    assert not trace
    assert len(trace.to_pandas()) == 0


def test_a_trace_can_be_pickled():
    trace = wattle.EnergyTrace([sample("ä")], [wattle.Refusal("cpu", "why", "what to do", "perf")])
    copy = pickle.loads(pickle.dumps(trace))
    assert copy.tags == ["ä"]
    assert copy.missing == trace.missing


def test_handlers_write_what_pyjoules_writes(tmp_path, capsys):
    trace = wattle.EnergyTrace([sample("a", package_0=0.123456)])
    wattle.PrintHandler().process(trace)
    assert "tag : a; duration : 1.0; package_0 : 123456.0" in capsys.readouterr().out
    handler = wattle.CsvHandler(tmp_path / "ä.csv")
    with pytest.raises(wattle.NoSampleProcessed):
        handler.save_data()
    handler.process(trace)
    handler.save_data()
    lines = (tmp_path / "ä.csv").read_text().splitlines()
    assert lines[0] == "timestamp;tag;duration;package_0"
    assert lines[1].endswith(";a;1.0;123456.0")
    broken = wattle.CsvHandler(tmp_path / "absent" / "a.csv")
    broken.process(trace)
    with pytest.raises(wattle.WriteError) as caught:
        broken.save_data()
    assert isinstance(caught.value, OSError)
    assert caught.value.errno == 2
    assert "absent" in str(caught.value)
    assert caught.value.path.endswith("a.csv")
    copy = pickle.loads(pickle.dumps(caught.value))
    assert (str(copy), copy.errno, copy.path) == (str(caught.value), 2, caught.value.path)


def test_a_source_of_ones_own_is_measured(tree):
    class Battery(wattle.EnergySource):
        ticks = 5

        def counters(self):
            return [wattle.Counter("battery", tick_j=0.5, max_power_w=1e9)]

        def read(self):
            return [self.ticks]

    battery = Battery()
    meter = wattle.EnergyMeter(domains=["package_0"], sources=[battery])
    with meter:
        battery.ticks = 9
    assert meter.domains == ("package_0", "battery")
    assert meter.trace()[0].domains["battery"].energy_j == pytest.approx(2.0)


def test_domains_are_texts_with_parts():
    domain = wattle.Domain("package_1_die_2")
    assert domain == "package_1_die_2"
    assert (domain.kind, domain.number, domain.die, domain.category) == ("package", 1, 2, "cpu")
    assert domain.counts_in_total and not wattle.Domain.core(0).counts_in_total
    assert wattle.Domain.custom("hwmon", "psu_12v") == "hwmon_psu_12v"
    assert pickle.loads(pickle.dumps(domain)).number == 1
    with pytest.raises(wattle.InvalidArgument):
        wattle.Domain("Package 0")


def test_errors_are_built_in_exceptions_too():
    for name, base in {
        "InvalidArgument": ValueError,
        "NoSuchDomain": LookupError,
        "PermissionDenied": PermissionError,
        "WriteError": OSError,
        "ConnectionError": ConnectionError,
        "NotStarted": RuntimeError,
    }.items():
        kind = getattr(wattle, name)
        error = kind("what failed")
        assert isinstance(error, base) and isinstance(error, wattle.Error)
        assert str(error) == "what failed"
        assert str(pickle.loads(pickle.dumps(error))) == "what failed"


def test_gpus_are_chosen_by_numbers_names_or_words():
    for wrong in ([0, 0], [-1], [], ["x", ""]):
        with pytest.raises(wattle.InvalidArgument):
            wattle.EnergyMeter(gpus=wrong)
    with pytest.raises(TypeError):
        wattle.EnergyMeter(gpus=[1.5])

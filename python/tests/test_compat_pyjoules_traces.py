"""wattle.compat.pyjoules: traces and handlers."""

import pytest
from wattle import FormatError
from wattle.compat.pyjoules.energy_trace import EnergySample, EnergyTrace
from wattle.compat.pyjoules.exception import (
    NoSampleProcessedError,
    UnconsistantSamplesError,
)
from wattle.compat.pyjoules.handler.csv_handler import CSVHandler
from wattle.compat.pyjoules.handler.mongo_handler import trace_to_dict
from wattle.compat.pyjoules.handler.pandas_handler import PandasHandler
from wattle.compat.pyjoules.handler.print_handler import PrintHandler


def sample(tag="a", **energy):
    return EnergySample(1, tag, 2, energy)


# Traces


def test_a_trace_is_indexed_by_number_and_tag():
    first, second = sample("a", d=1), sample("b", d=2)
    trace = EnergyTrace([first, second, sample("a", d=3)])
    assert trace["a"] is first
    assert trace[-2] is second
    assert "b" in trace
    assert "c" not in trace
    with pytest.raises(KeyError, match="c"):
        trace["c"]
    for number in (3, -4):
        with pytest.raises(IndexError):
            trace[number]


def test_traces_are_added():
    trace = EnergyTrace([sample("a")])
    joined = trace + EnergyTrace([sample("b")])
    trace += EnergyTrace([sample("c")])
    trace.append(sample("d"))
    assert [one.tag for one in joined] == ["a", "b"]
    assert [one.tag for one in trace] == ["a", "c", "d"]


def test_clean_data_drops_what_is_negative_unknown_or_rejected():
    trace = EnergyTrace([sample("a", d=1), sample("b", d=-1), sample("c", d=None), sample("d", d=9)])
    trace.clean_data([lambda one: one.energy["d"] < 5])
    assert [one.tag for one in trace] == ["a"]


def test_idle_that_does_not_fit_changes_nothing():
    trace = EnergyTrace([sample(d=5, e=5)])
    with pytest.raises(ValueError):
        trace.remove_idle([])
    with pytest.raises(ValueError, match="e"):
        trace.remove_idle([{"d": 1}])
    assert trace[0].energy == {"d": 5, "e": 5}
    trace.remove_idle([{"d": 1, "e": 7, "f": 1}])
    assert trace[0].energy == {"d": 4, "e": -2}


# Handlers


def test_print_writes_pyjoules_line(capsys):
    PrintHandler().process([EnergySample(1669000000.5, "a", 1e-05, {"p": 12.0, "g": 4000, "x": None})])
    assert capsys.readouterr().out == (
        "begin timestamp : 1669000000.5; tag : a; duration : 1e-05; p : 12.0; g : 4000; x : None\n"
    )


def test_csv_appends_one_header(tmp_path):
    path = tmp_path / "result.csv"
    handler = CSVHandler(path)
    for tag in ("sample1", 'odd;"tag'):
        handler.process(EnergyTrace([EnergySample(1, tag, 2, {"d1": 1, "d2": None})]))
        handler.save_data()
    assert path.read_text() == (
        'timestamp;tag;duration;d1;d2\n1;sample1;2;1;\n1;"odd;""tag";2;1;\n'
    )


def test_csv_refuses_what_does_not_fit(tmp_path):
    path = tmp_path / "result.csv"
    handler = CSVHandler(path)
    with pytest.raises(NoSampleProcessedError):
        handler.save_data()
    handler.process([sample(d=1), sample(e=1)])
    with pytest.raises(UnconsistantSamplesError):
        handler.save_data()
    assert not path.exists()
    path.write_text("other;columns\n")
    handler = CSVHandler(path)
    handler.process([sample(d=1)])
    with pytest.raises(FormatError, match="other columns"):
        handler.save_data()


def test_pandas_gives_a_row_per_sample():
    pytest.importorskip("pandas")
    handler = PandasHandler()
    with pytest.raises(NoSampleProcessedError):
        handler.get_dataframe()
    handler.process([sample("a", d=1), sample("b", d=2)])
    frame = handler.get_dataframe()
    assert list(frame.columns) == ["timestamp", "tag", "duration", "d"]
    assert list(frame["d"]) == [1, 2]


def test_a_document_has_the_samples():
    assert trace_to_dict([sample("a", d=1)], "trace_0") == {
        "name": "trace_0",
        "trace": [{"timestamp": 1, "tag": "a", "duration": 2, "energy": {"d": 1}}],
    }

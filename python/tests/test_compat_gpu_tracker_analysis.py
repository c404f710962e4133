# type: ignore
"""The analysis of blocks by gpu_tracker's names, over files that are written here."""

import pickle

import pytest
from wattle.compat.gpu_tracker import (
    SubTracker,
    SubTrackingAnalyzer,
    SubTrackingResults,
    TrackingComparison,
)

STATIC = "ram_unit,system_core_count\nmegabytes,4\n"


@pytest.fixture
def session(tmp_path):
    """Writes the files of a session of two blocks, and gives its analyzer."""

    def write(name, blocks=("load", "train"), rams=(10, 20, 40)):
        tracking, sub = tmp_path / f"{name}.csv", tmp_path / f"{name}_sub.csv"
        rows = "".join(f"{ram},,{at}\n" for at, ram in enumerate(rams, start=1))
        tracking.write_text(f"{STATIC}main_ram,gpu_ram,timestamp\n{rows}")
        lines = [f"7,{block},{end},{time}" for block, end, time in zip(
            [blocks[0], blocks[0], blocks[1], blocks[1]], (0, 1, 0, 1), (0.5, 2.5, 2.75, 2.875)
        )]
        sub.write_text("process_id,code_block_name,position,timestamp\n" + "\n".join(lines) + "\n")
        return SubTrackingAnalyzer(tracking, sub)

    return write


@pytest.fixture
def pickled(session, tmp_path):
    """Writes the results of a session as `pickle` does, and gives the path."""

    def write(name, **arguments):
        path = tmp_path / f"{name}.pkl"
        path.write_bytes(pickle.dumps(session(name, **arguments).sub_tracking_results()))
        return path

    return write


def test_a_block_has_the_statistics_of_its_samples(session):
    load, train = session("a").sub_tracking_results().code_block_results
    assert (load.name, load.num_calls, load.num_non_empty_calls, load.num_timepoints) == ("load", 1, 1, 2)
    figures = load.to_json()
    assert figures["compute_time"] == {"min": 2.0, "max": 2.0, "mean": 2.0, "std": 0.0, "total": 2.0}
    assert figures["resource_usage"] == {
        "main_ram": {"min": 10, "max": 20, "mean": 15.0, "std": 5.0},
        "gpu_ram": None,
    }
    assert (train.num_calls, train.num_non_empty_calls, train.num_timepoints) == (1, 0, 0)


def test_results_are_objects_of_pandas_where_they_are_asked_for(session):
    pytest.importorskip("pandas")
    analyzer = session("a")
    results = analyzer.sub_tracking_results()
    assert results.overall.loc["main_ram", "max"] == 40
    assert results.overall["mean"]["gpu_ram"] != results.overall["mean"]["gpu_ram"]  # NaN
    assert results.static_data["ram_unit"] == "megabytes"
    (load, _) = results.code_block_results
    assert load.compute_time["total"] == load.compute_time.total == 2.0
    assert load.resource_usage["std"]["main_ram"] == 5.0
    assert list(analyzer.load_timepoints([(0.0, 1.5)])["main_ram"]) == [10]
    assert analyzer.overall_timepoint_results().equals(results.overall)
    assert analyzer.read_static_data()["system_core_count"] == 4


def test_results_are_printed_as_aligned_tables(session):
    assert str(session("a").sub_tracking_results()) == (
        "Overall:\n"
        "\t         min max        mean         std\n"
        "\tmain_ram  10  40 23.33333333 12.47219129\n"
        "\tgpu_ram  NaN NaN         NaN         NaN\n"
        "Static Data:\n"
        "\t   ram_unit system_core_count\n"
        "\t  megabytes                 4\n"
        "Code Block Results:\n"
        "\tName:                load\n"
        "\tNum Timepoints:      2\n"
        "\tNum Calls:           1\n"
        "\tNum Non Empty Calls: 1\n"
        "\tCompute Time:\n"
        "\t\t min max mean std total\n"
        "\t\t 2.0 2.0  2.0 0.0   2.0\n"
        "\tResource Usage:\n"
        "\t\t         min max mean std\n"
        "\t\tmain_ram  10  20 15.0 5.0\n"
        "\t\tgpu_ram  NaN NaN  NaN NaN\n"
        "\n"
        "\tName:                train\n"
        "\tNum Timepoints:      0\n"
        "\tNum Calls:           1\n"
        "\tNum Non Empty Calls: 0\n"
        "\tCompute Time:\n"
        "\t\t   min   max  mean std total\n"
        "\t\t 0.125 0.125 0.125 0.0 0.125\n"
        "\tResource Usage:\n"
        "\t\t         min max mean std\n"
        "\t\tmain_ram NaN NaN  NaN NaN\n"
        "\t\tgpu_ram  NaN NaN  NaN NaN\n"
        "\n"
    )


def test_sessions_are_compared_by_measurement_and_block(pickled):
    compared = TrackingComparison({"big": pickled("a"), "small": pickled("b", rams=(1, 2, 4))}).compare("max")
    described = compared.to_json()
    assert described["overall_resource_usage"] == {"main_ram": {"small": 4, "big": 40}, "gpu_ram": {}}
    assert list(described["overall_resource_usage"]["main_ram"]) == ["small", "big"]
    assert described["code_block_resource_usage"]["main_ram"] == {"load": {"small": 2, "big": 20}, "train": {}}
    assert described["code_block_compute_time"]["train"] == {"big": 0.125, "small": 0.125}
    text = str(compared)
    assert text.startswith("Overall Resource Usage:\n\tMain Ram:\n\t\t small big\n\t\t     4  40\n")
    assert "Code Block Compute Time:\n\tload:\n" in text


def test_a_comparison_has_series_of_pandas(pickled):
    pytest.importorskip("pandas")
    compared = TrackingComparison({"big": pickled("a"), "small": pickled("b", rams=(1, 2, 4))}).compare()
    assert list(compared.overall_resource_usage["main_ram"].index) == ["small", "big"]
    assert compared.code_block_resource_usage["main_ram"]["load"]["big"] == 15.0
    assert compared.code_block_compute_time["load"]["small"] == 2.0


def test_results_that_the_original_pickled_are_compared(pickled, session, tmp_path):
    pytest.importorskip("pandas")
    ours = session("a").sub_tracking_results()

    class Theirs:
        """Pickled as an object of our class with the attributes of the original."""

        def __init__(self, kind, **state):
            self.kind = kind
            self.state = state

        def __reduce__(self):
            return self.kind.__new__, (self.kind,), self.state

    blocks = [
        Theirs(
            type(block),
            name=block.name,
            num_timepoints=block.num_timepoints,
            num_calls=block.num_calls,
            num_non_empty_calls=block.num_non_empty_calls,
            compute_time=block.compute_time,
            resource_usage=block.resource_usage,
        )
        for block in ours.code_block_results
    ]
    path = tmp_path / "theirs.pkl"
    theirs = Theirs(type(ours), overall=ours.overall, static_data=ours.static_data, code_block_results=blocks)
    path.write_bytes(pickle.dumps(theirs))
    compared = TrackingComparison({"theirs": path, "ours": pickled("b")})
    assert compared.results_map["theirs"].to_json() == ours.to_json()
    assert list(compared.compare().code_block_compute_time) == [block.name for block in ours.code_block_results]


def test_blocks_that_are_lines_are_matched_in_their_order(pickled, caplog):
    paths = {
        "old": pickled("a", blocks=("f.py:9", "f.py:30")),
        "new": pickled("b", blocks=("f.py:9", "f.py:110")),
    }
    compared = TrackingComparison(paths).compare()
    assert list(compared.to_json()["code_block_compute_time"]) == ["f.py:9", "f.py:30 -> f.py:110"]
    assert "'f.py:30' of old is compared with 'f.py:110' of new" in caplog.text


def test_blocks_that_do_not_match_are_refused(pickled):
    with pytest.raises(ValueError, match="'train' of a does not match 'test' of b"):
        TrackingComparison({"a": pickled("a"), "b": pickled("b", blocks=("load", "test"))})
    with pytest.raises(ValueError, match="2 blocks, b has 1"):
        TrackingComparison({"a": pickled("a"), "b": pickled("b", blocks=("load", "load"))})


def test_a_session_without_blocks_is_compared_as_a_whole(tmp_path, session):
    path = tmp_path / "whole.pkl"
    whole = session("a").sub_tracking_results().to_json()["overall"]
    path.write_bytes(pickle.dumps(SubTrackingResults(whole, {}, [])))
    described = TrackingComparison({"a": path}).compare().to_json()
    assert described["overall_resource_usage"]["main_ram"] == {"a": pytest.approx(70 / 3)}
    assert described["code_block_resource_usage"] == described["code_block_compute_time"] == {}


def test_files_are_combined_into_a_new_one_of_their_format(tmp_path):
    for name in ("one", "two"):
        with SubTracker("a", sub_tracking_file=tmp_path / f"{name}.sqlite"):
            pass
    parts = [tmp_path / "one.sqlite", tmp_path / "two.sqlite"]
    combined = SubTrackingAnalyzer(None, tmp_path / "all.sqlite")
    combined.combine_sub_tracking_files(parts)
    assert len(combined.load_timestamp_pairs("a")) == 2
    with pytest.raises(ValueError, match="exists already"):
        combined.combine_sub_tracking_files(parts)
    with pytest.raises(ValueError, match="formats differ"):
        SubTrackingAnalyzer(None, tmp_path / "all.csv").combine_sub_tracking_files(parts)


def test_a_file_keeps_the_type_of_its_name(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert SubTracker("a", sub_tracking_file="a.csv").sub_tracking_file == "a.csv"
    assert SubTracker("a").sub_tracking_file.endswith(".csv")

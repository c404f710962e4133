"""wattle run --otlp, to a collector that checks the published schema: the command keeps its exit status, whatever the
collector does."""

import json
import os
import re
import subprocess

import pytest
from otlp_collector import PARENT, TRACE, plain


def run(machine, *words, variables=()):
    return subprocess.run(
        [os.environ["WATTLE_TEST_COMMAND"], "run", *words], env={**machine.environment, **dict(variables)},
        capture_output=True, text=True, timeout=120)


def test_a_run_is_metrics_and_spans(machine, collector, tmp_path):
    command = os.environ["WATTLE_TEST_COMMAND"]
    script = (f"{command} mark load; sleep 0.3; {command} mark --next train;"
              f"{command} mark --unit --traceparent 00-{TRACE}-{PARENT}-01 job; sleep 0.5;"
              f"{command} mark --unit --end --work 3 job; exit 3")
    ended = run(machine, "--otlp", collector.url, "--json", str(tmp_path / "run.json"), "--", "sh", "-c", script)
    assert ended.returncode == 3
    report = json.loads((tmp_path / "run.json").read_text())
    (total,) = collector.of("wattle.run.energy.total")
    assert total[5] == pytest.approx(report["energy"]["total_j"])
    assert 0 < total[3] < total[4]
    assert {point[2]["hw.id"] for point in collector.of("wattle.run.energy")} == {
        domain["name"] for domain in report["energy"]["domains"]}
    assert {point[2]["wattle.phase"] for point in collector.of("wattle.phase.energy")} == {"load", "train"}
    spans = {span["name"]: span for span, _ in collector.spans}
    assert set(spans) == {"sh", "load", "train", "job"}
    assert spans["sh"]["status"] == {"message": "exit status 3", "code": 2}
    for name in ("load", "train"):
        assert spans[name]["parentSpanId"] == spans["sh"]["spanId"]
        assert spans[name]["traceId"] == spans["sh"]["traceId"]
    assert spans["job"]["traceId"] == TRACE and spans["job"]["parentSpanId"] == PARENT
    assert plain(spans["sh"]["attributes"])["energy.joules"] == pytest.approx(report["energy"]["total_j"])
    assert plain(spans["job"]["attributes"])["energy.joules"] > 0
    assert collector.repeated() == set()


def test_a_run_on_a_gauge_that_sees_a_part_of_the_time_is_flagged(machine, collector, tmp_path):
    gauge = tmp_path / "partial"
    gauge.write_text("gpu Tesla M40 24GB\nuuid GPU-a\ncounter none\ninstant none\naverage none\npower step 0 150\n")
    ended = run(machine, "--otlp", collector.url, "-q", "--", "sleep", "0.6", variables={"WATTLE_FAKE_NVML": str(gauge)})
    assert ended.returncode == 0
    (energy,) = (point for point in collector.of("wattle.run.energy") if point[2]["hw.id"] == "nvidia_gpu_0")
    assert "partial_coverage" in energy[2]["energy.flags"].split()
    (total,) = collector.of("wattle.run.energy.total")
    assert "partial_coverage" in total[2]["energy.flags"].split()
    doubts = {point[2]["hw.id"]: point[5] for point in collector.of("wattle.run.energy.domain.uncertainty")}
    assert doubts["nvidia_gpu_0"] > 0


def test_a_run_belongs_to_the_trace_that_started_it(machine, collector):
    for given, is_taken in ((f"00-{TRACE}-{PARENT}-01", True), (f"ff-{TRACE}-{PARENT}-01", False)):
        collector.spans.clear()
        assert run(machine, "--otlp", collector.url, "-q", "--", "true", variables={"TRACEPARENT": given}).returncode == 0
        ((span, _),) = collector.spans
        assert (span["traceId"] == TRACE) == is_taken
        assert (span.get("parentSpanId") == PARENT) == is_taken


def test_a_run_tries_again_when_it_may(machine, collector):
    collector.script = [503, (429, {"Retry-After": "1"})]
    ended = run(machine, "--otlp", collector.url, "-q", "--", "sh", "-c", "exit 7")
    assert ended.returncode == 7
    assert ended.stderr == ""
    assert len(collector.of("wattle.run.energy.total")) == 1


@pytest.mark.parametrize("answer", ["down", 400, "never", (503, {"Retry-After": "600"}), "garbage"])
def test_a_run_keeps_its_exit_status_and_gives_up_in_one_sentence(machine, collector, answer):
    if answer == "down":
        collector.stop()
    collector.script = [answer] * 100
    ended = run(machine, "--otlp", collector.url, "-q", "--", "sh", "-c", "echo done; exit 7")
    if answer == "down":
        collector.start()
    assert ended.returncode == 7
    assert ended.stdout == "done\n"
    assert re.fullmatch(r"wattle run: \d+ data points and spans were not sent to http://127.0.0.1:\d+: .+\n", ended.stderr)


def test_a_url_that_is_none_is_refused_before_the_command_starts(machine, tmp_path):
    for url in ("collector:4318", "http://me:secret@x", "http://"):
        ended = run(machine, "--otlp", url, "--", "touch", str(tmp_path / "started"))
        assert ended.returncode == 125
        assert "--otlp" in ended.stderr and "secret" not in ended.stderr
    assert not (tmp_path / "started").exists()

"""wattled serve --otlp, to a collector that checks the published schema: each point arrives once,
or is named as dropped, whatever the collector does."""

import json
import os
import re
import signal
import socket
import subprocess
import urllib.parse
import urllib.request

import pytest
from conftest import end, eventually, start_at_free_port
from otlp_collector import PARENT, TRACE, Invalid, check, plain


class Pusher:
    """A daemon that pushes each second."""

    def __init__(self, root, machine, url, *options, variables=(), user="root"):
        self.root, self.machine, self.url, self.options, self.user = root, machine, url, options, user
        self.variables = dict(variables)
        self.log = root / "log"
        self.start()

    def start(self):
        command = lambda port: [
            os.environ["WATTLE_TEST_DAEMON"], "serve", "--mode=tcp", f"--tcp-bind-address=127.0.0.1:{port}",
            f"--user={self.user}", "--public-cpu-period=0", "--otlp", self.url, "--otlp-interval", "1", *self.options,
        ]
        self.process, self.port = start_at_free_port(
            command, env={**self.machine.environment, **self.variables}, stdout=subprocess.DEVNULL,
            stderr=open(self.log, "a"),
        )

    def stop(self):
        self.process.send_signal(signal.SIGTERM)
        return self.process.wait(timeout=30)

    def lines(self):
        return self.log.read_text()

    def dropped(self):
        return sum(int(number) for number in re.findall(r"telemetry: (\d+) data points or spans dropped", self.lines()))


@pytest.fixture
def push(tmp_path, machine, collector):
    started = []

    def start(*options, url=collector.url, **more):
        started.append(Pusher(tmp_path, machine, url, *options, **more))
        return started[-1]

    yield start
    for each in started:
        end(each.process)


def times(collector, name="hw.energy"):
    return sorted({at for _, _, _, _, at, _, _ in collector.of(name)})


def has_gap(collector):
    """The times of the points are a second apart, also of those that waited."""
    found = times(collector)
    return any(later - sooner > 1.9e9 for sooner, later in zip(found, found[1:]))


def test_the_validator_finds_what_is_wrong():
    point = {"attributes": [], "startTimeUnixNano": "1", "timeUnixNano": "2", "asDouble": 1.5}
    metric = {"name": "hw.energy", "unit": "J",
              "sum": {"dataPoints": [point], "aggregationTemporality": 2, "isMonotonic": True}}
    check(metric, "Metric")
    for wrong in (
        {**metric, "unit": "joules"}, {**metric, "name": ""}, {**metric, "more": 1}, {**metric, "gauge": {"dataPoints": []}},
        {**metric, "sum": {**metric["sum"], "aggregationTemporality": "AGGREGATION_TEMPORALITY_CUMULATIVE"}},
        {**metric, "sum": {**metric["sum"], "dataPoints": [{**point, "timeUnixNano": 2}]}},
        {**metric, "sum": {**metric["sum"], "dataPoints": [{**point, "asInt": "1"}]}},
        {**metric, "sum": {**metric["sum"], "dataPoints": [{**point, "startTimeUnixNano": "3"}]}},
        {**metric, "sum": {**metric["sum"], "dataPoints": [{"timeUnixNano": "2", "asDouble": 1}]}},
    ):
        with pytest.raises(Invalid):
            check(wrong, "Metric")
    span = {"traceId": TRACE, "spanId": PARENT, "name": "x", "kind": 1, "startTimeUnixNano": "1", "endTimeUnixNano": "1"}
    check(span, "Span")
    for wrong in ({**span, "traceId": PARENT}, {**span, "spanId": "0" * 16}, {**span, "kind": "SPAN_KIND_INTERNAL"},
                  {**span, "endTimeUnixNano": "0"}):
        with pytest.raises(Invalid):
            check(wrong, "Span")


def test_the_daemon_pushes_all_domains(push, collector):
    push()
    # Integrated energies come after the first readings.
    eventually(lambda: len({point[2]["hw.id"] for point in collector.of("hw.energy")}) == 4)
    eventually(lambda: len(times(collector)) >= 3)
    latest = {point[2]["hw.id"]: point for point in collector.of("hw.energy")}
    assert set(latest) == {"package_0", "dram_0", "nvidia_gpu_0", "nvidia_gpu_1"}
    assert {name: point[2]["hw.type"] for name, point in latest.items()} == {
        "package_0": "cpu", "dram_0": "memory", "nvidia_gpu_0": "gpu", "nvidia_gpu_1": "gpu"}
    for name, watts in (("package_0", 100), ("dram_0", 20), ("nvidia_gpu_0", 500)):
        points = [point for point in collector.of("hw.energy") if point[2]["hw.id"] == name]
        starts = {point[3] for point in points}
        assert len(starts) == 1 and starts.pop() > 0
        first, last = points[0], points[-1]
        seconds = (last[4] - first[4]) / 1e9
        # Readings are up to a tenth of a second old at both ends.
        assert last[5] - first[5] == pytest.approx(watts * seconds, abs=watts * 0.5)
    assert {point[5] for point in collector.of("hw.gpu.memory.usage")} == {60000000000, 500000000}
    assert {point[1] for point in collector.of("hw.gpu.utilization")} == {"1"}
    resource = latest["package_0"][6]
    assert resource["service.name"] == "wattled" and resource["host.name"] == socket.gethostname()
    assert collector.repeated() == set()


def test_resource_and_headers_are_of_the_environment(push, collector):
    push(variables={"OTEL_RESOURCE_ATTRIBUTES": "deployment.environment.name=test,rack=a%2C1",
                    "OTEL_SERVICE_NAME": "power", "OTEL_EXPORTER_OTLP_HEADERS": "Authorization=Bearer%20secret"})
    eventually(lambda: collector.of("hw.energy"))
    resource = collector.of("hw.energy")[0][6]
    assert resource["rack"] == "a,1" and resource["service.name"] == "power"
    assert collector.headers[0]["Authorization"] == "Bearer secret"


@pytest.mark.skipif(os.geteuid() != 0, reason="only root gives up rights")
def test_a_daemon_that_gave_up_root_looks_up_the_collector_and_pushes(push, collector):
    pusher = push(url=collector.url.replace("127.0.0.1", "localhost"), user="nobody")
    eventually(lambda: collector.requests >= 2)
    status = dict(line.split(":\t", 1) for line in open(f"/proc/{pusher.process.pid}/status").read().splitlines())
    assert status["Seccomp"] == "2" and status["Uid"].split()[0] != "0"
    assert "cannot send telemetry" not in pusher.lines()


def test_a_refused_request_is_dropped_and_named(push, collector):
    collector.script = [200, 400, 200]
    pusher = push()
    eventually(lambda: collector.requests >= 4)
    assert pusher.stop() == 0
    assert "the answer is 400: asked to say 400" in pusher.lines()
    assert pusher.dropped() > 0
    # One request is missing, and no more: the points of one time.
    assert has_gap(collector)
    assert collector.repeated() == set()


@pytest.mark.parametrize("answer", [429, 502, 503, 504, "garbage"])
def test_a_failing_collector_gets_the_same_again(push, collector, answer):
    collector.script = [200, answer, answer]
    pusher = push()
    eventually(lambda: len(times(collector)) >= 4)
    assert pusher.stop() == 0
    assert not has_gap(collector)
    assert collector.repeated() == set()
    assert pusher.dropped() == 0
    assert "takes telemetry again" in pusher.lines()


def test_retry_after_is_heeded(push, collector):
    collector.script = [(429, {"Retry-After": "3"})]
    push()
    eventually(lambda: collector.requests >= 2)
    (first, _, _), (second, _, _) = collector.seen[:2]
    assert second - first >= 3
    assert eventually(lambda: len(times(collector)) >= 4)
    assert not has_gap(collector)


def test_a_collector_that_never_answers_delays_nobody(push, collector):
    collector.script = ["never"]
    pusher = push()
    eventually(lambda: collector.requests >= 1)
    with urllib.request.urlopen(f"http://127.0.0.1:{pusher.port}/metrics", timeout=5) as answer:
        assert b"wattle_energy_joules_total" in answer.read()
    # After 10 s the request is sent again.
    eventually(lambda: len(times(collector)) >= 8)
    assert not has_gap(collector)
    assert "cannot send telemetry" in pusher.lines()


def test_an_answer_that_is_no_otlp_is_a_loss_and_named(push, collector):
    collector.script = ["html"]
    pusher = push()
    eventually(lambda: collector.requests >= 2)
    assert pusher.stop() == 0
    assert "no OTLP; check the URL" in pusher.lines()


def test_partial_success_is_named_and_not_sent_again(push, collector):
    collector.script = ["partial"]
    pusher = push()
    eventually(lambda: collector.requests >= 3)
    assert pusher.stop() == 0
    assert pusher.dropped() == 1
    assert "one is too old" in pusher.lines()
    assert collector.repeated() == set()


def test_nothing_is_lost_while_the_collector_is_down(push, collector, tmp_path):
    pusher = push("--otlp-spool", str(tmp_path / "spool"))
    eventually(lambda: collector.of("hw.energy"))
    collector.stop()
    eventually(lambda: len(list((tmp_path / "spool").glob("*.otlp"))) >= 3)
    before = len(times(collector))
    collector.start()
    eventually(lambda: len(times(collector)) >= before + 4)
    assert not has_gap(collector)
    assert collector.repeated() == set()
    assert pusher.dropped() == 0
    eventually(lambda: not list((tmp_path / "spool").glob("*.otlp")))


@pytest.mark.parametrize("how", [signal.SIGTERM, signal.SIGKILL])
def test_the_spool_outlives_the_daemon(push, collector, tmp_path, how):
    spool = tmp_path / "spool"
    pusher = push("--otlp-spool", str(spool))
    eventually(lambda: collector.of("hw.energy"))
    collector.stop()
    eventually(lambda: len(list(spool.glob("*.otlp"))) >= 3)
    pusher.process.send_signal(how)
    pusher.process.wait(timeout=30)
    left = sorted(spool.glob("*.otlp"))
    waiting = {json.loads(path.read_bytes().split(b"\n", 1)[1])["resourceMetrics"][0]["scopeMetrics"][0]["metrics"][0]
               ["sum"]["dataPoints"][0]["timeUnixNano"] for path in left}
    assert len(waiting) == len(left) >= 3
    collector.start()
    pusher.start()
    eventually(lambda: {int(at) for at in waiting} <= set(times(collector)))
    assert collector.repeated() == set()


def test_damaged_files_of_the_spool_are_skipped_and_named(push, collector, tmp_path):
    spool = tmp_path / "spool"
    collector.stop()
    pusher = push("--otlp-spool", str(spool))
    eventually(lambda: len(list(spool.glob("*.otlp"))) >= 4)
    assert pusher.stop() == 0
    files = sorted(spool.glob("*.otlp"))
    good = files[0].read_bytes()
    files[0].write_bytes(good[:-5])
    files[1].write_bytes(b"\xff" * 100)
    files[2].write_bytes(b"")
    collector.start()
    pusher.start()
    eventually(lambda: len(times(collector)) >= 2)
    for path in files[:3]:
        assert f"{path.name} is damaged: skipped and removed" in pusher.lines()
        assert not path.exists()


def test_a_full_spool_forgets_the_oldest_and_says_so(push, collector, tmp_path):
    spool = tmp_path / "spool"
    collector.stop()
    # A file of 900 KB each that waits: with --otlp-spool-size 1 one fits in.
    body = json.dumps({"resourceMetrics": [], "padding": "x" * 900_000}).encode()
    spool.mkdir(mode=0o700)
    hashed = 0xCBF29CE484222325
    for byte in body:
        hashed = ((hashed ^ byte) * 0x100000001B3) % 2**64
    for number in (1, 2):
        (spool / f"{number:020}.otlp").write_bytes(b"wattle.otlp/1 metrics 7 %d %d\n" % (len(body), hashed) + body)
    pusher = push("--otlp-spool", str(spool), "--otlp-spool-size", "1")
    eventually(lambda: not (spool / f"{1:020}.otlp").exists())
    assert (spool / f"{2:020}.otlp").exists()
    eventually(lambda: "7 data points or spans dropped: the oldest of what waits" in pusher.lines())


def ask(pusher, method, path, **query):
    url = f"{path}?{urllib.parse.urlencode(query)}"
    made = subprocess.run(
        ["curl", "-sS", "-X", method, "--unix-socket", pusher.root / "socket", f"http://localhost{url}"],
        capture_output=True, text=True, timeout=60)
    assert made.returncode == 0, made.stderr
    return json.loads(made.stdout)


def test_a_unit_becomes_a_span_of_its_trace(push, collector, tmp_path):
    pusher = push("--mode=uds,tcp", "--socket-path", str(tmp_path / "socket"), "--history=60")
    context = f"00-{TRACE}-{PARENT}-01"
    for tag, trace in (("traced", context), ("alone", ""), ("wrong", "00-" + "0" * 32 + f"-{PARENT}-01"),
                       ("unsampled", context[:-1] + "0")):
        ask(pusher, "POST", "/api/v1/units/start", tag=tag, id="1", traceparent=trace)
    eventually(lambda: len(times(collector)) >= 3)
    for tag in ("traced", "alone", "wrong", "unsampled"):
        ask(pusher, "POST", "/api/v1/units/end", tag=tag, id="1", work=5)
    spans = eventually(lambda: len(collector.spans) >= 3 and {span["name"]: span for span, _ in collector.spans})
    assert set(spans) == {"traced", "alone", "wrong"}
    traced = spans["traced"]
    assert traced["traceId"] == TRACE and traced["parentSpanId"] == PARENT
    assert spans["wrong"]["traceId"] != "0" * 32 and "parentSpanId" not in spans["wrong"]
    found = plain(traced["attributes"])
    seconds = (int(traced["endTimeUnixNano"]) - int(traced["startTimeUnixNano"])) / 1e9
    # A quarter of what all that is measured draws: 100 + 20 + 500 + 60 W.
    assert found["energy.joules"] == pytest.approx(680 / 4 * seconds, rel=0.2)
    assert found["energy.uncertainty_joules"] > 0
    assert found["wattle.unit.work"] == 5
    assert {point[2]["wattle.unit.tag"] for point in collector.of("wattle.unit.count")} <= {
        "traced", "alone", "wrong", "unsampled"}

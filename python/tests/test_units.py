# type: ignore
"""Units of work over a fake machine."""

import asyncio
import os
import threading
import time

import pytest
import wattle
from wattle.asgi import UnitMiddleware


@pytest.fixture
def units(tree):
    with wattle.Units(period=60, lag=0, domains="package_0") as own:
        own.tree = tree
        yield own


def tag_of(units, name="request"):
    units.tree.spend("intel-rapl:0", 0.01)
    units.update()
    return next(tag for tag in units.report()["tags"] if tag["tag"] == name)


def test_units_that_run_at_once_have_shares_that_add_up(tree, units):
    with units.unit("request") as a, units.unit("request") as b:
        tree.spend("intel-rapl:0", 4.0)
        units.update()
    tree.spend("intel-rapl:0", 1.0)
    units.update()
    assert min(a.energy.energy_j, b.energy.energy_j) > 1.0
    assert a.energy.energy_j + b.energy.energy_j == pytest.approx(5.0, abs=0.5)
    report = units.report()
    assert report["contrasts"] == []
    assert report["refused"] == 0
    (domain,) = report["domains"]
    assert domain["measured_j"] == pytest.approx(
        domain["units_j"] + domain["running_j"] + domain["idle_j"] + domain["without_units_j"]
    )
    assert domain["units_j"] >= 3.9


def compute(seconds):
    until = time.thread_time() + seconds
    while time.thread_time() < until:
        pass


def test_a_unit_can_have_its_share_by_the_cpu_time_of_its_thread(tree, units):
    start, computed = threading.Barrier(2), threading.Event()
    done = {}

    def computes():
        with units.unit("computes", by="cpu_time") as own:
            start.wait()
            compute(0.1)
            tree.spend("intel-rapl:0", 4.0)
            units.update()
        done["computes"] = own
        computed.set()

    def waits():
        with units.unit("waits", by="cpu_time") as own:
            start.wait()
            computed.wait()
        done["waits"] = own

    threads = [threading.Thread(target=work) for work in (computes, waits)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    tree.spend("intel-rapl:0", 0.01)
    units.update()
    assert done["computes"].energy.energy_j > 3.0
    assert done["waits"].energy.energy_j < 1.0
    assert done["computes"].cpu_time_s >= 0.1
    assert done["waits"].cpu_time_s < done["computes"].cpu_time_s / 3


def test_units_on_one_thread_divide_its_cpu_time(tree, units):
    async def both():
        async with units.unit("a", by="cpu_time") as a, units.unit("b", weight=3, by="cpu_time") as b:
            await asyncio.sleep(0)
            compute(0.05)
            tree.spend("intel-rapl:0", 4.0)
            units.update()
        return a, b

    a, b = asyncio.run(both())
    tree.spend("intel-rapl:0", 0.01)
    units.update()
    assert b.cpu_time_s == pytest.approx(3 * a.cpu_time_s, rel=0.2)


def test_a_unit_by_weight_has_no_cpu_time(units):
    with units.unit("request") as own:
        pass
    tag_of(units)
    assert own.energy is not None
    assert own.cpu_time_s is None
    with pytest.raises(wattle.InvalidArgument, match="by must be"), units.unit("a", by="threads"):
        pass


def test_a_unit_has_no_energy_before_the_readings_are_there(tree, units):
    with units.unit("request") as a:
        tree.spend("intel-rapl:0", 1.0)
    assert a.energy is None


def test_tokens_and_work_are_counted(units):
    with units.unit("request", tokens=3) as a:
        a.add(4)
    assert tag_of(units)["work"] == 7


def test_phases_have_rows_of_their_own(units):
    with units.unit("request") as a:
        a.phase("decode")
    units.update()
    assert [(t["tag"], t["phase"]) for t in units.report()["tags"]] == [
        ("request", None),
        ("request", "decode"),
    ]


def test_a_report_has_the_distribution_of_each_tag(tree, units):
    for work in (1, 8):
        with units.unit("request", tokens=work):
            tree.spend("intel-rapl:0", 4.0)
            units.update()
    tag = tag_of(units)
    assert sum(tag["distribution"]["counts"]) == 2
    assert [(number, count) for number, count, _ in tag["by_running"]] == [(1, 2)]
    assert [(number, count) for number, count, _ in tag["by_work"]] == [(1, 1), (8, 1)]
    value, low, high = tag["mean_j"]
    assert low <= value <= high


def test_a_name_that_is_not_utf8_is_shown_as_what_it_is_not(units):
    with units.unit("\udcff\x1b[2J"):
        pass
    units.update()
    (tag,) = (tag["tag"] for tag in units.report()["tags"])
    assert tag == "\ufffd\x1b[2J"


def test_a_unit_ends_with_an_exception(units):
    with pytest.raises(KeyError), units.unit("request"):
        raise KeyError
    assert tag_of(units)["count"] + tag_of(units)["unknown"] == 1


def test_functions_coroutines_and_generators_are_units(units):
    @units.unit("request")
    def call():
        return 1

    @units.unit("request")
    async def coroutine():
        async with units.unit("inner"):
            await asyncio.sleep(0)
        return 2

    @units.unit("request")
    def steps():
        yield 3

    assert call() == 1
    assert asyncio.run(coroutine()) == 2
    assert list(steps()) == [3]
    tag = tag_of(units)
    assert tag["count"] + tag["unknown"] == 3
    assert tag_of(units, "inner")["phase"] is None


@pytest.mark.parametrize("weight", [0, -1, float("nan"), float("inf")])
def test_a_weight_that_is_none_is_refused(units, weight):
    with pytest.raises(wattle.InvalidArgument), units.unit("request", weight=weight):
        pass


def test_a_gpu_that_is_not_divided_is_refused(units):
    with pytest.raises(wattle.InvalidArgument), units.unit("request", gpu="nvidia_gpu_7"):
        pass


def test_the_program_has_units_of_its_own(tree):
    with wattle.unit("step"):
        tree.spend("intel-rapl:0", 1.0)
    assert any(tag["tag"] == "step" for tag in wattle.unit_report()["tags"])


def test_nothing_is_counted_in_a_child(units):
    child = os.fork()
    if child == 0:
        with units.unit("request"):
            pass
        os._exit(0 if units.report()["tags"] == [] else 1)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0


def answers(app, kind="http", headers=()):
    sent = []

    async def send(message):
        sent.append(message)

    asyncio.run(app({"type": kind, "headers": list(headers)}, None, send))
    return sent


async def handler(scope, receive, send):
    if "wattle.unit" in scope:
        scope["wattle.unit"].add(5)
    await send({"type": "http.response.start", "status": 200, "headers": []})
    await send({"type": "http.response.body", "body": b"x"})


def test_a_request_of_an_asgi_application_is_a_unit(units):
    sent = answers(UnitMiddleware(handler, units=units))
    assert [message["type"] for message in sent] == ["http.response.start", "http.response.body"]
    assert sent[0]["headers"] == []
    assert tag_of(units, "http")["work"] == 5


TRACEPARENT = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"


def test_a_unit_keeps_its_trace(units):
    with units.unit("request", traceparent=TRACEPARENT) as traced, units.unit("request", traceparent="ff") as wrong:
        pass
    tag_of(units)
    assert traced.traceparent == TRACEPARENT
    assert wrong.traceparent is None


@pytest.mark.parametrize(
    ("headers", "kept"),
    [
        ([(b"TraceParent", TRACEPARENT.encode())], TRACEPARENT),
        ([(b"traceparent", b"\xff" * 55)], None),
        ([(b"traceparent", TRACEPARENT.encode())] * 2, None),
        ([], None),
    ],
)
def test_a_request_keeps_its_trace(units, headers, kept):
    seen = []

    async def remembers(scope, receive, send):
        seen.append(scope["wattle.unit"])
        await handler(scope, receive, send)

    answers(UnitMiddleware(remembers, units=units), headers=headers)
    tag_of(units, "http")
    assert seen[0].traceparent == kept


def test_other_connections_of_an_asgi_application_are_none(units):
    answers(UnitMiddleware(handler, units=units), "websocket")
    units.update()
    assert all(tag["tag"] != "http" for tag in units.report()["tags"])


def test_an_answer_can_have_the_energy_in_a_header(tree):
    with wattle.Units(period=0.02, lag=0, domains="package_0") as own:

        async def spends(scope, receive, send):
            for _ in range(5):
                await asyncio.sleep(0.01)
                tree.spend("intel-rapl:0", 1.0)
            own.update()
            await handler(scope, receive, send)

        app = UnitMiddleware(spends, units=own, server_timing=True)

        async def goes_on():
            while True:
                await asyncio.sleep(0.01)
                tree.spend("intel-rapl:0", 1.0)

        sent = []

        async def send(message):
            sent.append(message)

        async def both():
            other = asyncio.create_task(goes_on())
            await app({"type": "http"}, None, send)
            other.cancel()

        asyncio.run(both())
    (header,) = sent[0]["headers"]
    assert header[0] == b"server-timing"
    assert header[1].startswith(b"energy;dur=")
    assert b', energy_uncertainty;dur=' in header[1]


def test_the_header_of_an_answer_has_the_flags_of_its_energy():
    from wattle.asgi import _server_timing

    class Ended:
        energy = wattle.Energy(2.0, 0.5, flags=["short_window", "partial_coverage"])

    assert asyncio.run(_server_timing(Ended())) == (
        b"server-timing",
        b'energy;dur=2;desc="J", energy_uncertainty;dur=0.5;desc="J", '
        b'energy_flags;desc="short_window partial_coverage"',
    )

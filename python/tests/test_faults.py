# type: ignore
"""Faults: exceptions, forks, signals, the end of the interpreter."""

import asyncio
import concurrent.futures
import gc
import multiprocessing
import os
import signal
import subprocess
import sys
import textwrap
import time

import pytest
import wattle

# Exceptions in the body


@pytest.mark.parametrize("error", [KeyboardInterrupt, SystemExit, GeneratorExit, asyncio.CancelledError])
def test_exceptions_that_are_no_errors_end_a_window_and_pass(tree, error):
    with pytest.raises(error), wattle.measure() as m:
        tree.spend("intel-rapl:0", 1.0)
        raise error
    assert m.total_j == pytest.approx(1.0, abs=1e-3)


def test_an_exception_of_a_handler_passes_with_that_of_the_body(tree):
    def handle(measurement):
        raise OSError("of the handler")

    block = wattle.measure(handler=handle)
    with pytest.raises(OSError, match="of the handler") as caught, block:
        raise KeyError("of the body")
    assert isinstance(caught.value.__context__, KeyError)
    with pytest.raises(OSError, match="of the handler"), block:
        pass


def test_a_window_that_is_dropped_leaves_nothing(tree):
    tasks = len(os.listdir("/proc/self/task"))
    for _ in range(1000):
        wattle.measure().__enter__()
        wattle.Windows().begin("dropped")
    gc.collect()
    assert len(os.listdir("/proc/self/task")) <= tasks + 1
    with wattle.measure() as m:
        tree.spend("intel-rapl:0", 1.0)
    assert m.total_j == pytest.approx(1.0, abs=1e-3)


# Coroutines and generators


def test_a_coroutine_that_is_cancelled_is_measured(tree):
    @wattle.measure
    async def wait():
        await asyncio.sleep(60)

    async def use():
        task = asyncio.ensure_future(wait())
        await asyncio.sleep(0.01)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

    asyncio.run(use())
    assert len(wait.measurements) == 1


def test_a_generator_that_is_forgotten_is_measured(tree):
    @wattle.measure
    def steps():
        yield 1
        yield 2

    assert next(steps()) == 1
    gc.collect()
    assert len(steps.measurements) == 1


def test_an_exception_that_is_thrown_into_a_generator_ends_its_window(tree):
    @wattle.measure
    def steps():
        yield 1

    generator = steps()
    next(generator)
    with pytest.raises(KeyError):
        generator.throw(KeyError("x"))
    assert len(steps.measurements) == 1


SOURCE = """
    import os, signal, threading, time
    import wattle

    main = threading.main_thread()
    interrupts = [signal.SIGINT]

    class Source(wattle.EnergySource):
        def counters(self):
            return [wattle.Counter("wall")]

        def read(self):
            {body}

    meter = wattle.EnergyMeter(sources=[Source()])
"""


def test_a_source_that_uses_its_own_meter_is_unknown(run_python):
    program = SOURCE.format(body="meter.record(); return [1]")
    program += """
    meter.start()
    time.sleep(0.01)
    meter.stop()
    print(meter.trace()[0].domains["wall"].energy_j)
    """
    ended = run_python(program, check=False)
    assert (ended.returncode, ended.stdout) == (0, "None\n")
    assert "cannot use the meter that reads it" in ended.stderr


def test_a_source_may_measure_with_another_meter(run_python):
    program = SOURCE.format(body="return [int(wattle.measure('inner').__enter__() is not None)]")
    program += """
    meter.start()
    meter.stop()
    print(meter.trace()[0].domains["wall"].energy_j)
    """
    assert run_python(program).stdout == "0.0\n"


def test_ctrl_c_within_a_source_interrupts_the_program(run_python):
    program = SOURCE.format(
        body="""if threading.current_thread() is main and interrupts:
                os.kill(os.getpid(), interrupts.pop())
                time.sleep(30)
            return [1]"""
    )
    program += """
    start = time.monotonic()
    try:
        meter.start()
        time.sleep(30)
    except KeyboardInterrupt:
        print("interrupted", time.monotonic() - start < 10)
    """
    assert run_python(program, check=False).stdout == "interrupted True\n"


def test_many_tasks_measure_at_the_same_time(tree):
    @wattle.measure(domains="package_0")
    async def step():
        await asyncio.sleep(0.01)

    async def use():
        await asyncio.gather(*(step() for _ in range(200)))

    asyncio.run(use())
    assert len(step.measurements) == 200
    assert all(m.seconds >= 0.005 for m in step.measurements)


def test_many_threads_measure_at_the_same_time(tree):
    @wattle.measure(domains="package_0")
    def step(number):
        return number

    with concurrent.futures.ThreadPoolExecutor(16) as pool:
        assert list(pool.map(step, range(800))) == list(range(800))
    assert len(step.measurements) == 800


# Forks


def test_a_fork_beside_threads_that_measure_blocks_nothing(run_python):
    run_python(
        """
        import logging, os, threading, wattle
        logging.disable()  # windows of threads overlap, and a warning has the reason
        # Python itself cannot fork while another thread imports a module.
        with wattle.measure(): pass
        is_over = threading.Event()
        def measure():
            while not is_over.is_set():
                with wattle.measure(): pass
        threads = [threading.Thread(target=measure) for _ in range(3)]
        for thread in threads: thread.start()
        for _ in range(20):
            child = os.fork()
            if child == 0:
                with wattle.measure() as m: pass
                os._exit(0 if m.total_j is not None or m.flags else 3)
            assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
        is_over.set()
        for thread in threads: thread.join()
        """
    )


def load_batch(number):
    time.sleep(0.01)
    return number


@pytest.mark.parametrize("method", ["fork", "spawn"])
def test_workers_of_a_data_loader_leave_the_window_of_the_parent_alone(tree, load, method):
    with wattle.measure() as m, multiprocessing.get_context(method).Pool(2) as pool:
        assert pool.map(load_batch, range(8)) == list(range(8))
    assert m.total_j is not None and m.total_j > 0
    assert m.unknown_s < 0.5 * m.seconds


def test_a_power_monitor_does_nothing_in_a_child(tree, gpus, run_python):
    run_python(
        """
        import os, time, wattle
        with wattle.PowerMonitor() as monitor:
            time.sleep(0.3)
            child = os.fork()
            if child == 0:
                monitor.stop()
                os._exit(0)
            assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
            assert monitor.power()[0].power_w > 0
        """
    )


# The end of the interpreter


@pytest.mark.parametrize(
    "program",
    [
        # Threads that still measure.
        """
        import logging, threading, time, wattle
        logging.disable()
        def measure():
            while True:
                with wattle.measure(domains="package_0"): pass
        for _ in range(4): threading.Thread(target=measure, daemon=True).start()
        time.sleep(0.2)
        """,
        # Functions that are called at the end.
        """
        import atexit, wattle
        class Late:
            def __del__(self):
                with wattle.measure(): pass
        late = Late()
        def measure():
            with wattle.measure() as m: pass
            assert m.seconds >= 0
        atexit.register(measure)
        with wattle.measure(): pass
        """,
        # Monitors that were not stopped.
        """
        import time, wattle
        monitor = wattle.PowerMonitor()
        tracker = wattle.Tracker(sleep_time=0.05, resource_usage_file="", system=wattle.System(procfs="/proc"))
        tracker.start()
        time.sleep(0.2)
        """,
        # A thread of the library that calls Python.
        """
        import time, wattle
        class Wall(wattle.EnergySource):
            def gauges(self): return [wattle.Gauge("wall")]
            def read_power(self):
                time.sleep(0.01)
                return [100.0]
        meters = [wattle.EnergyMeter(sources=[Wall()]) for _ in range(3)]
        for meter in meters: meter.start()
        time.sleep(0.3)
        """,
    ],
    ids=["threads", "late functions", "monitors", "sources"],
)
def test_an_interpreter_ends_quietly(gpus, run_python, program):
    run_python(program)


def test_nothing_is_left_after_use(gpus, run_python, tmp_path):
    run_python(
        f"""
        import os, time, wattle
        def use():
            with wattle.measure(): pass
            with wattle.PowerMonitor() as monitor: time.sleep(0.05)
            with wattle.HardwareMonitor({str(tmp_path / "hardware")!r}, interval=0.05, overwrite=True): pass
            with wattle.EnergyMeter() as meter: pass
        def threads(): return len(os.listdir("/proc/self/task"))
        def descriptors(): return len(os.listdir("/proc/self/fd"))
        for _ in range(2): use()
        before = threads(), descriptors()
        for _ in range(4): use()
        time.sleep(0.3)
        after = threads(), descriptors()
        assert after[0] <= before[0] and after[1] <= before[1], (before, after)
        assert open(f"/proc/self/task/{{os.getpid()}}/children").read() == ""
        """
    )


# Signals


WAITS = {
    "a block": "with wattle.measure():\n    print('ready', flush=True); time.sleep(60)",
    "a decorated function": (
        "@wattle.measure\ndef wait():\n    print('ready', flush=True); time.sleep(60)\nwait()"
    ),
    "a coroutine": (
        "import asyncio\nasync def wait():\n    async with wattle.measure():\n"
        "        print('ready', flush=True); await asyncio.sleep(60)\nasyncio.run(wait())"
    ),
    "measure_idle": (
        "sample = wattle.EnergySample(0.0, 'long', 60.0, {'package_0': 1.0})\n"
        "meter = wattle.EnergyMeter()\nprint('ready', flush=True)\n"
        "meter.measure_idle(wattle.EnergyTrace([sample]))"
    ),
    "a power monitor": (
        "with wattle.PowerMonitor():\n    print('ready', flush=True); time.sleep(60)"
    ),
    "a tracker": (
        "with wattle.Tracker(resource_usage_file='', system=wattle.System(procfs='/proc')):\n"
        "    print('ready', flush=True); time.sleep(60)"
    ),
    "records": (
        "meter = wattle.EnergyMeter()\nmeter.start()\nprint('ready', flush=True)\n"
        "while True: meter.record()"
    ),
}


def interrupted(program, variables, number=signal.SIGINT):
    """Starts a program, and sends the signal once it is ready; its status and errors."""
    child = subprocess.Popen(
        [sys.executable, "-B", "-c", "import time, wattle\n" + program],
        env={**os.environ, **variables},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    try:
        assert child.stdout.readline() == "ready\n", child.communicate(timeout=30)[1]
        time.sleep(0.1)
        assert child.poll() is None
        child.send_signal(number)
        _, errors = child.communicate(timeout=30)
    finally:
        child.kill()
    return child.returncode, errors


@pytest.mark.parametrize("wait", WAITS)
def test_ctrl_c_ends(tree, gpus, wait):
    status, errors = interrupted(WAITS[wait], tree.variables())
    assert status in (-signal.SIGINT, 1)
    assert errors.rstrip().endswith("KeyboardInterrupt")


def test_ctrl_c_ends_a_command_and_what_it_started(tree, command, tmp_path):
    started = tmp_path / "started"
    program = (
        "import threading, os\n"
        f"path = {str(started)!r}\n"
        "def watch():\n"
        "    while not os.path.exists(path): time.sleep(0.01)\n"
        "    print('ready', flush=True)\n"
        "threading.Thread(target=watch, daemon=True).start()\n"
        "wattle.run(['sh', '-c', 'echo $$ >' + path + '.new; mv ' + path + '.new ' + path + '; exec sleep 60'])"
    )
    status, errors = interrupted(program, tree.variables())
    assert status in (-signal.SIGINT, 1)
    assert "KeyboardInterrupt" in errors
    pid = int(started.read_text())
    for _ in range(500):
        if not os.path.exists(f"/proc/{pid}"):
            break
        time.sleep(0.02)
    assert not os.path.exists(f"/proc/{pid}")


def test_ctrl_c_ends_a_stream(tree):
    pytest.importorskip("wattle.stream")
    program = """
        import socket, threading
        from wattle.stream import DaemonClient, Server
        quiet = socket.create_server(("127.0.0.1", 0))  # takes connections, and never answers
        def accept():
            kept = [quiet.accept()]
            print("ready", flush=True)
            while True: kept.append(quiet.accept())
        threading.Thread(target=accept, daemon=True).start()
        DaemonClient(Server.tcp("127.0.0.1", quiet.getsockname()[1]), timeout_s=60)
        """
    status, errors = interrupted(textwrap.dedent(program), tree.variables())
    assert status in (-signal.SIGINT, 1)
    assert errors.rstrip().endswith("KeyboardInterrupt")


def test_handlers_of_signals_run_while_the_library_waits(tree, tmp_path, run_python):
    script = tmp_path / "hanging"
    script.write_text("gpu NVIDIA H100\nhang *\n")
    ended = run_python(
        """
        import signal, wattle
        class Late(Exception): pass
        def ring(number, frame): raise Late
        signal.signal(signal.SIGALRM, ring)
        signal.setitimer(signal.ITIMER_REAL, 0.2)
        try:
            wattle.EnergyMeter()
        except Late:
            print("late")
        """,
        env={"WATTLE_NVML_LIBRARY": os.environ["WATTLE_TEST_NVML"], "WATTLE_FAKE_NVML": str(script)},
    )
    assert ended.stdout == "late\n"

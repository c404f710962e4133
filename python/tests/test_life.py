# type: ignore
"""Threads, forks, signals, and the ends of an interpreter."""

import multiprocessing
import signal
import subprocess
import sys
import time

import pytest
import wattle

HANG = "gpu NVIDIA H100\nhang *\n"


def test_the_child_of_a_fork_measures_for_itself(run_python):
    run_python(
        """
        import os, wattle
        windows = wattle.Windows()
        windows.begin("parent")
        with wattle.measure() as outer:
            child = os.fork()
            if child == 0:
                with wattle.measure() as m: pass
                assert m.total_j is not None, m
                assert windows.end("parent").unknown_s > 0
                os._exit(7)
        assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 7
        assert outer.seconds > 0
        assert windows.end("parent").seconds > outer.seconds
        """
    )


def test_a_child_that_was_forked_in_a_block_ends_it_without_an_energy(run_python):
    run_python(
        """
        import os, wattle
        with wattle.measure() as m:
            child = os.fork()
        if child == 0:
            assert m.total_j is None and m.unknown_s > 0, m.to_dict()
            os._exit(7)
        assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 7
        assert m.unknown_s < m.seconds
        """
    )


def in_worker(_):
    with wattle.measure("worker") as m:
        pass
    return m


@pytest.mark.parametrize("method", ["fork", "spawn"])
def test_workers_return_measurements(tree, method):
    with wattle.measure():
        pass
    with multiprocessing.get_context(method).Pool(2) as pool:
        measured = pool.map(in_worker, range(4))
    assert all(m.total_j is not None for m in measured)


def test_an_interpreter_that_ends_while_it_measures_ends_quietly(run_python):
    run_python(
        """
        import wattle
        class Wall(wattle.EnergySource):
            def gauges(self): return [wattle.Gauge("wall")]
            def read_power(self): return [100.0]
        windows = wattle.Windows()
        windows.begin("open")
        meter = wattle.EnergyMeter(sources=[Wall()])
        meter.start()
        block = wattle.measure()
        block.__enter__()
        def steps():
            with wattle.measure(): yield 1
        generator = steps()
        next(generator)
        """
    )


def test_sys_exit_in_a_block_keeps_its_status(run_python):
    ended = run_python("import sys, wattle\nwith wattle.measure(): sys.exit(5)", check=False)
    assert ended.returncode == 5
    assert ended.stderr == ""


def test_no_thread_and_no_process_is_left(run_python):
    run_python(
        """
        import os, threading, time, wattle
        with wattle.measure(): pass
        assert threading.active_count() == 1
        children = open(f"/proc/self/task/{os.getpid()}/children").read()
        assert children == "", children
        """
    )


def test_ctrl_c_ends_a_wait_for_a_driver_that_hangs(tree, tmp_path, run_python):
    import os

    script = tmp_path / "gpus"
    script.write_text(HANG)
    program = subprocess.Popen(
        [
            sys.executable,
            "-B",
            "-c",
            "import wattle, sys\nwattle.Windows\nprint('ready', flush=True)\nwattle.EnergyMeter()",
        ],
        env={
            **os.environ,
            **tree.variables(),
            "WATTLE_NVML_LIBRARY": os.environ["WATTLE_TEST_NVML"],
            "WATTLE_FAKE_NVML": str(script),
        },
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    assert program.stdout.readline() == "ready\n"
    time.sleep(0.5)
    assert program.poll() is None, program.stderr.read()
    program.send_signal(signal.SIGINT)
    _, errors = program.communicate(timeout=30)
    assert program.returncode in (-signal.SIGINT, 1)
    assert "KeyboardInterrupt" in errors


def test_a_sub_interpreter_is_refused(run_python):
    ended = run_python(
        """
        import _xxsubinterpreters as interpreters
        import wattle
        wattle.measure
        other = interpreters.create()
        program = '''
        try:
            import wattle
            wattle.measure
        except ImportError as error:
            print(error, flush=True)
        '''
        import textwrap
        interpreters.run_string(other, textwrap.dedent(program))
        """
    )
    assert "sub-interpreter" in ended.stdout


def test_messages_go_to_logging(tree, caplog):
    class Broken(wattle.EnergySource):
        def counters(self):
            return [wattle.Counter("broken")]

        def read(self):
            raise RuntimeError("the meter is off")

    with wattle.EnergyMeter(domains=["package_0"], sources=[Broken()]) as meter:
        pass
    assert meter.trace()[0].domains["broken"].energy_j is None
    for _ in range(100):
        if caplog.records:
            break
        time.sleep(0.01)
    assert [record.name for record in caplog.records] == ["wattle"]
    assert "the meter is off" in caplog.text


def test_import_imports_nothing_else(run_python):
    ended = run_python(
        """
        import sys
        before = set(sys.modules)
        import wattle
        print(sorted(set(sys.modules) - before))
        """
    )
    assert ended.stdout == "['wattle']\n"

"""Runs each command in README.md and docs/ on a made-up machine: one CPU package, four GPUs, no users.

usage: documented_commands_test.py PROJECT WATTLE WATTLED POWERCAP_PLAYER FAKE_NVML [unittest's words]

A command is a line of a code block: every line where the block's kind is `sh`, else those that begin with
`$ ` or with a program of ours. What is not run is in NOT_RUN with the reason. scripts/check-commands runs
those that build.
"""

import fcntl
import os
import pathlib
import re
import shutil
import signal
import socket
import struct
import subprocess
import sys
import tempfile
import time
import unittest

PROJECT, WATTLE, WATTLED, PLAYER, FAKE_NVML = map(pathlib.Path, sys.argv[1:6])

# (part of the command, why it is not run here).
NOT_RUN = [
    ("scripts/", "builds: scripts/check-commands runs it"),
    ("cmake ", "builds: scripts/check-commands runs it"),
    ("npm ", "takes packages from a registry: scripts/lint web runs it"),
    ("node web/", "needs these packages: scripts/lint web runs it"),
    ("build/", "needs a build of its own: scripts/check-commands runs it"),
    ("apt install", "changes the machine: tests/packaging/check_debian.sh runs it"),
    ("wattle-0.1.0-linux", "needs the archive: tests/packaging/check_archive.sh runs it"),
    ("systemctl", "needs systemd as process 1"),
    ("--otlp-spool", "writes to a folder of the service: tests/fleet/test_otlp.py has its own"),
    ("groupadd", "changes the users of the machine"),
    ("usermod", "changes the users of the machine"),
    ("chown root:wattled", "needs the user wattled: tests/packaging/check_debian.sh has it"),
    ("docker run", "needs docker and an image"),
    ("https://node1", "needs a certificate that the machine trusts: stream_tls_test.cpp has one"),
    ("doctor --fix daemon", "needs the units of the package: fix_test.cpp has them"),
    ("doctor --fix gpu", "needs a GPU without a driver: fix_test.cpp has one"),
    ("wattle run [options] -- CMD", "is a pattern"),
    ("gzip -c -6 data", "shows what it printed once; bench_test.cpp runs benchmarks"),
    ("sudo install -D", "changes the machine: tests/fleet/test_prometheus.py loads these rules"),
    ("sudo cp fleet", "changes the machine: tests/fleet/test_grafana.py runs these dashboards"),
    ("kubectl", "needs a cluster: tests/fleet/test_kubernetes.py checks what is applied"),
    ("helm install", "needs Helm and a cluster: tests/fleet/test_chart.py renders the chart"),
    ("srun --wattle", "needs Slurm with the plugin: tests/fleet/test_slurm.py has both"),
    ("--watch-load", "takes half a minute and a load: measure_test.cpp has one"),
    ("wattle calibrate", "needs the log of a meter: calibrate_command_test.cpp writes one"),
    ("wattle baseline", "needs an idle machine: the tests of baseline.cpp and estimate_test.cpp have it"),
]

# What runs until Ctrl-C.
ENDLESS = re.compile(r"^(sudo )?wattled serve|^wattle (power|energy|stream|monitor --interval|track --pid)"
                     r"|/gpu/stream_power")

GPUS = "".join(f"gpu NVIDIA H100 PCIe\nuuid GPU-{i}\npower step 0 {100 + i}\nmemory_power step 0 20\n"
               for i in range(4))

# A program that a reader would have.
PROGRAM = "#!/bin/sh\nsleep 0.2\n"
PROGRAMS = ("train.sh", "train.py", "train", "solver")


def commands_of(page):
    """(line, command): continued lines are joined; a block that sets a variable is one command."""
    kind, block, start = None, [], 0
    for number, line in enumerate(page.read_text().splitlines(), 1):
        if line.startswith("```"):
            if kind is None:
                kind, block, start = line[3:] or "text", [], number + 1
                continue
            yield from commands_in(kind, block, start)
            kind = None
        elif kind is not None:
            block.append(line)


def commands_in(kind, block, start):
    if kind not in ("sh", "text"):
        return
    if kind == "sh" and any(re.match(r"\w+=\$", line) for line in block):
        yield start, "\n".join(block)
        return
    joined, first = "", start
    for number, line in enumerate(block, start):
        joined += line
        if joined.endswith("\\"):
            joined = joined[:-1]
            continue
        command = re.sub(r"(^|\s)#.*", "", joined).strip()
        if kind == "sh" or command.startswith(("$ ", "wattle ", "wattled ")):
            command = command.removeprefix("$ ")
            if command:
                yield first, command
        joined, first = "", number + 1


def own_network():
    """Starts this test again with a network of its own, where no port is in use and no name is known."""
    if "WATTLE_TEST_NETWORK" in os.environ:
        with socket.socket() as any_socket:  # brings the interface lo up
            fcntl.ioctl(any_socket, 0x8914, struct.pack("16sH14x", b"lo", 0x1 | 0x40))
        return True
    unshare = ["unshare", "--map-root-user", "--net", "--"]
    if subprocess.run([*unshare, "true"], capture_output=True).returncode != 0:
        return False
    os.environ["WATTLE_TEST_NETWORK"] = "own"
    os.execvp(unshare[0], [*unshare, sys.executable, "-B", *sys.argv])


class DocumentedCommands(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.temporary = tempfile.TemporaryDirectory(prefix="wattle-docs-")
        cls.folder = pathlib.Path(cls.temporary.name)
        cls.work = cls.folder / "work"
        for name in ("bin", "work", "run", "etc", "volume", "sys/class/powercap", "proc"):
            (cls.folder / name).mkdir(parents=True)
        cls.make_machine()
        cls.make_programs()
        cls.environment = {
            **os.environ, "PATH": f"{cls.folder}/bin:{os.environ['PATH']}", "HOME": str(cls.folder),
            "WATTLE_SYSFS": str(cls.folder / "sys"), "WATTLE_PROCFS": str(cls.folder / "proc"),
            "WATTLE_NVML_LIBRARY": str(FAKE_NVML), "WATTLE_FAKE_NVML": str(cls.folder / "gpus")}
        cls.daemon = None
        cls.target = subprocess.Popen(["sleep", "600"])
        cls.leave_a_usage_file()

    @classmethod
    def tearDownClass(cls):
        for process in (cls.daemon, cls.player, cls.target):
            if process is not None:
                process.kill()
                process.wait()
        cls.temporary.cleanup()

    @classmethod
    def make_machine(cls):
        zone = cls.folder / "sys/class/powercap/intel-rapl:0"
        zone.mkdir()
        (zone / "name").write_text("package-0\n")
        (zone / "max_energy_range_uj").write_text("262143328850\n")
        (zone / "energy_uj").write_text("1000\n")
        (cls.folder / "proc/cpuinfo").write_text(
            "processor\t: 0\nvendor_id\t: GenuineIntel\nmodel name\t: Made up\nflags\t\t: msr\n\n")
        (cls.folder / "gpus").write_text(GPUS)
        cls.player = subprocess.Popen([PLAYER, "3600000", zone, "100", "6.103515625e-05", "61035", "1000"],
                                      stdout=subprocess.DEVNULL)

    @classmethod
    def make_programs(cls):
        (cls.folder / "bin/wattle").symlink_to(WATTLE)
        (cls.folder / "bin/wattled").symlink_to(WATTLED)
        for name, text in (("sudo", 'exec "$@"'),
                           ("srun", 'SLURM_PROCID=0 SLURM_LOCALID=0 SLURM_NTASKS=1 exec "$@"')):
            (cls.folder / "bin" / name).write_text(f"#!/bin/sh\n{text}\n")
        for name in PROGRAMS:
            (cls.work / name).write_text(PROGRAM)
        (cls.work / "Makefile").write_text("all:\n\tsleep 0.2\n")
        for file in [*(cls.folder / "bin").iterdir(), *cls.work.iterdir()]:
            if not file.is_symlink():
                file.chmod(0o755)
        # An answer that is an error ends curl with an error.
        (cls.folder / ".curlrc").write_text("fail\nsilent\nshow-error\n")
        (cls.folder / "etc/key").write_bytes(b"k" * 32)
        subprocess.run(["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256",
                        "-nodes", "-keyout", "key.pem", "-out", "cert.pem", "-subj", "/CN=node1"],
                       cwd=cls.folder / "etc", check=True, capture_output=True)
        for name in ("key", "key.pem"):
            (cls.folder / "etc" / name).chmod(0o600)

    @classmethod
    def leave_a_usage_file(cls):
        """What a killed `wattle track` leaves."""
        tracker = subprocess.Popen([WATTLE, "track", "--pid", str(cls.target.pid), "--usage-file", "usage.jsonl"],
                                   cwd=cls.work, stdout=subprocess.DEVNULL)
        usage = cls.work / "usage.jsonl"
        while tracker.poll() is None and not (usage.exists() and usage.stat().st_size > 0):
            time.sleep(0.05)
        tracker.kill()
        tracker.wait()

    def here(self, command):
        """The command with the places and names of this machine."""
        command = re.sub(r"wattled serve", "wattled serve --user root --socket-path /run/wattled/wattled.sock",
                         command)
        for theirs, ours in (("/run/wattled", f"{self.folder}/run"), ("/etc/wattled", f"{self.folder}/etc"),
                             ("/volume", f"{self.folder}/volume"), ("node1:", "127.0.0.1:"),
                             ("node2:", "127.0.0.2:"), ("--pid 4711", f"--pid {self.target.pid}"),
                             ("from=1762000000&to=1762000060.5", f"from={time.time() - 0.5}&to={time.time()}")):
            command = command.replace(theirs, ours)
        return command

    def start(self, command):
        environment = dict(self.environment)
        if "wattle track" in command or "wattle top" in command:  # find processes
            del environment["WATTLE_PROCFS"]
        return subprocess.Popen(["bash", "-c", self.here(command)], cwd=self.work, env=environment,
                                stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                                text=True, start_new_session=True, preexec_fn=default_interrupt)

    def ensure_daemon(self, wanted):
        cls = type(self)
        if cls.daemon is not None and not wanted:
            os.killpg(cls.daemon.pid, signal.SIGTERM)
            cls.daemon.communicate(timeout=60)
            cls.daemon = None
        if cls.daemon is None and wanted:
            cls.daemon = self.start("wattled serve --mode uds,tcp --tcp-bind-address 127.0.0.1:4938 "
                                    "--enable gpu-read,cpu-read,gpu-control --history 86400")
            self.await_socket(cls.daemon)

    def await_socket(self, daemon):
        path = self.folder / "run/wattled.sock"
        for _ in range(600):
            with socket.socket(socket.AF_UNIX) as client:
                try:
                    return client.connect(str(path))
                except OSError:
                    time.sleep(0.05)
            if daemon.poll() is not None:
                break
        self.fail(f"the daemon does not answer: {daemon.communicate()[0]}")

    def run_to_its_end(self, command):
        process = self.start(command)
        if not ENDLESS.search(command):
            text = process.communicate(timeout=60)[0]
            return process.returncode, text
        if "wattled serve" in command:
            self.await_socket(process)
        try:
            text = process.communicate(timeout=1.5)[0]
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGINT)
            text = process.communicate(timeout=60)[0]
        # curl and a shell report the signal.
        return 0 if process.returncode in (-signal.SIGINT, 130) else process.returncode, text

    def test_work(self):
        pages = [PROJECT / "README.md", PROJECT / "CONTRIBUTING.md", *sorted((PROJECT / "docs").rglob("*.md"))]
        ran = 0
        for page in pages:
            for line, command in commands_of(page):
                if any(part in command for part, _ in NOT_RUN):
                    continue
                with self.subTest(page=str(page.relative_to(PROJECT)), line=line, command=command):
                    ran += 1
                    self.ensure_daemon("wattled serve" not in command)
                    status, text = self.run_to_its_end(command)
                    self.assertEqual(status, 0, text)
        self.assertGreater(ran, 35)

    def test_the_first_of_the_readme_on_a_machine_without_sensors(self):
        nowhere = {**self.environment, "WATTLE_SYSFS": str(self.folder / "no_sysfs"),
                   "WATTLE_NVML_LIBRARY": str(self.folder / "none.so")}
        del nowhere["WATTLE_PROCFS"]  # the load of this machine
        runs = [command for _, command in commands_of(PROJECT / "README.md") if command.startswith("wattle run")]
        plain, estimated = runs[:2]
        self.assertNotIn("--estimate", plain)
        self.assertIn("--estimate", estimated)
        for command in (plain, estimated):
            run = subprocess.run(["bash", "-c", command], cwd=self.work, env=nowhere, text=True, timeout=60,
                                 stdin=subprocess.DEVNULL, capture_output=True, check=True)
            # What is not energy is measured, and a range is marked as one.
            self.assertRegex(run.stderr, r"(?m)^time  +[0-9.]+ m?s$")
            self.assertEqual("~" in run.stderr, command == estimated, run.stderr)
            self.assertEqual("--estimate prints a range instead" in run.stderr, command == plain, run.stderr)

    def test_that_are_not_run_are_still_there(self):
        pages = [PROJECT / "README.md", PROJECT / "CONTRIBUTING.md", *(PROJECT / "docs").rglob("*.md")]
        every = [command for page in pages for _, command in commands_of(page)]
        for part, reason in NOT_RUN:
            self.assertTrue(any(part in command for command in every), (part, reason))


def default_interrupt():
    signal.signal(signal.SIGINT, signal.SIG_DFL)


if __name__ == "__main__":
    if not own_network():
        print("skipped: no network of its own: namespaces are not permitted")
        sys.exit(4)
    unittest.main(argv=[sys.argv[0], *sys.argv[6:]])

#!/usr/bin/env python3
"""A client of the daemon, written from the facts of the protocol alone, and what it must find.

    wattled_client_test.py WATTLED LIBNVIDIA_ML

Runs the daemon on a tree and a driver that are played. Exit status 77: httpx is missing.
"""

import json
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
import unittest
from pathlib import Path

try:
    import httpx
except ImportError:
    print("skipped: python3-httpx is not installed")
    sys.exit(77)

WATTLED = sys.argv.pop(1)
LIBRARY = sys.argv.pop(1)
KEY = b"0123456789abcdef0123456789abcdef\n"
SCRIPT = """\
gpu NVIDIA H100 PCIe
uuid GPU-aaaa
pci 0000:41:00
power step 0 75
gpu NVIDIA A40
uuid GPU-bbbb
pci 0000:61:00
power step 0 120 3 150 4 120 5 150 6 120 7 150 8 120 9 150 10 120 11 150 12 120 13 150
instant window_ms 1 update_ms 20
"""


class Events:
    """The events of a stream, as clients of zeusd find them: between blank lines, behind data: ."""

    def __init__(self, response):
        self._text = response.iter_text()
        self._buffer = ""

    def __iter__(self):
        for text in self._text:
            self._buffer += text
            while "\n\n" in self._buffer:
                event, self._buffer = self._buffer.split("\n\n", 1)
                for line in event.split("\n"):
                    if line.startswith("data: "):
                        yield json.loads(line[len("data: "):])


class PowerClient:
    """Keeps the newest power of every GPU, over lost connections too."""

    def __init__(self, make_client):
        self._make_client = make_client
        self.gpu_w = {}
        self.connections = 0
        self._stopping = False
        self._thread = threading.Thread(target=self._run, daemon=True)
        self._thread.start()

    def _run(self):
        while not self._stopping:
            try:
                with self._make_client() as client:
                    with client.stream("GET", "/gpu/stream_power", timeout=5) as response:
                        response.raise_for_status()
                        self.connections += 1
                        for event in Events(response):
                            self.gpu_w[event["gpu_id"]] = event["power_mw"] / 1000
                            if self._stopping:
                                return
            except httpx.HTTPError:
                time.sleep(0.05)

    def stop(self):
        self._stopping = True
        self._thread.join(10)
        return not self._thread.is_alive()


def eventually(condition, seconds=30):
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        if condition():
            return True
        time.sleep(0.01)
    return False


class Load:
    """Drives a package's counter with 50 W for as long as it is entered."""

    def __init__(self, counter):
        self._counter = counter
        self._stopping = threading.Event()
        self._thread = threading.Thread(target=self._run, daemon=True)

    def _run(self):
        begin = time.monotonic()
        start_uj = int(self._counter.read_text())
        with open(self._counter, "r+b", buffering=0) as counter:
            while not self._stopping.wait(0.001):
                shown_uj = start_uj + int(50e6 * (time.monotonic() - begin))
                os.pwrite(counter.fileno(), b"%d\n" % shown_uj, 0)

    def __enter__(self):
        self._thread.start()

    def __exit__(self, *_):
        self._stopping.set()
        self._thread.join(10)


class DaemonTest(unittest.TestCase):
    def setUp(self):
        self._folder = tempfile.TemporaryDirectory()
        self.folder = Path(self._folder.name)
        zone = self.folder / "sys/class/powercap/intel-rapl:0"
        self.load = Load(zone / "energy_uj")
        zone.mkdir(parents=True)
        (zone / "name").write_text("package-0\n")
        (zone / "energy_uj").write_text("123456789\n")
        (zone / "max_energy_range_uj").write_text("262143328850\n")
        (self.folder / "script").write_text(SCRIPT)
        self.socket = str(self.folder / "wattled.sock")
        self.daemon = None

    def tearDown(self):
        self.stop()
        self._folder.cleanup()

    def start(self, *options):
        log = open(self.folder / "log", "ab")
        environment = dict(os.environ, WATTLE_FAKE_NVML=str(self.folder / "script"))
        command = [WATTLED, "serve", "--socket-path", self.socket, "--sysfs",
                   str(self.folder / "sys"), "--procfs", str(self.folder), "--nvml-library",
                   LIBRARY, *options]
        self.daemon = subprocess.Popen(command, stderr=log, env=environment)
        log.close()
        self.assertTrue(eventually(self.answers), (self.folder / "log").read_text())

    def answers(self):
        try:
            with self.client() as client:
                return client.get("/time").status_code == 200
        except httpx.HTTPError:
            return False

    def stop(self, with_signal=signal.SIGTERM):
        if self.daemon is None:
            return
        self.daemon.send_signal(with_signal)
        self.daemon.wait(20)
        self.daemon = None

    def client(self, token=None):
        headers = {"Authorization": f"Bearer {token}"} if token else {}
        transport = httpx.HTTPTransport(uds=self.socket)
        return httpx.Client(transport=transport, base_url="http://localhost", headers=headers)

    def test_discovery(self):
        self.start()
        with self.client() as client:
            found = client.get("/discover").json()
        self.assertEqual([gpu["name"] for gpu in found["gpus"]], ["NVIDIA H100 PCIe", "NVIDIA A40"])
        self.assertEqual(found["gpus"][0]["pci_address"], "0000:41:00.0")
        self.assertEqual(found["cpus"], [{"id": 0, "dram_available": False, "domain": "package_0"}])
        self.assertEqual(found["gpu_ids"], [0, 1])
        self.assertFalse(found["auth_required"])

    def test_one_shot_reads(self):
        self.start()
        with self.client() as client:
            power = client.get("/gpu/get_power", params={"gpu_ids": "0"}).json()
            self.assertEqual(power["power_mw"], {"0": 75000})
            self.assertLess(abs(power["timestamp_ms"] / 1000 - time.time()), 60)
            energy = client.get("/cpu/get_cumulative_energy",
                                params={"cpu": "true", "dram": "true", "cpu_ids": "0"}).json()
            self.assertAlmostEqual(energy["0"]["cpu_energy_uj"] / 1e6, 123.456789, places=2)
            self.assertIsNone(energy["0"]["dram_energy_uj"])
            still = client.get("/cpu/get_power")
            self.assertEqual(still.status_code, 500)
            self.assertIn("does not move", still.json()["errors"]["0"])
            with self.load:
                power = client.get("/cpu/get_power").json()["power_mw"]["0"]
            self.assertGreater(power["cpu_mw"], 0)
            self.assertEqual(client.get("/gpu/get_power", params={"x": "1"}).status_code, 400)

    def test_streams_of_the_new_generation(self):
        self.start()
        with self.client() as client, client.stream("GET", "/gpu/stream_power?gpu_ids=0,1") as gpus:
            self.assertEqual(gpus.headers["content-type"], "text/event-stream")
            seen = {}
            for event in Events(gpus):
                seen.setdefault(event["gpu_id"], []).append(event["power_mw"])
                if len(seen.get(1, [])) >= 3:
                    break
        self.assertEqual(seen[0], [75000])
        with self.load, self.client() as client:
            with client.stream("GET", "/cpu/stream_power") as cpus:
                event = next(iter(Events(cpus)))
        self.assertEqual((event["cpu_id"], event["dram_mw"]), (0, None))
        self.assertGreater(event["cpu_mw"], 0)

    def test_streams_of_the_old_generation(self):
        self.start("--stream-format", "snapshot")
        with self.client() as client, client.stream("GET", "/gpu/stream_power") as gpus:
            event = next(iter(Events(gpus)))
        self.assertEqual(set(event["power_mw"]), {"0", "1"})
        with self.load, self.client() as client:
            with client.stream("GET", "/cpu/stream_power") as cpus:
                event = next(iter(Events(cpus)))
        self.assertEqual(set(event["power_mw"]["0"]), {"cpu_mw", "dram_mw"})
        self.assertGreater(event["power_mw"]["0"]["cpu_mw"], 0)

    def test_authentication(self):
        key = self.folder / "key"
        key.write_bytes(KEY)
        key.chmod(0o600)
        issued = subprocess.run([WATTLED, "token", "issue", "--signing-key-path", key, "--user",
                                 "alice", "--scope", "gpu-read", "--expires", "1h"],
                                check=True, capture_output=True, text=True)
        self.start("--signing-key-path", str(key))
        with self.client() as client:
            self.assertTrue(client.get("/discover").json()["auth_required"])
            self.assertEqual(client.get("/gpu/get_power").status_code, 401)
        with self.client(issued.stdout.strip()) as client:
            self.assertEqual(client.get("/auth/whoami").json()["sub"], "alice")
            self.assertEqual(client.get("/gpu/get_power").status_code, 200)
            self.assertEqual(client.get("/cpu/get_power").status_code, 403)

    def test_a_client_comes_back_after_the_daemon_did(self):
        self.start()
        client = PowerClient(self.client)
        self.assertTrue(eventually(lambda: client.gpu_w.get(0) == 75))
        self.stop(signal.SIGKILL)
        client.gpu_w.clear()
        self.start()
        self.assertTrue(eventually(lambda: client.gpu_w.get(0) == 75))
        self.assertGreaterEqual(client.connections, 2)
        begin = time.monotonic()
        self.assertTrue(client.stop())
        # Without a word once a second it would wait until its patience ends.
        self.assertLess(time.monotonic() - begin, 4)

    def port(self):
        return re.search(r"127\.0\.0\.1:(\d+)", (self.folder / "log").read_text())[1]

    def certified(self):
        """The options of a server with a certificate, and the certificate."""
        certificate, key = str(self.folder / "cert.pem"), str(self.folder / "key.pem")
        subprocess.run(["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "1",
                        "-subj", "/CN=localhost", "-addext", "subjectAltName=IP:127.0.0.1",
                        "-keyout", key, "-out", certificate], check=True, capture_output=True)
        return ["--tls-cert", certificate, "--tls-key", key], certificate

    @unittest.skipUnless(shutil.which("openssl"), "openssl is not installed")
    def test_encryption(self):
        options, certificate = self.certified()
        self.start("--mode", "uds,tcp", "--tcp-bind-address", "127.0.0.1:0", *options)
        base = f"https://127.0.0.1:{self.port()}"
        with httpx.Client(verify=certificate, base_url=base) as client:
            for _ in range(20):
                self.assertEqual(client.get("/gpu/get_power").json()["power_mw"]["0"], 75000)
            with client.stream("GET", "/gpu/stream_power?gpu_ids=1") as gpus:
                events = iter(Events(gpus))
                self.assertEqual({next(events)["gpu_id"] for _ in range(3)}, {1})
        with self.assertRaises(httpx.HTTPError):
            httpx.get(f"http://127.0.0.1:{self.port()}/time", timeout=10)
        self.assertTrue(self.answers())

    @unittest.skipUnless(shutil.which("openssl"), "openssl is not installed")
    def test_other_machines_are_served_where_all_is_encrypted(self):
        key = self.folder / "key"
        key.write_bytes(KEY)
        key.chmod(0o600)
        options, certificate = self.certified()
        self.start("--mode", "uds,tcp", "--tcp-bind-address", "0.0.0.0:0", "--signing-key-path",
                   str(key), *options)
        # It answers on its own socket before it says where else.
        log = self.folder / "log"
        self.assertTrue(eventually(lambda: "0.0.0.0:" in log.read_text()), log.read_text())
        port = re.search(r"0\.0\.0\.0:(\d+)", log.read_text())[1]
        with httpx.Client(verify=certificate, base_url=f"https://127.0.0.1:{port}") as client:
            self.assertEqual(client.get("/discover").status_code, 200)
            self.assertEqual(client.get("/gpu/get_power").status_code, 401)

    def test_a_connection_is_kept_for_the_next_request(self):
        self.start()
        with self.client() as client:
            for _ in range(50):
                self.assertEqual(client.get("/time").status_code, 200)


if __name__ == "__main__":
    unittest.main()

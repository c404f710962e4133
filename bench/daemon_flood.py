"""What one honest client on the Unix socket of `wattled` waits while 2,000 others flood TCP.

usage: daemon_flood.py WATTLED [SECONDS]

The others never read: a fifth each pipelines requests, asks for a stream of CPUs, stops in the middle of
a head, says nothing, and connects again and again. All are let in (places for 4,096) or most are not (places
for 1,000); there is no limit for one client, as all of this machine is one. The honest client makes a new
connection for each request. Both run beside the daemon: on a machine with few cores the figures are those
of the flood's own processor time too.
"""

import errno
import multiprocessing
import os
import resource
import socket
import statistics
import subprocess
import sys
import tempfile
import time

HOSTILE = 2000
PROCESSES = 2
WARM_UP_S = 2


def request(target):
    return f"GET {target} HTTP/1.1\r\nHost: localhost\r\n\r\n".encode()


WORDS = (request("/metrics") * 100, request("/cpu/stream_power"), b"GET /time HTTP/1.1\r\nHost: ", b"",
         request("/health"))
CALLER = 4


class Hostile:
    def __init__(self, number, port):
        self.kind = number % len(WORDS)
        self.port = port
        self.connect()

    def connect(self):
        self.rest = WORDS[self.kind]
        self.socket = socket.socket()
        self.socket.setblocking(False)
        # What the kernel keeps for the flood's own ends is not the daemon's.
        for buffer in (socket.SO_SNDBUF, socket.SO_RCVBUF):
            self.socket.setsockopt(socket.SOL_SOCKET, buffer, 4096)
        self.socket.connect_ex(("127.0.0.1", self.port))

    def act(self):
        try:
            while self.rest:
                self.rest = self.rest[self.socket.send(self.rest):]
            if self.kind == CALLER:
                self.socket.close()
                self.connect()
            elif self.kind == 0:
                self.rest = WORDS[0]
        except OSError as error:
            if error.errno not in (errno.EAGAIN, errno.EINPROGRESS, errno.ENOTCONN):
                self.socket.close()
                self.connect()


def flood(first, count, port):
    crowd = [Hostile(first + i, port) for i in range(count)]
    while True:
        for each in crowd:
            each.act()


def wait_of_one(path):
    """Seconds until one request is answered, and whether it was answered well."""
    begin = time.monotonic()
    with socket.socket(socket.AF_UNIX) as connection:
        connection.connect(path)
        connection.sendall(request("/cpu/get_cumulative_energy?cpu=true&dram=true"))
        answer = connection.recv(1 << 16)
    return time.monotonic() - begin, answer.startswith(b"HTTP/1.1 200 ")


def kernel_memory():
    """Of all TCP sockets of this machine."""
    with open("/proc/net/sockstat", encoding="ascii") as lines:
        words = next(line.split() for line in lines if line.startswith("TCP:"))
    return int(words[words.index("mem") + 1]) * resource.getpagesize()


def resident(pid):
    with open(f"/proc/{pid}/status", encoding="ascii") as lines:
        return next(int(line.split()[1]) for line in lines if line.startswith("VmRSS:")) / 1024


def run(program, places, seconds):
    with tempfile.TemporaryDirectory() as folder:
        zone = f"{folder}/sys/class/powercap/intel-rapl:0"
        os.makedirs(zone)
        for file, text in (("name", "package-0"), ("energy_uj", "1000000"),
                           ("max_energy_range_uj", "262143328850")):
            with open(f"{zone}/{file}", "w", encoding="ascii") as out:
                out.write(text + "\n")
        path = f"{folder}/socket"
        log = f"{folder}/log"
        with open(log, "wb") as stderr:
            daemon = subprocess.Popen(
                [program, "serve", "--mode", "uds,tcp", "--socket-path", path, "--tcp-bind-address",
                 "127.0.0.1:0", "--max-connections", str(places), "--max-connections-per-client", str(places),
                 "--sysfs", f"{folder}/sys", "--nvml-library", f"{folder}/none", "--user", "root"], stderr=stderr)
        port = None
        while port is None:
            time.sleep(0.01)
            with open(log, encoding="utf-8") as text:
                port = next((int(line.rsplit(":", 1)[1]) for line in text if "127.0.0.1:" in line), None)
        before = kernel_memory()
        part = HOSTILE // PROCESSES
        crowd = [multiprocessing.Process(target=flood, args=(i * part, part, port), daemon=True)
                 for i in range(PROCESSES)]
        for process in crowd:
            process.start()
        time.sleep(WARM_UP_S)
        waits, refused = [], 0
        counter = os.open(f"{zone}/energy_uj", os.O_WRONLY)
        begin = time.monotonic()
        while time.monotonic() < begin + seconds:
            # A counter that stands has no energy.
            os.pwrite(counter, str(int(1e6 + 100e6 * (time.monotonic() - begin))).encode(), 0)
            wait, is_good = wait_of_one(path)
            waits.append(wait * 1000)
            refused += not is_good
            time.sleep(0.005)
        os.close(counter)
        memory = (kernel_memory() - before) / (1 << 20)
        waits.sort()
        print(f"places for {places}: {len(waits)} requests, {refused} refused; wait median "
              f"{statistics.median(waits):.2f} ms, p99 {waits[len(waits) * 99 // 100]:.2f} ms, most "
              f"{waits[-1]:.2f} ms; daemon {resident(daemon.pid):.0f} MiB, kernel {memory:.0f} MiB")
        for process in crowd:
            process.kill()
        daemon.terminate()
        daemon.wait()
        return refused == 0


def main():
    program = sys.argv[1]
    seconds = float(sys.argv[2]) if len(sys.argv) > 2 else 10
    most = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    resource.setrlimit(resource.RLIMIT_NOFILE, (min(most, 16384), most))
    return 0 if all([run(program, places, seconds) for places in (4096, 1000)]) else 1


if __name__ == "__main__":
    sys.exit(main())

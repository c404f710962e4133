"""Runs a command beside a daemon that makes its numbers up: one GPU, which draws about 100 W.

usage: with_daemon.py COMMAND...

The daemon's address is added to the command. The exit status is the command's.
"""

import itertools
import subprocess
import sys
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

BEGIN = time.time()


def now_ms():
    return int(time.time() * 1000)


class Daemon(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *_):
        pass

    def answer(self):
        energy_mj = int((time.time() - BEGIN) * 100_000)
        return {
            "/discover": '{"gpus":[{"id":0,"name":"Played","pci_address":"0000:01:00.0",'
            '"cumulative_energy_available":true}],"cpus":[],"enabled_api_groups":["gpu-read"],'
            '"auth_required":false}',
            "/time": f'{{"timestamp_ms":{now_ms()}}}',
            "/gpu/get_power": f'{{"timestamp_ms":{now_ms()},"power_mw":{{"0":100000}}}}',
            "/gpu/get_cumulative_energy": f'{{"0":{{"energy_mj":{energy_mj}}}}}',
        }[self.path]

    def do_GET(self):
        if self.path == "/gpu/stream_power":
            return self.stream()
        body = self.answer().encode()
        self.send_response(200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def stream(self):
        self.send_response(200)
        self.send_header("Content-Type", "text/event-stream")
        self.send_header("Transfer-Encoding", "chunked")
        self.end_headers()
        try:
            for power_mw in itertools.cycle((100_000, 101_000, 99_000)):
                event = f'data: {{"timestamp_ms":{now_ms()},"gpu_id":0,"power_mw":{power_mw}}}\n\n'
                self.wfile.write(f"{len(event):x}\r\n{event}\r\n".encode())
                time.sleep(0.02)
        except OSError:
            self.close_connection = True  # the client has what it wanted


server = ThreadingHTTPServer(("127.0.0.1", 0), Daemon)
server.daemon_threads = True
threading.Thread(target=server.serve_forever, daemon=True).start()
sys.exit(subprocess.call([*sys.argv[1:], f"127.0.0.1:{server.server_port}"]))

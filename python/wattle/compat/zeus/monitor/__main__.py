# mypy: no-implicit-reexport
"""`python -m zeus.monitor power` and `energy`, until Ctrl-C. `wattle power` and `wattle energy` show more."""

from __future__ import annotations

import argparse
import datetime
import sys
import time
from collections.abc import Sequence

from wattle._errors import Error
from wattle._text import UNKNOWN
from wattle.compat.zeus.monitor.energy import ZeusMonitor
from wattle.compat.zeus.monitor.power import PowerDomain, PowerMonitor

__all__ = ["main"]


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m zeus.monitor")
    parts = parser.add_subparsers(dest="part", required=True)
    energy = parts.add_parser("energy", help="print the energy until Ctrl-C, in joules")
    power = parts.add_parser("power", help="print the power of GPUs every period, in watts")
    for part in (energy, power):
        part.add_argument("--gpu-indices", nargs="+", type=int, metavar="GPU")
    power.add_argument("--update-period", type=float, default=1.0, metavar="SECONDS")
    power.add_argument(
        "--power-domain",
        choices=[domain.value for domain in PowerDomain],
        default=PowerDomain.DEVICE_INSTANT.value,
    )
    return parser


def _energy(gpus: list[int] | None) -> None:
    monitor = ZeusMonitor(gpu_indices=gpus)
    monitor.begin_window("command", sync_execution=False)
    try:
        while True:
            time.sleep(3600)
    except KeyboardInterrupt:
        print(monitor.end_window("command", sync_execution=False))


def _power(gpus: list[int] | None, period: float, domain: str) -> None:
    monitor = PowerMonitor(gpus, min(period, 0.1), power_domains=[domain], cpu_indices=[])
    start = time.time()
    try:
        while True:
            time.sleep(period)
            power = monitor.get_power(power_domain=domain)
            print(datetime.datetime.now().astimezone().strftime("%Y-%m-%d %H:%M:%S.%f"))
            print(UNKNOWN if power is None else {f"GPU{gpu}": watts for gpu, watts in power.items()}, flush=True)
    except KeyboardInterrupt:
        end = time.time()
        energy = monitor.get_energy(start, end, domain)
        monitor.stop()
        print(f"Total time (s): {end - start}")
        shown = UNKNOWN if energy is None else {f"GPU{gpu}": joules for gpu, joules in energy.items()}
        print(f"Total energy (J): {shown}")


def main(arguments: Sequence[str] | None = None) -> int:
    """Returns the exit status: 0 after Ctrl-C, 1 for what cannot be measured."""
    given = _parser().parse_args(arguments)
    try:
        if given.part == "energy":
            _energy(given.gpu_indices)
        else:
            _power(given.gpu_indices, given.update_period, given.power_domain)
    except (Error, ValueError, RuntimeError) as error:
        print(f"zeus.monitor: {error}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())

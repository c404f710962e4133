# mypy: no-implicit-reexport
"""Energy of windows."""

from __future__ import annotations

import dataclasses
import os
import sys
import time
from typing import Any, TextIO

from wattle._domain import Domain
from wattle._domain import domains as available_domains
from wattle._errors import NoSuchDevice
from wattle._measurement import Measurement as Measured
from wattle._windows import Windows
from wattle.compat.zeus.monitor.visible_gpus import visible_gpus

__all__ = ["Measurement", "ZeusMonitor"]


@dataclasses.dataclass
class Measurement:
    """Seconds, and joules by index. A device whose energy is unknown has None."""

    time: float
    gpu_energy: dict[int, float | None]
    cpu_energy: dict[int, float | None] | None = None
    dram_energy: dict[int, float | None] | None = None
    soc_energy: None = None
    """Of Apple's and NVIDIA's systems on a chip there; no sensor of Wattle's has it."""

    @property
    def total_energy(self) -> float | None:
        """The sum of the GPUs, as in Zeus; None if one is unknown."""
        known = [energy_j for energy_j in self.gpu_energy.values() if energy_j is not None]
        return sum(known) if len(known) == len(self.gpu_energy) else None


class ZeusMonitor:
    """Measures windows that may overlap: `begin_window(key)`, `end_window(key)`.

    gpu_indices: among the GPUs that CUDA_VISIBLE_DEVICES leaves; None: all of them. cpu_indices:
    sockets; None: all. approx_instant_energy: accepted; a GPU without a counter is integrated from
    its power anyway. The framework is synchronized only if it was imported already. Thread-safe.
    """

    def __init__(
        self,
        gpu_indices: list[int] | None = None,
        cpu_indices: list[int] | None = None,
        approx_instant_energy: bool = False,
        log_file: str | os.PathLike[str] | None = None,
        sync_execution_with: str = "torch",
    ) -> None:
        if sync_execution_with not in _SYNCHRONIZE:
            raise ValueError(
                f"sync_execution_with is {sync_execution_with!r}: {', '.join(_SYNCHRONIZE)} are known"
            )
        self.approx_instant_energy = approx_instant_energy
        self._synchronize = _SYNCHRONIZE[sync_execution_with]
        found = available_domains()
        visible = [str(name) for name in visible_gpus(found)]
        self.gpu_indices = list(range(len(visible))) if gpu_indices is None else list(gpu_indices)
        self._gpus = {index: _item(visible, index, "GPU") for index in self.gpu_indices}
        self._packages = _of_kind(found, "package", cpu_indices)
        self._drams = _of_kind(found, "dram", cpu_indices, must_exist=False)
        self.cpu_indices = list(self._packages)
        names = [*self._gpus.values(), *_names(self._packages), *_names(self._drams)]
        # Without any sensor the windows have times.
        self._windows = Windows(domains=names) if names else None
        self._starts: dict[str, float] = {}
        self._log = None if log_file is None else _open_log(log_file, self.gpu_indices)

    def begin_window(self, key: str, sync_execution: bool = True, restart: bool = False) -> None:
        """Starts a window. Raises ValueError if it is open, unless `restart` is True."""
        if sync_execution:
            self._synchronize()
        if not restart and key in self._starts:
            raise ValueError(f"the window {key!r} already exists: end it first, or pass restart=True")
        self._starts[key] = time.time()
        if self._windows is not None:
            self._windows.begin(key, restart=True)

    def end_window(
        self, key: str, sync_execution: bool = True, cancel: bool = False
    ) -> Measurement:
        """Ends a window. Raises ValueError if it is not open. cancel: it is not logged."""
        if sync_execution:
            self._synchronize()
        start = self._starts.pop(key, None)
        if start is None:
            raise ValueError(f"the window {key!r} does not exist: begin it first")
        measured = None if self._windows is None else self._windows.end(key)
        measurement = Measurement(
            time=time.time() - start if measured is None else measured.seconds,
            gpu_energy={index: _joules(measured, [name]) for index, name in self._gpus.items()},
            cpu_energy=_energies(measured, self._packages),
            dram_energy=_energies(measured, self._drams),
        )
        if self._log is not None and not cancel:
            cells = [start, _cell(key), measurement.time, *measurement.gpu_energy.values()]
            self._log.write(",".join("" if cell is None else str(cell) for cell in cells) + "\n")
            self._log.flush()
        return measurement

    def reset_windows(self) -> None:
        """Forgets all windows that are open."""
        for key in list(self._starts):
            del self._starts[key]
            if self._windows is not None:
                self._windows.cancel(key)


def _of_kind(
    found: Any, kind: str, chosen: list[int] | None, must_exist: bool = True
) -> dict[int, list[str]]:
    """The domains of each socket; of a socket with several dies, several."""
    sockets: dict[int, list[str]] = {}
    for name in map(Domain, found):
        if name.kind == kind:
            sockets.setdefault(name.number, []).append(str(name))
    if chosen is None:
        return sockets
    if must_exist:
        for index in chosen:
            if index not in sockets:
                raise RuntimeError(f"CPU {index} cannot be measured: {sorted(sockets)} can")
    return {index: sockets[index] for index in chosen if index in sockets}


def _names(sockets: dict[int, list[str]]) -> list[str]:
    return [name for names in sockets.values() for name in names]


def _item(items: list[str], index: int, what: str) -> str:
    if not 0 <= index < len(items):
        raise NoSuchDevice(f"there is no {what} {index}: this machine shows {len(items)}")
    return items[index]


def _joules(measured: Measured | None, names: list[str]) -> float | None:
    """None where a part of the time, or of the socket, is unknown."""
    if measured is None:
        return None
    total = 0.0
    for name in names:
        energy = measured.domains[name]
        if energy.energy_j is None or energy.unknown_s > 1e-3 * (measured.seconds or 0.0):
            return None
        total += energy.energy_j
    return total


def _energies(
    measured: Measured | None, sockets: dict[int, list[str]]
) -> dict[int, float | None] | None:
    if not sockets:
        return None
    return {index: _joules(measured, names) for index, names in sockets.items()}


def _open_log(path: str | os.PathLike[str], gpus: list[int]) -> TextIO:
    os.makedirs(os.path.dirname(os.fspath(path)) or ".", exist_ok=True)
    file = open(path, "w", encoding="utf-8")  # noqa: SIM115
    names = [f"gpu{index}_energy" for index in gpus]
    file.write(",".join(["start_time", "window_name", "elapsed_time", *names]) + "\n")
    file.flush()
    return file


def _cell(text: str) -> str:
    if any(character in text for character in ',"\r\n'):
        return '"' + text.replace('"', '""') + '"'
    return text


def _synchronize_torch() -> None:
    torch: Any = sys.modules.get("torch")
    if torch is not None and torch.cuda.is_available():
        torch.cuda.synchronize()


def _synchronize_jax() -> None:
    jax: Any = sys.modules.get("jax")
    if jax is not None:
        for array in jax.live_arrays():
            array.block_until_ready()


def _synchronize_cupy() -> None:
    cupy: Any = sys.modules.get("cupy")
    if cupy is not None:
        cupy.cuda.Device().synchronize()


_SYNCHRONIZE = {
    "torch": _synchronize_torch,
    "jax": _synchronize_jax,
    "cupy": _synchronize_cupy,
}

"""What only the program itself knows of its use of memory, for `wattle summary`.

A framework that takes most of a GPU's memory at its start hides what it needs of that; its own
allocator knows. Call this at the end of the work, in the process that did it, and hand the number on:

    wattle summary DIR --allocator-peak-mb X

Needs nothing but Python 3.
"""

import math

__all__ = ["probe_jax_peak_memory_mb"]

_MEBIBYTE = 1048576


def probe_jax_peak_memory_mb():
    """The most memory that JAX had in use on its first GPU since the process began, in MiB.

    None where that is not known: without JAX, without a GPU, or with a JAX that does not count it.
    Never raises. Imports JAX, and so starts it where the program has not: it takes memory then.
    """
    try:
        import jax  # pyright: ignore[reportMissingImports]

        gpu = next(device for device in jax.local_devices() if device.platform == "gpu")
        peak = float(gpu.memory_stats()["peak_bytes_in_use"]) / _MEBIBYTE
    # Whatever is wrong with it: a probe must not end a run.
    except Exception:  # noqa: BLE001
        return None
    return peak if math.isfinite(peak) and peak >= 0 else None

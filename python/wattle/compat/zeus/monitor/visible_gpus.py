# mypy: no-implicit-reexport
"""The GPUs that CUDA_VISIBLE_DEVICES leaves, in its order: frameworks and Zeus number these."""

from __future__ import annotations

import os
from collections.abc import Iterable

from wattle._domain import Domain
from wattle._windows import Windows

__all__ = ["visible_gpus"]


def visible_gpus(found: Iterable[str]) -> list[Domain]:
    """Of the domains `found`, those of the visible GPUs: GPU 0 of a framework is the first."""
    gpus = [Domain(name) for name in found if Domain(name).category == "gpu"]
    given = os.environ.get("CUDA_VISIBLE_DEVICES")
    if given is None:
        return gpus
    try:
        numbers = [int(part) for part in given.split(",") if part.strip()]
    except ValueError:
        # UUIDs: the library finds them.
        return [domain for domain in map(Domain, Windows(gpus="visible").domains) if domain.category == "gpu"]
    return [Domain.nvidia_gpu(number) for number in numbers if Domain.nvidia_gpu(number) in gpus]

# mypy: no-implicit-reexport
"""The exceptions of devices."""

from wattle.compat.zeus.exception import ZeusBaseError

__all__ = ["ZeusBaseCPUError", "ZeusBaseGPUError", "ZeusBaseSoCError", "ZeusdError"]


class ZeusBaseGPUError(ZeusBaseError):
    """The base of the exceptions of GPUs."""


class ZeusBaseCPUError(ZeusBaseError):
    """The base of the exceptions of CPUs."""


class ZeusBaseSoCError(ZeusBaseError):
    """The base of the exceptions of systems on a chip."""


class ZeusdError(ZeusBaseError):
    """A daemon refuses a request, or fails."""

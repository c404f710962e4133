# mypy: no-implicit-reexport
"""The exceptions of devices."""

from wattle.compat.zeus.exception import ZeusBaseError

__all__ = ["ZeusdError"]


class ZeusdError(ZeusBaseError):
    """A daemon refuses a request, or fails."""

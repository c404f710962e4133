# mypy: no-implicit-reexport
"""The exceptions of Wattle. Each is a `wattle.Error` and the built-in exception that fits it."""

from __future__ import annotations

import builtins
import errno as _errno

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Self

__all__ = [
    "AuthError",
    "CapabilityError",
    "ConnectionError",
    "Error",
    "FormatError",
    "InconsistentSamples",
    "InvalidArgument",
    "InvalidState",
    "NoSampleProcessed",
    "NoSuchDevice",
    "NoSuchDomain",
    "NoSuchSample",
    "NotStarted",
    "NotStopped",
    "PermissionDenied",
    "WriteError",
]


class Error(Exception):
    """Base of all exceptions of Wattle. `str(error)` is one sentence: what failed, on what, why."""

    def __str__(self) -> str:
        return str(self.args[0]) if self.args else ""


class InvalidArgument(Error, ValueError):
    """An argument outside its documented range."""


class NoSuchDomain(Error, LookupError):
    """A domain that this machine does not have, or that was not measured."""

    def __init__(self, message: str = "", domain_name: str = "") -> None:
        super().__init__(message, domain_name)
        self.domain_name = domain_name
        """The domain that was asked for."""


class NoSuchDevice(Error, LookupError):
    """A device that this machine does not have, or that cannot be read."""


class NoSuchSample(Error, KeyError, IndexError):
    """A trace has no sample of that number or tag."""


class CapabilityError(Error, RuntimeError):
    """The device is present, but lacks the requested function."""


class NotStarted(Error, RuntimeError):
    """The operation needs a start first."""


class NotStopped(Error, RuntimeError):
    """The operation needs a stop first."""


class InvalidState(Error, RuntimeError):
    """The object is started already, or can be started only once."""


class InconsistentSamples(Error, ValueError):
    """Samples that were measured over different domains cannot share a table."""


class NoSampleProcessed(Error, LookupError):
    """A handler that holds no sample cannot save or return one."""


class _SystemError(Error, OSError):
    """Takes the arguments of its subclasses, of which `OSError` sees none."""

    def __new__(cls, *args: object) -> Self:
        return super().__new__(cls)

    def __init__(self, *args: object) -> None:
        self.args = args

    def _set(self, number: int, path: str | None) -> None:
        self.errno = number
        self.filename = path


class PermissionDenied(_SystemError, PermissionError):
    """The file or device exists, but this user may not read it."""

    def __init__(self, message: str = "", path: str = "", remedy: str = "") -> None:
        super().__init__(message, path, remedy)
        self._set(_errno.EACCES, path or None)
        self.path = path
        """The file that could not be read."""
        self.remedy = remedy
        """What would make it readable."""


class WriteError(_SystemError):
    """A file could not be opened or written to the end. `errno` has the reason."""

    def __init__(self, message: str = "", path: str = "", error_number: int = 0) -> None:
        super().__init__(message, path, error_number)
        self._set(error_number, path or None)
        self.path = path
        """The file."""


class FormatError(Error, ValueError):
    """A file that is to be written to, or read, holds something else. It was left as it is."""

    def __init__(self, message: str = "", path: str = "") -> None:
        super().__init__(message, path)
        self.path = path
        """The file."""


class ConnectionError(_SystemError, builtins.ConnectionError):
    """A daemon cannot be reached, or does not speak the protocol."""


class AuthError(_SystemError, PermissionError):
    """A daemon requires a token, and was given none or one that it does not accept."""


def _name_as_users_do() -> None:
    for name in __all__:
        globals()[name].__module__ = "wattle"


_name_as_users_do()

# mypy: no-implicit-reexport
"""The extension module, ready for use: `core`. All that needs C++ imports it from here."""

from __future__ import annotations

import atexit
import os
import sys

try:
    from wattle import _core as core  # pyright: ignore[reportMissingModuleSource]
except ImportError as _error:
    raise ImportError(f"wattle cannot load its library: {_error}") from _error

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

def deliver_log() -> None:
    """Gives the messages of the library to the logger `wattle`."""
    messages = [message for module in _modules for message in module.take_messages()]
    if messages:
        import logging

        logger = logging.getLogger("wattle")
        for message in messages:
            logger.warning("%s", message)


def adopt(module: Any) -> None:
    """Ties an extension module to the life of the interpreter."""
    module.check_interpreter()
    module.install_log(deliver_log)
    _modules.append(module)


def _close() -> None:
    if sys.is_finalizing():
        return
    deliver_log()
    for module in _modules:
        module.close()


def _after_fork() -> None:
    for module in _modules:
        module.after_fork()
    core.note_fork()


_modules: list[Any] = []
adopt(core)
# Functions that are registered later are called earlier: those of all who use the library.
atexit.register(_close)
os.register_at_fork(after_in_child=_after_fork)


def optional(name: str) -> Any:
    """A package that Wattle does without, but not the caller: numpy, pandas."""
    import importlib

    return importlib.import_module(name)


__all__ = ["adopt", "core", "optional"]

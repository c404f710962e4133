# mypy: no-implicit-reexport
"""The extension module, ready for use: `core`. Everything of the package that needs C++ imports it from here."""

import atexit
import os
import sys
from typing import Any

try:
    from wattle import _core as core  # pyright: ignore[reportMissingModuleSource]
except ImportError as _error:
    raise ImportError(f"wattle cannot load its library: {_error}") from _error

core.check_interpreter()


def deliver_log() -> None:
    """Gives the messages of the library to the logger `wattle`."""
    messages = core.take_messages()
    if messages:
        import logging

        logger = logging.getLogger("wattle")
        for message in messages:
            logger.warning("%s", message)


def _close() -> None:
    if sys.is_finalizing():
        return
    deliver_log()
    core.close()


core.install_log(deliver_log)
# Ends after all that uses the library, which is registered later.
atexit.register(_close)
os.register_at_fork(after_in_child=core.after_fork)


def optional(name: str) -> Any:
    """A package that Wattle does without, but not the caller: numpy, pandas."""
    import importlib

    return importlib.import_module(name)


__all__ = ["core", "deliver_log", "optional"]

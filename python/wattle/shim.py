# mypy: no-implicit-reexport
"""Runs a program that imports pyJoules, Zeus, gpu_tracker or CodeCarbon over Wattle, unchanged.

    python -m wattle.shim script.py [ARGUMENT]...
    python -m wattle.shim -m module [ARGUMENT]...

In a program: `wattle.shim.install()` before the imports.
"""

from __future__ import annotations

import importlib
import importlib.abc
import importlib.machinery
import importlib.util
import runpy
import sys
from collections.abc import Sequence
from pathlib import Path
from types import ModuleType

__all__ = ["install", "main"]

# The modules of others, and ours. A module below one is ours below ours.
_MODULES = {
    "pyJoules": "wattle.compat.pyjoules",
    "zeus": "wattle.compat.zeus",
    "gpu_tracker": "wattle.compat.gpu_tracker",
    "codecarbon": "wattle.compat.codecarbon",
}


class _Loader(importlib.abc.Loader):
    """A name of another tool is the very module of ours."""

    def __init__(self, ours: str) -> None:
        self._ours = ours
        self._spec: importlib.machinery.ModuleSpec | None = None

    def create_module(self, spec: importlib.machinery.ModuleSpec) -> ModuleType:
        module = importlib.import_module(self._ours)
        self._spec = module.__spec__
        return module

    def exec_module(self, module: ModuleType) -> None:
        # It ran when it was imported by its own name, which it keeps.
        module.__spec__ = self._spec


def _ours(name: str) -> str | None:
    """The name of our module; None for a module that is not of these tools."""
    root, _, rest = name.partition(".")
    home = _MODULES.get(root)
    if home is None:
        return None
    return f"{home}.{rest}" if rest else home


class _Finder(importlib.abc.MetaPathFinder):
    def find_spec(
        self,
        fullname: str,
        path: Sequence[str] | None,
        target: ModuleType | None = None,
    ) -> importlib.machinery.ModuleSpec | None:
        del path, target
        ours = _ours(fullname)
        if ours is None:
            return None
        try:
            if importlib.util.find_spec(ours) is None:
                return None
        except ModuleNotFoundError:
            return None
        return importlib.machinery.ModuleSpec(fullname, _Loader(ours), is_package=True)


def install() -> None:
    """From now on the names of the other tools are Wattle's. Does nothing a second time."""
    if not any(isinstance(finder, _Finder) for finder in sys.meta_path):
        sys.meta_path.insert(0, _Finder())


def main(arguments: Sequence[str] | None = None) -> None:
    """Runs a script or a module, as `python` would."""
    given = list(sys.argv[1:] if arguments is None else arguments)
    is_module = given[:1] == ["-m"]
    if is_module:
        del given[0]
    if not given or given[0].startswith("-"):
        sys.exit("usage: python -m wattle.shim SCRIPT [ARGUMENT]... | -m MODULE [ARGUMENT]...")
    install()
    sys.argv = given
    if is_module:
        runpy.run_module(_ours(given[0]) or given[0], run_name="__main__", alter_sys=True)
        return
    # The folder of the script, where Python has its own.
    sys.path[0] = str(Path(given[0]).resolve().parent)
    runpy.run_path(given[0], run_name="__main__")


if __name__ == "__main__":
    main()

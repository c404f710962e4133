# mypy: no-implicit-reexport
"""Callbacks of a training loop: plain objects that a loop calls. `wattle.callbacks` has some that measure."""

from __future__ import annotations

from collections.abc import Iterable

__all__ = ["Callback", "CallbackSet"]


class Callback:
    """Derive from it, and override what you need: every hook does nothing."""

    def on_train_begin(self) -> None:
        """Before the first epoch."""

    def on_train_end(self) -> None:
        """After the last epoch."""

    def on_epoch_begin(self) -> None:
        """Before each epoch."""

    def on_epoch_end(self) -> None:
        """After each epoch."""

    def on_step_begin(self) -> None:
        """Before each step."""

    def on_step_end(self) -> None:
        """After each step."""

    def on_evaluate(self, metric: float) -> None:
        """After each evaluation, with its result."""

    def on_instruction_begin(self, name: str) -> None:
        """Before an instruction of a pipeline."""

    def on_instruction_end(self, name: str) -> None:
        """After an instruction of a pipeline."""


class CallbackSet(Callback):
    """Calls several callbacks, in their order."""

    def __init__(self, callbacks: Iterable[Callback]) -> None:
        self.callbacks = list(callbacks)

    def on_train_begin(self) -> None:
        for callback in self.callbacks:
            callback.on_train_begin()

    def on_train_end(self) -> None:
        for callback in self.callbacks:
            callback.on_train_end()

    def on_epoch_begin(self) -> None:
        for callback in self.callbacks:
            callback.on_epoch_begin()

    def on_epoch_end(self) -> None:
        for callback in self.callbacks:
            callback.on_epoch_end()

    def on_step_begin(self) -> None:
        for callback in self.callbacks:
            callback.on_step_begin()

    def on_step_end(self) -> None:
        for callback in self.callbacks:
            callback.on_step_end()

    def on_evaluate(self, metric: float) -> None:
        for callback in self.callbacks:
            callback.on_evaluate(metric)

    def on_instruction_begin(self, name: str) -> None:
        for callback in self.callbacks:
            callback.on_instruction_begin(name)

    def on_instruction_end(self, name: str) -> None:
        for callback in self.callbacks:
            callback.on_instruction_end(name)

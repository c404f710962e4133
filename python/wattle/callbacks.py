# mypy: no-implicit-reexport
"""Energy of a training: a callback each for the trainers of Hugging Face, Lightning and Keras.

    trainer = Trainer(..., callbacks=[HuggingFaceCallback(log_to=wandb.run)])
    trainer = lightning.Trainer(callbacks=[LightningCallback()])
    model.fit(..., callbacks=[KerasCallback()])

Each has `epochs`, a measurement of each epoch, and `total`. The energy is that of the machine on which the
first process of the training runs; other processes measure nothing. None of these libraries is
imported: a callback is of their class if the program imported them before it is made.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping, MutableMapping
from typing import Any

from wattle._log_to import Log, metrics
from wattle._log_to import log_to as _log_to
from wattle._measurement import Measurement
from wattle._windows import Windows

__all__ = ["HuggingFaceCallback", "KerasCallback", "LightningCallback"]


class _Callback:
    """What the three share: windows of the training, of its epochs, and between two logs."""

    # Where the library has its class for callbacks: (module, path within it).
    _bases: tuple[tuple[str, str], ...] = ()

    epochs: list[Measurement]
    """A measurement of each epoch that ended."""
    total: Measurement | None
    """The whole training; None before its end."""

    def __new__(cls, *args: Any, **kwargs: Any) -> Any:
        bases = tuple(dict.fromkeys(_found(cls._bases)))
        if not bases or issubclass(cls, bases):
            return super().__new__(cls)
        # The libraries ask for their class, which a program may import after this module.
        joined: Any = type(cls.__name__, (cls, *bases), {"__module__": cls.__module__, "_own": cls})
        return super().__new__(joined)

    def __init__(self, log_to: Any = None, *, prefix: str = "energy/", **options: Any) -> None:
        """log_to: as of `wattle.log_to`. options: as of `wattle.Windows`: domains, gpus, strict ..."""
        super().__init__()
        self.epochs = []
        self.total = None
        self._given: tuple[Any, str, dict[str, Any]] = (log_to, prefix, options)
        self._prefix = prefix
        self._log: Log | None = None if log_to is None else _log_to(log_to, prefix)
        self._windows = Windows(**options)

    def __reduce__(self) -> tuple[Any, ...]:
        # Other processes of the training get one of their own.
        log_to, prefix, options = self._given
        return _made, (getattr(self, "_own", type(self)), log_to, prefix, options)

    def _begin(self, key: str) -> None:
        self._windows.begin(key, restart=True)

    def _end(self, key: str) -> Measurement | None:
        return self._windows.end(key) if key in self._windows else None

    def _begin_training(self) -> None:
        self.epochs, self.total = [], None
        self._begin("train")

    def _end_training(self, step: int | None = None) -> Measurement | None:
        self.total = self._end("train")
        if self.total is not None and self._log is not None:
            named = metrics(self.total, f"{self._prefix}train/")
            self._log(named, step)
        return self.total

    def _end_epoch(self, step: int | None = None) -> Measurement | None:
        measurement = self._end("epoch")
        if measurement is not None:
            self.epochs.append(measurement)
            if self._log is not None:
                self._log(metrics(measurement, f"{self._prefix}epoch/"), step)
        return measurement


class HuggingFaceCallback(_Callback):
    """For `transformers.Trainer(callbacks=[...])`.

    With log_to it logs, at the steps of the training, the energy since the last log beside the loss
    ("energy/total_j" ...), that of each epoch ("energy/epoch/total_j" ...) and of the training
    ("energy/train/total_j" ...).
    """

    _bases = (("transformers", "TrainerCallback"),)

    def on_train_begin(self, args: Any, state: Any, control: Any, **kwargs: Any) -> None:
        if getattr(state, "is_world_process_zero", True):
            self._begin_training()
            self._begin("log")

    def on_epoch_begin(self, args: Any, state: Any, control: Any, **kwargs: Any) -> None:
        if "train" in self._windows:
            self._begin("epoch")

    def on_epoch_end(self, args: Any, state: Any, control: Any, **kwargs: Any) -> None:
        self._end_epoch(state.global_step)

    def on_log(self, args: Any, state: Any, control: Any, **kwargs: Any) -> None:
        measurement = self._end("log")
        if measurement is not None:
            self._begin("log")
            if self._log is not None:
                self._log(measurement, state.global_step)

    def on_train_end(self, args: Any, state: Any, control: Any, **kwargs: Any) -> None:
        self._end("log")
        self._end_training(state.global_step)

    def __getattr__(self, name: str) -> Any:
        # Without the library's class: the other events do nothing.
        if name.startswith("on_"):
            return _nothing
        raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")


class LightningCallback(_Callback):
    """For `lightning.Trainer(callbacks=[...])`.

    It logs to the loggers of the trainer: the energy of each epoch ("energy/epoch/total_j" ...) and
    of the training ("energy/train/total_j" ...); and to log_to, if that is given.
    """

    _bases = (
        ("lightning.pytorch", "Callback"),
        ("pytorch_lightning", "Callback"),
    )

    def on_train_start(self, trainer: Any, pl_module: Any) -> None:
        if getattr(trainer, "is_global_zero", True):
            self._begin_training()

    def on_train_epoch_start(self, trainer: Any, pl_module: Any) -> None:
        if "train" in self._windows:
            self._begin("epoch")

    def on_train_epoch_end(self, trainer: Any, pl_module: Any) -> None:
        self._show(trainer, "epoch", self._end_epoch(trainer.global_step))

    def on_train_end(self, trainer: Any, pl_module: Any) -> None:
        self._show(trainer, "train", self._end_training(trainer.global_step))

    def on_exception(self, trainer: Any, pl_module: Any, exception: BaseException) -> None:
        self._end_training(trainer.global_step)

    def _show(self, trainer: Any, part: str, measurement: Measurement | None) -> None:
        if measurement is not None:
            for logger in getattr(trainer, "loggers", ()):
                logger.log_metrics(metrics(measurement, f"{self._prefix}{part}/"), step=trainer.global_step)


class KerasCallback(_Callback):
    """For `model.fit(callbacks=[...])`.

    The energy of each epoch is in its logs ("energy/total_j" ...), and so in the history and in the
    callbacks after this one; and goes to log_to, if that is given, with the number of the epoch.
    """

    _bases = (
        ("keras", "callbacks.Callback"),
        ("tf_keras", "callbacks.Callback"),
    )

    def on_train_begin(self, logs: Mapping[str, Any] | None = None) -> None:
        self._begin_training()

    def on_epoch_begin(self, epoch: int, logs: Mapping[str, Any] | None = None) -> None:
        self._begin("epoch")

    def on_epoch_end(self, epoch: int, logs: MutableMapping[str, Any] | None = None) -> None:
        measurement = self._end_epoch(epoch)
        if measurement is not None and logs is not None:
            logs.update(metrics(measurement, self._prefix))

    def on_train_end(self, logs: Mapping[str, Any] | None = None) -> None:
        self._end_training()

    def __getattr__(self, name: str) -> Any:
        # Without the library's class: the other events do nothing.
        if name.startswith(("on_", "set_")):
            return _nothing
        raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")


def _nothing(*args: Any, **kwargs: Any) -> None:
    """An event that is not used."""


def _found(homes: tuple[tuple[str, str], ...]) -> list[type]:
    """The classes of the libraries that are imported."""
    classes: list[type] = []
    for module, path in homes:
        found: Any = sys.modules.get(module)
        for name in path.split("."):
            found = getattr(found, name, None)
        if isinstance(found, type):
            classes.append(found)
    return classes


def _made(cls: Any, log_to: Any, prefix: str, options: dict[str, Any]) -> Any:
    return cls(log_to, prefix=prefix, **options)

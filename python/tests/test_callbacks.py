# type: ignore
"""Callbacks of trainers and logs of runs, over small stand-ins of their documented hooks."""

import pickle
import sys
import time
import types

import pytest
import wattle
from wattle import callbacks


def work(tree, joules):
    time.sleep(0.03)
    for zone in ("intel-rapl:0", "intel-rapl:0:0", "intel-rapl:1"):
        tree.spend(zone, joules / 3)


class Run:
    """A run of wandb: `log(data, step=None, commit=None)`."""

    def __init__(self):
        self.logged = []

    def log(self, data, step=None, commit=None):
        self.logged.append((step, dict(data)))


# Hugging Face


class HuggingFaceTrainer:
    """Calls what `transformers.Trainer` calls, by the names of its events."""

    def __init__(self, tree, callback, is_first=True):
        self.tree, self.callback = tree, callback
        self.state = types.SimpleNamespace(global_step=0, is_world_process_zero=is_first)

    def call(self, event, **kwargs):
        getattr(self.callback, event)("args", self.state, "control", model=None, **kwargs)

    def train(self, epochs=2, steps=2):
        self.call("on_init_end")
        self.call("on_train_begin")
        for _ in range(epochs):
            self.call("on_epoch_begin")
            for _ in range(steps):
                self.call("on_step_begin")
                work(self.tree, 3.0)
                self.state.global_step += 1
                self.call("on_step_end")
                self.call("on_log", logs={"loss": 1.0})
            self.call("on_epoch_end")
        self.call("on_train_end")


def test_hugging_face_has_epochs_and_joules_beside_the_loss(tree):
    run = Run()
    callback = callbacks.HuggingFaceCallback(log_to=run)
    HuggingFaceTrainer(tree, callback).train()
    assert [m.total_j for m in callback.epochs] == pytest.approx([6.0, 6.0], abs=0.01)
    assert callback.total.total_j == pytest.approx(12.0, abs=0.01)
    between = [(step, logged["energy/total_j"]) for step, logged in run.logged if "energy/total_j" in logged]
    assert [step for step, _ in between] == [1, 2, 3, 4]
    assert [joules for _, joules in between] == pytest.approx([3.0] * 4, abs=0.01)
    assert [step for step, logged in run.logged if "energy/epoch/total_j" in logged] == [2, 4]
    assert run.logged[-1][1]["energy/train/total_j"] == pytest.approx(12.0, abs=0.01)


def test_other_processes_of_a_training_measure_nothing(tree):
    run = Run()
    callback = callbacks.HuggingFaceCallback(log_to=run)
    HuggingFaceTrainer(tree, callback, is_first=False).train()
    assert (callback.epochs, callback.total, run.logged) == ([], None, [])


def test_without_sensors_a_training_has_times(empty_tree):
    run = Run()
    callback = callbacks.HuggingFaceCallback(log_to=run)
    HuggingFaceTrainer(types.SimpleNamespace(spend=lambda *_: None), callback).train(1, 1)
    assert callback.total.total_j is None
    assert callback.total.missing
    names = {name for _, logged in run.logged for name in logged}
    assert "energy/seconds" in names and "energy/total_j" not in names


def test_a_second_training_starts_at_zero(tree):
    callback = callbacks.HuggingFaceCallback()
    for _ in range(2):
        HuggingFaceTrainer(tree, callback).train(1, 1)
    assert len(callback.epochs) == 1
    assert callback.total.total_j == pytest.approx(3.0, abs=0.01)


def test_a_callback_is_of_the_class_of_an_imported_library(monkeypatch):
    class TrainerCallback:
        def on_push_begin(self, args, state, control, **kwargs):
            return "theirs"

    monkeypatch.setitem(sys.modules, "transformers", types.SimpleNamespace(TrainerCallback=TrainerCallback))
    callback = callbacks.HuggingFaceCallback()
    assert isinstance(callback, TrainerCallback)
    assert isinstance(callback, callbacks.HuggingFaceCallback)
    assert callback.on_push_begin(1, 2, 3) == "theirs"

    class Own(callbacks.HuggingFaceCallback):
        pass

    assert isinstance(Own(), (Own, TrainerCallback))
    copy = pickle.loads(pickle.dumps(callback))
    assert isinstance(copy, TrainerCallback)
    assert copy.epochs == []


def test_an_attribute_that_is_no_event_is_absent():
    with pytest.raises(AttributeError):
        _ = callbacks.HuggingFaceCallback().nothing
    with pytest.raises(AttributeError):
        _ = callbacks.KerasCallback().nothing


# Lightning


class LightningLogger:
    def __init__(self):
        self.logged = []

    def log_metrics(self, metrics, step=None):
        self.logged.append((step, metrics))


def fit(tree, callback, fails=False):
    """What `lightning.Trainer.fit` calls."""
    logger = LightningLogger()
    trainer = types.SimpleNamespace(global_step=0, is_global_zero=True, loggers=[logger])
    callback.on_train_start(trainer, None)
    for _ in range(2):
        callback.on_train_epoch_start(trainer, None)
        work(tree, 3.0)
        trainer.global_step += 5
        if fails:
            callback.on_exception(trainer, None, RuntimeError())
            return logger
        callback.on_train_epoch_end(trainer, None)
    callback.on_train_end(trainer, None)
    return logger


def test_lightning_has_joules_in_its_loggers(tree, monkeypatch):
    callback_class = type("Callback", (), {"state_key": "theirs"})
    module = types.SimpleNamespace(Callback=callback_class)
    monkeypatch.setitem(sys.modules, "lightning.pytorch", module)
    callback = callbacks.LightningCallback(prefix="e/")
    assert isinstance(callback, callback_class)
    logger = fit(tree, callback)
    assert [step for step, _ in logger.logged] == [5, 10, 10]
    assert logger.logged[0][1]["e/epoch/total_j"] == pytest.approx(3.0, abs=0.01)
    assert logger.logged[2][1]["e/train/total_j"] == pytest.approx(6.0, abs=0.01)
    assert len(callback.epochs) == 2


def test_a_training_that_fails_has_a_total(tree):
    callback = callbacks.LightningCallback()
    fit(tree, callback, fails=True)
    assert callback.total.total_j == pytest.approx(3.0, abs=0.01)


# Keras


def test_keras_has_joules_in_the_logs_of_an_epoch(tree, monkeypatch):
    callback_class = type("Callback", (), {"set_model": lambda self, model: None})
    module = types.SimpleNamespace(callbacks=types.SimpleNamespace(Callback=callback_class))
    monkeypatch.setitem(sys.modules, "keras", module)
    run = Run()
    callback = callbacks.KerasCallback(log_to=run)
    assert isinstance(callback, callback_class)
    callback.set_model(None)
    callback.on_train_begin()
    history = []
    for epoch in range(2):
        logs = {"loss": 1.0}
        callback.on_epoch_begin(epoch)
        work(tree, 3.0)
        callback.on_epoch_end(epoch, logs)
        history.append(logs)
    callback.on_train_end({})
    assert [logs["energy/total_j"] for logs in history] == pytest.approx([3.0, 3.0], abs=0.01)
    assert history[0]["loss"] == 1.0
    assert callback.total.total_j == pytest.approx(6.0, abs=0.01)
    assert [step for step, _ in run.logged] == [0, 1, None]


def test_keras_events_that_are_not_used_do_nothing(tree):
    callback = callbacks.KerasCallback()
    callback.set_params({})
    callback.on_train_batch_begin(0, logs={})


# Runs


@pytest.fixture
def measured(tree):
    with wattle.measure("epoch", domains=["package_0", "package_7"]) as m:
        work(tree, 3.0)
    return m


def test_a_measurement_is_logged_without_what_is_unknown(measured):
    run = Run()
    logged = wattle.log_to(run)(measured, step=3)
    assert run.logged == [(3, logged)]
    assert logged["energy/total_j"] == measured.total_j
    assert logged["energy/package_0_j"] == pytest.approx(1.0, abs=0.01)
    assert "energy/package_7_j" not in logged
    assert None not in logged.values()


def test_mlflow_gets_metrics_with_a_step(measured):
    class Mlflow:
        def log_metrics(self, metrics, step=None, synchronous=None):
            self.got = metrics, step

        def log(self, *_):
            raise AssertionError

    mlflow = Mlflow()
    wattle.log_to(mlflow, prefix="p.")(measured, 7)
    metrics, step = mlflow.got
    assert step == 7
    assert metrics == wattle.metrics(measured, "p.")


def test_trackio_gets_a_dictionary_alone(measured):
    got = []
    trackio = types.SimpleNamespace(log=lambda metrics: got.append(metrics))
    wattle.log_to(trackio)(measured, step=7)
    assert got[0]["energy/total_j"] == measured.total_j


def test_dictionaries_are_logged_without_none_and_nan():
    run = Run()
    log = wattle.log_to(run)
    log({"a": 1, "b": None, "c": float("nan"), "d": "text"})
    log({"b": None})
    assert run.logged == [(None, {"a": 1, "d": "text"})]


def test_a_log_is_a_handler_and_a_function_is_a_run(tree):
    got = []
    with wattle.measure(handler=wattle.log_to(got.append)):
        work(tree, 3.0)
    assert got[0]["energy/total_j"] == pytest.approx(3.0, abs=0.01)


def test_what_cannot_be_logged_to_is_refused():
    for wrong in (None, 3, object(), types.SimpleNamespace(info=1)):
        with pytest.raises(TypeError, match="cannot log to"):
            wattle.log_to(wrong)


def test_nothing_of_the_libraries_is_imported(run_python):
    ended = run_python(
        """
        import sys, wattle.callbacks
        wattle.callbacks.KerasCallback(), wattle.log_to(print)
        names = "transformers torch lightning pytorch_lightning keras wandb mlflow trackio numpy"
        print([name for name in names.split() if name in sys.modules])
        """
    )
    assert ended.stdout == "[]\n"

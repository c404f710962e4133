# type: ignore
"""wattle.compat.zeus.device: energies and powers of GPUs and CPUs; and the parts of Zeus that are not available."""

import importlib
import os
import time

import pytest
from wattle.compat.zeus import device
from wattle.compat.zeus.callback import Callback, CallbackSet
from wattle.compat.zeus.device.cpu import (
    CpuDramMeasurement,
    ZeusCPUInitError,
    ZeusCPUNotFoundError,
)
from wattle.compat.zeus.device.exception import ZeusBaseCPUError, ZeusBaseGPUError
from wattle.compat.zeus.device.gpu import (
    ZeusGPUInitError,
    ZeusGPUNotFoundError,
    ZeusGPUNotSupportedError,
)


@pytest.fixture
def two_gpus(tree, gpus):
    """The second one reports no power of its memory."""
    gpus.write_text(
        "gpu NVIDIA H100 PCIe\npower step 0 100\nmemory_power step 0 20\n"
        "gpu NVIDIA H100 PCIe\nuuid GPU-b\npower step 0 250\n"
    )


def test_gpus_have_power_in_milliwatts(two_gpus):
    gpus = device.get_gpus()
    assert len(gpus) == 2
    assert gpus.get_instant_power_usage(0) == 100_000
    assert gpus.gpus[1].get_instant_power_usage() == 250_000
    assert gpus.get_average_memory_power_usage(0) == 20_000
    with pytest.raises(ZeusGPUNotSupportedError, match="GPU 1"):
        gpus.get_average_memory_power_usage(1)


def test_gpus_have_energy_in_millijoules_that_grows(two_gpus):
    gpus = device.get_gpus()
    assert gpus.supports_get_total_energy_consumption(0)
    first, start = gpus.get_total_energy_consumption(1), time.monotonic()
    time.sleep(0.5)
    last, end = gpus.get_total_energy_consumption(1), time.monotonic()
    assert isinstance(last, int)
    assert (last - first) / 1e3 == pytest.approx(250 * (end - start), abs=0.3 * 250)
    assert gpus.getTotalEnergyConsumption(1) >= last


def test_gpus_are_those_that_are_visible(two_gpus, monkeypatch):
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "1")
    gpus = device.get_gpus()
    assert len(gpus) == 1
    assert gpus.get_instant_power_usage(0) == 250_000
    with pytest.raises(ZeusGPUNotFoundError, match="no GPU 1"):
        gpus.get_instant_power_usage(1)


def test_devices_are_the_same_at_every_call(two_gpus):
    assert device.get_gpus() is device.get_gpus()
    assert device.get_cpus() is device.get_cpus()


def test_a_forked_child_has_devices_of_its_own(two_gpus):
    before = device.get_cpus()
    child = os.fork()
    if child == 0:
        own = device.get_cpus()
        is_good = own is not before and own.get_total_energy_consumption(0).cpu_mj >= 0
        os._exit(0 if is_good else 1)
    assert os.waitpid(child, 0)[1] == 0


def test_cpus_have_energy_of_packages_and_memory(tree):
    cpus = device.get_cpus()
    assert len(cpus) == 2
    assert [cpus.supports_get_dram_energy_consumption(index) for index in (0, 1)] == [True, False]
    before = [cpu.get_total_energy_consumption() for cpu in cpus.cpus]
    time.sleep(0.05)
    tree.spend("intel-rapl:0", 3.0)
    tree.spend("intel-rapl:0:0", 2.0)
    tree.spend("intel-rapl:1", 1.0)
    used = [cpu.get_total_energy_consumption() - start for cpu, start in zip(cpus.cpus, before)]
    assert used[0].cpu_mj == pytest.approx(3000, abs=0.1)
    assert used[0].dram_mj == pytest.approx(2000, abs=0.1)
    assert used[1] == CpuDramMeasurement(pytest.approx(1000, abs=0.1), None)
    assert used[0] / 2 == CpuDramMeasurement(used[0].cpu_mj / 2, used[0].dram_mj / 2)
    with pytest.raises(ZeusCPUNotFoundError):
        cpus.get_total_energy_consumption(2)


def test_without_devices_there_is_a_reason(empty_tree):
    with pytest.raises(ZeusGPUInitError, match="wattle doctor") as gpu:
        device.get_gpus()
    with pytest.raises(ZeusCPUInitError, match="wattle doctor") as cpu:
        device.get_cpus()
    assert isinstance(gpu.value, ZeusBaseGPUError)
    assert isinstance(cpu.value, ZeusBaseCPUError)


@pytest.mark.parametrize(
    ("name", "arguments"),
    [
        ("set_power_management_limit", (0, 100_000)),
        ("reset_power_management_limit", (0,)),
        ("set_persistence_mode", (0, True)),
        ("set_gpu_locked_clocks", (0, 100, 200)),
        ("reset_gpu_locked_clocks", (0,)),
        ("set_memory_locked_clocks", (0, 100, 200)),
        ("reset_memory_locked_clocks", (0,)),
    ],
)
def test_what_sets_a_gpu_names_the_client_that_can(two_gpus, name, arguments):
    with pytest.raises(NotImplementedError, match="ZeusdClient"):
        getattr(device.get_gpus(), name)(*arguments)


@pytest.mark.parametrize(
    ("module", "name"),
    [
        ("optimizer.power_limit", "GlobalPowerLimitOptimizer"),
        ("optimizer.power_limit", "HFGlobalPowerLimitOptimizer"),
        ("optimizer.batch_size", "BatchSizeOptimizer"),
        ("optimizer.pipeline_frequency", "PipelineFrequencyOptimizer"),
        ("monitor.temperature", "TemperatureMonitor"),
        ("monitor.carbon", "CarbonEmissionMonitor"),
        ("monitor.price", "EnergyCostMonitor"),
        ("metric", "EnergyHistogram"),
        ("metric", "EnergyCumulativeCounter"),
        ("metric", "PowerGauge"),
    ],
)
def test_what_is_not_available_says_why(module, name):
    found = getattr(importlib.import_module(f"wattle.compat.zeus.{module}"), name)
    with pytest.raises(NotImplementedError, match=rf"zeus\.{module}\.{name}: .*(Wattle|wattle)"):
        found(object(), any_name=1)


def test_callbacks_are_called_in_their_order():
    calls = []

    class Kept(Callback):
        def __init__(self, name):
            self.name = name

        def on_epoch_begin(self):
            calls.append((self.name, "epoch"))

        def on_evaluate(self, metric):
            calls.append((self.name, metric))

    callbacks = CallbackSet([Kept("a"), Kept("b")])
    for hook in ("train_begin", "epoch_begin", "step_begin", "step_end", "epoch_end", "train_end"):
        getattr(callbacks, f"on_{hook}")()
    callbacks.on_evaluate(0.5)
    callbacks.on_instruction_begin("forward")
    callbacks.on_instruction_end("forward")
    assert calls == [("a", "epoch"), ("b", "epoch"), ("a", 0.5), ("b", 0.5)]

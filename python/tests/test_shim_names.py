# type: ignore
"""Each name that users of the originals type, by the original import line: arguments, defaults, order."""

import dataclasses
import importlib
import inspect
import subprocess
import sys
import textwrap

import pytest
from wattle import shim

shim.install()


def signature(function):
    """As in the source, without types."""

    def shown(parameter):
        default = parameter.default
        if default is inspect.Parameter.empty:
            return parameter.replace(annotation=inspect.Parameter.empty)
        if not isinstance(default, (int, float, str, tuple, list, dict, type(None))):
            default = f"object of {type(default).__name__}"
        return parameter.replace(annotation=inspect.Parameter.empty, default=default)

    found = inspect.signature(function)
    parameters = [shown(one) for one in found.parameters.values() if one.name != "self"]
    return str(found.replace(parameters=parameters, return_annotation=inspect.Signature.empty))


def get(module, path):
    found = importlib.import_module(module)
    for name in path.split("."):
        found = getattr(found, name)
    return found


METER = "pyJoules.energy_meter"
TRACE = "pyJoules.energy_trace"
RAPL = "pyJoules.device.rapl_device"
POWER = "zeus.monitor.power"
ENERGY = "zeus.monitor.energy"
ZEUSD = "zeus.utils.zeusd"
STREAMING = "zeus.monitor.power_streaming"

SIGNATURES = [
    # None: a PrintHandler, which is made by the call, not by the import.
    (METER, "measure_energy", "(func=None, handler=None, domains=None)"),
    (METER, "EnergyContext", "(handler=None, domains=None, start_tag='start')"),
    (METER, "EnergyMeter", "(devices, default_tag='')"),
    (METER, "EnergyMeter.start", "(tag=None)"),
    (METER, "EnergyMeter.record", "(tag=None)"),
    (METER, "EnergyMeter.resume", "(tag=None)"),
    (METER, "EnergyMeter.stop", "()"),
    (METER, "EnergyMeter.get_trace", "()"),
    (METER, "EnergyMeter.gen_idle", "(trace)"),
    (TRACE, "EnergyTrace", "(samples)"),
    (TRACE, "EnergyTrace.append", "(sample)"),
    (TRACE, "EnergyTrace.remove_idle", "(idle)"),
    (TRACE, "EnergySample", "(timestamp, tag, duration, energy)"),
    ("pyJoules.device", "DeviceFactory.create_devices", "(domains=None)"),
    ("pyJoules.device.device_factory", "DeviceFactory.create_devices", "(domains=None)"),
    ("pyJoules.device", "Device.configure", "(domains=None)"),
    ("pyJoules.device", "Device.get_configured_domains", "()"),
    ("pyJoules.device", "Device.get_energy", "()"),
    (RAPL, "RaplDevice.available_domains", "()"),
    (RAPL, "RaplDevice.available_package_domains", "()"),
    (RAPL, "RaplDevice.available_dram_domains", "()"),
    (RAPL, "RaplDevice.available_core_domains", "()"),
    (RAPL, "RaplDevice.available_uncore_domains", "()"),
    (RAPL, "RaplDevice.available_psys_domains", "()"),
    ("pyJoules.device.nvidia_device", "NvidiaGPUDevice", "()"),
    ("pyJoules.handler", "EnergyHandler.process", "(trace)"),
    ("pyJoules.handler.print_handler", "PrintHandler", "()"),
    ("pyJoules.handler.csv_handler", "CSVHandler", "(filename)"),
    ("pyJoules.handler.csv_handler", "CSVHandler.save_data", "()"),
    ("pyJoules.handler.pandas_handler", "PandasHandler", "()"),
    ("pyJoules.handler.pandas_handler", "PandasHandler.get_dataframe", "()"),
    (
        "pyJoules.handler.mongo_handler",
        "MongoHandler",
        "(uri, database_name, collection_name, connected_timeout=30000, trace_name_prefix='trace_')",
    ),
    ("pyJoules.exception", "NoSuchDomainError", "(domain_name)"),
    (POWER, "PowerSample", "(timestamp, gpu_index, power_mw)"),
    (
        POWER,
        "PowerMonitor",
        (
            "(gpu_indices=None, update_period=None, max_samples_per_gpu=None, power_domains=None, *, "
            "cpu_indices=None, gpu_update_period=None, cpu_update_period=0.1, max_samples_per_cpu=None, "
            "gpu_power_domains=None, cpu_power_domains=None)"
        ),
    ),
    (POWER, "PowerMonitor.stop", "()"),
    (
        POWER,
        "PowerMonitor.get_power_timeline",
        (
            "(power_domain=None, gpu_index=None, start_time=None, end_time=None, *, "
            "gpu_power_domain=None, cpu_power_domain=None, cpu_index=None)"
        ),
    ),
    (
        POWER,
        "PowerMonitor.get_all_power_timelines",
        "(gpu_index=None, start_time=None, end_time=None, *, cpu_index=None)",
    ),
    (POWER, "PowerMonitor.get_energy", "(start_time, end_time, power_domain=None)"),
    (POWER, "PowerMonitor.get_power", "(time=None, power_domain=None)"),
    (POWER, "infer_counter_update_period", "(gpu_indicies)"),
    (POWER, "infer_gpu_counter_update_period", "(gpu_indicies)"),
    (
        ENERGY,
        "ZeusMonitor",
        (
            "(gpu_indices=None, cpu_indices=None, approx_instant_energy=False, log_file=None, "
            "sync_execution_with='torch')"
        ),
    ),
    (ENERGY, "ZeusMonitor.begin_window", "(key, sync_execution=True, restart=False)"),
    (ENERGY, "ZeusMonitor.end_window", "(key, sync_execution=True, cancel=False)"),
    ("zeus.device", "get_gpus", "(ensure_homogeneous=False)"),
    ("zeus.device", "get_cpus", "()"),
    (ENERGY, "Measurement", "(time, gpu_energy, cpu_energy=None, dram_energy=None, soc_energy=None)"),
    (ZEUSD, "ZeusdConfig.tcp", "(host, port, *, token=None, gpu_indices=None, cpu_indices=None)"),
    (ZEUSD, "ZeusdConfig.uds", "(socket_path, *, token=None, gpu_indices=None, cpu_indices=None)"),
    (ZEUSD, "ZeusdConfig.from_env", "()"),
    (ZEUSD, "ZeusdClient", "(config=None)"),
    (ZEUSD, "ZeusdClient.get_gpu_power", "(gpu_ids=None)"),
    (ZEUSD, "ZeusdClient.get_cpu_energy", "(cpu_ids=None, cpu=True, dram=True)"),
    (ZEUSD, "ZeusdClient.set_power_limit", "(gpu_ids, power_limit_mw, block=True)"),
    (
        ZEUSD,
        "require_capabilities",
        (
            "(client, *, read_gpu=False, control_gpu=False, read_cpu=False, control_cpu=False, "
            "gpu_ids=None, cpu_ids=None)"
        ),
    ),
    (STREAMING, "PowerStreamingClient", "(servers, reconnect_delay_s=1.0)"),
    (STREAMING, "PowerStreamingClient.get_power", "()"),
    (STREAMING, "PowerStreamingClient.stop", "()"),
    (STREAMING, "CpuPowerReading", "(cpu_w=0.0, dram_w=None)"),
    (
        "gpu_tracker",
        "Tracker",
        (
            "(sleep_time=1.0, ram_unit='gigabytes', gpu_ram_unit='gigabytes', time_unit='hours', "
            "n_expected_cores=None, gpu_uuids=None, disable_logs=False, process_id=None, "
            "resource_usage_file=None, n_join_attempts=5, join_timeout=10.0, gpu_brand=None, "
            "tracking_file=None, overwrite=False)"
        ),
    ),
    ("gpu_tracker", "Tracker.start", "()"),
    ("gpu_tracker", "Tracker.stop", "()"),
    ("gpu_tracker", "Tracker.to_json", "()"),
    ("codecarbon", "EmissionsTracker.start", "()"),
    ("codecarbon", "EmissionsTracker.stop", "()"),
    ("codecarbon", "EmissionsTracker.start_task", "(task_name=None)"),
    ("codecarbon", "EmissionsTracker.stop_task", "(task_name=None)"),
]


@pytest.mark.parametrize(("module", "name", "expected"), SIGNATURES, ids=lambda text: text.split("(")[0])
def test_arguments_are_those_of_the_original(module, name, expected):
    if module == STREAMING:
        pytest.importorskip("wattle.stream")
    assert signature(get(module, name)) == expected


NAMES = {
    "pyJoules.exception": "PyJoulesException NoSuchDomainError NoSuchDeviceError "
    "EnergyMeterNotStartedError EnergyMeterNotStoppedError NoNextStateException StateIsNotFinalError "
    "SampleNotFoundError UnconsistantSamplesError NoSampleProcessedError MongoInitError "
    "NotConfiguredDeviceException",
    METER: "EnergyMeterNotStartedError EnergyMeterNotStoppedError NoNextStateException StateIsNotFinalError",
    RAPL: "RaplPackageDomain RaplDramDomain RaplCoreDomain RaplUncoreDomain RaplPsysDomain RaplDevice",
    "pyJoules.device.nvidia_device": "NvidiaGPUDevice NvidiaGPUDomain GPUDoesNotSupportEnergyMonitoringError",
    "pyJoules.device": "Device Domain DeviceFactory NotConfiguredDeviceException",
    "pyJoules.handler": "EnergyHandler PrintHandler UnconsistantSamplesError",
    "pyJoules.handler.csv_handler": "CSVHandler EnergyHandler NoSampleProcessedError UnconsistantSamplesError",
    "pyJoules.handler.mongo_handler": "MongoHandler MongoInitError EnergyHandler UnconsistantSamplesError",
    "pyJoules.handler.pandas_handler": "PandasHandler NoSampleProcessedError EnergyHandler UnconsistantSamplesError",
    "zeus.monitor": "ZeusMonitor PowerMonitor PowerDomain PowerSample Measurement GPUPowerDomain CPUPowerDomain",
    POWER: "GPUPowerDomain GPUPowerSample CPUPowerDomain CPUPowerSample",
    ZEUSD: "ZeusdConfig ZeusdConnectionError ZeusdCapabilityError ZeusdAuthError ZeusdClient GpuInfo CpuInfo "
    "GpuPowerSnapshot CpuDramPower CpuPowerSnapshot CpuEnergyResult PowerLimitConstraint ZonePowerLimits "
    "CpuDramPowerLimits RaplPowerInfo HsmpPowerInfo CpuPowerLimitConstraints",
    "zeus.exception": "ZeusBaseError",
    "zeus.device.exception": "ZeusdError ZeusBaseGPUError ZeusBaseCPUError",
    "zeus.device.gpu": "GPUs GPU get_gpus ZeusGPUInitError ZeusGPUNotSupportedError",
    "zeus.device.cpu": "CPUs CPU get_cpus CpuDramMeasurement ZeusCPUInitError",
    "zeus.callback": "Callback CallbackSet",
    "zeus.optimizer.power_limit": "GlobalPowerLimitOptimizer HFGlobalPowerLimitOptimizer",
    "zeus.optimizer.batch_size": "BatchSizeOptimizer",
    "zeus.optimizer.pipeline_frequency": "PipelineFrequencyOptimizer",
    "zeus.monitor.temperature": "TemperatureMonitor",
    "zeus.monitor.carbon": "CarbonEmissionMonitor",
    "zeus.monitor.price": "EnergyCostMonitor",
    "zeus.metric": "EnergyHistogram EnergyCumulativeCounter PowerGauge",
    "gpu_tracker.tracker": "Tracker",
    "gpu_tracker.sub_tracker": "SubTracker sub_track SubTrackingAnalyzer TrackingComparison",
    "gpu_tracker": "Tracker SubTracker sub_track SubTrackingAnalyzer TrackingComparison RSSValues MaxRAM "
    "MaxGPURAM ProcessingUnitPercentages CPUUtilization GPUUtilization ComputeTime ResourceUsage",
    "codecarbon": "EmissionsTracker OfflineEmissionsTracker track_emissions __version__",
    "codecarbon.emissions_tracker": "EmissionsTracker OfflineEmissionsTracker track_emissions",
    "codecarbon.output": "EmissionsData",
}


@pytest.mark.parametrize("module", NAMES)
def test_names_are_where_the_original_has_them(module):
    for name in NAMES[module].split():
        assert get(module, name) is not None


@pytest.mark.parametrize(
    ("module", "name"),
    [
        ("zeus.device", "get_soc"),
        ("codecarbon", "init_telemetry"),
        ("codecarbon", "set_telemetry"),
    ],
)
def test_what_cannot_be_had_says_why(module, name):
    with pytest.raises(NotImplementedError, match="Wattle"):
        get(module, name)()


def test_power_domains_have_their_values():
    domains = get(POWER, "PowerDomain")
    assert [one.value for one in domains] == ["device_instant", "device_average", "memory_average"]


def test_states_of_a_tracker_have_their_values():
    state = get("gpu_tracker", "Tracker.State")
    assert {one.name: one.value for one in state} == {"NEW": 0, "STARTED": 1, "STOPPED": 2}


@pytest.mark.parametrize(
    ("name", "fields"),
    [
        ("RSSValues", "total_rss private_rss shared_rss"),
        ("MaxRAM", "unit system_capacity system main descendants combined"),
        ("MaxGPURAM", "unit system_capacity system main descendants combined"),
        (
            "ProcessingUnitPercentages",
            "max_sum_percent max_hardware_percent mean_sum_percent mean_hardware_percent",
        ),
        (
            "CPUUtilization",
            (
                "system_core_count n_expected_cores system main descendants combined main_n_threads "
                "descendants_n_threads combined_n_threads"
            ),
        ),
        ("GPUUtilization", "system_gpu_count n_expected_gpus gpu_percentages"),
        ("ComputeTime", "unit time"),
        ("ResourceUsage", "max_ram max_gpu_ram cpu_utilization gpu_utilization compute_time"),
    ],
)
def test_groups_of_a_tracker_have_their_fields(name, fields):
    assert [one.name for one in dataclasses.fields(get("gpu_tracker", name))] == fields.split()


def test_exceptions_of_pyjoules_are_related_as_there():
    base = get("pyJoules.exception", "PyJoulesException")
    for name in NAMES["pyJoules.exception"].split():
        outside = name in ("UnconsistantSamplesError", "NoSampleProcessedError", "MongoInitError")
        assert issubclass(get("pyJoules.exception", name), base) != outside
    error = get("pyJoules.exception", "NoSuchDomainError")("package_9")
    assert error.domain_name == "package_9"


def test_a_config_of_a_daemon_cannot_be_changed():
    config = get(ZEUSD, "ZeusdConfig").tcp("node1", 4938, gpu_indices=[0])
    assert (config.endpoint, config.gpu_indices) == ("node1:4938", [0])
    with pytest.raises(dataclasses.FrozenInstanceError):
        config.token = "x"
    with pytest.raises(ValueError, match="needs an address"):
        print(get(ZEUSD, "ZeusdConfig")().endpoint)


def test_a_module_of_an_original_is_the_module_of_ours():
    assert get(METER, "EnergyMeter") is importlib.import_module("wattle.compat.pyjoules.energy_meter").EnergyMeter
    assert importlib.import_module(METER).__name__ == "wattle.compat.pyjoules.energy_meter"


def test_tests_of_an_original_run_over_the_shim(tree, tmp_path):
    """As its users have them: with pytest, fixtures, and patches of the original's modules."""
    path = tmp_path / "test_theirs.py"
    path.write_text(
        textwrap.dedent(
            """
            from unittest.mock import patch
            import pyJoules.energy_meter
            from pyJoules.device import Device, Domain
            from pyJoules.energy_meter import EnergyMeter

            class Wall(Domain):
                def __repr__(self): return "wall"
                def get_device_type(self): return Meter

            class Meter(Device):
                @staticmethod
                def available_domains(): return [Wall()]
                def get_energy(self): return [next(self.values)]

            @patch("pyJoules.energy_meter.time.time", side_effect=[1.0, 3.0])
            def test_times_are_those_of_the_clock(clock):
                device = Meter()
                device.configure()
                device.values = iter((10.0, 25.0))
                meter = EnergyMeter([device], default_tag="all")
                meter.start()
                meter.stop()
                (sample,) = meter.get_trace()
                assert (sample.timestamp, sample.duration, sample.energy) == (1.0, 2.0, {"wall": 15.0})

            def test_modules_are_the_same():
                import wattle.compat.pyjoules.energy_meter as ours
                assert pyJoules.energy_meter is ours
            """
        )
    )
    words = ["-m", "wattle.shim", "-m", "pytest", "-q", "-p", "no:cacheprovider", path]
    ended = subprocess.run(
        [sys.executable, "-B", *words], capture_output=True, text=True, timeout=60, check=False
    )
    assert ended.returncode == 0, ended.stdout + ended.stderr
    assert "2 passed" in ended.stdout

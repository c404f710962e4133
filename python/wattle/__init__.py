# mypy: no-implicit-reexport
"""Energy, power and use of machines, in Python.

    with wattle.measure("epoch") as m:
        train()
    print(m)  # 1.23 kJ ± 0.04 (package_0, dram_0, nvidia_gpu_0)

What is not known is None, and `missing` has the reason. docs/python.md has the rest.
"""

TYPE_CHECKING = False
if TYPE_CHECKING:
    from wattle._core import (  # pyright: ignore[reportMissingModuleSource]
        BestEnergy,
        Energy,
        EnergySample,
        HardwareFiles,
        PowerSample,
        Refusal,
        ResourceSummary,
        ResourceUsage,
        RunLog,
        System,
        Timeline,
        build_resource_summary,
        infer_update_period,
        recover_usage,
    )
    from wattle._domain import Domain, domains
    from wattle._errors import (
        AuthError,
        CapabilityError,
        ConnectionError,
        Error,
        FormatError,
        InconsistentSamples,
        InvalidArgument,
        InvalidState,
        NoSampleProcessed,
        NoSuchDevice,
        NoSuchDomain,
        NoSuchSample,
        NotStarted,
        NotStopped,
        PermissionDenied,
        WriteError,
    )
    from wattle._jupyter import load_ipython_extension, unload_ipython_extension
    from wattle._log_to import log_to, metrics
    from wattle._mark import Phase, end_mark, mark, run_energy
    from wattle._measure import Measure, measure
    from wattle._measurement import EnergyRange, Estimate, Measurement
    from wattle._meter import Counter, EnergyMeter, EnergySource, Gauge
    from wattle._power import PowerMonitor, to_numpy, to_pandas
    from wattle._run import Report, doctor, run, sensors
    from wattle._run_monitor import HardwareMonitor, summarize
    from wattle._trace import (
        CsvHandler,
        EnergyHandler,
        EnergyTrace,
        PandasHandler,
        PrintHandler,
    )
    from wattle._tracker import Tracker
    from wattle._units import Unit, Units, unit, unit_report
    from wattle._windows import Windows

    __version__: str

__all__ = [
    "AuthError",
    "BestEnergy",
    "CapabilityError",
    "ConnectionError",
    "Counter",
    "CsvHandler",
    "Domain",
    "Energy",
    "EnergyHandler",
    "EnergyMeter",
    "EnergyRange",
    "EnergySample",
    "EnergySource",
    "EnergyTrace",
    "Error",
    "Estimate",
    "FormatError",
    "Gauge",
    "HardwareFiles",
    "HardwareMonitor",
    "InconsistentSamples",
    "InvalidArgument",
    "InvalidState",
    "Measure",
    "Measurement",
    "NoSampleProcessed",
    "NoSuchDevice",
    "NoSuchDomain",
    "NoSuchSample",
    "NotStarted",
    "NotStopped",
    "PandasHandler",
    "PermissionDenied",
    "Phase",
    "PowerMonitor",
    "PowerSample",
    "PrintHandler",
    "Refusal",
    "Report",
    "ResourceSummary",
    "ResourceUsage",
    "RunLog",
    "System",
    "Timeline",
    "Tracker",
    "Unit",
    "Units",
    "Windows",
    "WriteError",
    "build_resource_summary",
    "doctor",
    "domains",
    "end_mark",
    "infer_update_period",
    "load_ipython_extension",
    "log_to",
    "mark",
    "measure",
    "metrics",
    "recover_usage",
    "run",
    "run_energy",
    "sensors",
    "summarize",
    "to_numpy",
    "to_pandas",
    "unit",
    "unit_report",
    "unload_ipython_extension",
]

# The module of each name: nothing is imported before it is used.
_HOMES = {
    "_core": (
        "BestEnergy Energy EnergySample HardwareFiles PowerSample Refusal ResourceSummary "
        "ResourceUsage RunLog System Timeline build_resource_summary infer_update_period "
        "recover_usage"
    ),
    "_domain": "Domain domains",
    "_errors": (
        "AuthError CapabilityError ConnectionError Error FormatError InconsistentSamples "
        "InvalidArgument InvalidState NoSampleProcessed NoSuchDevice NoSuchDomain "
        "NoSuchSample NotStarted NotStopped PermissionDenied WriteError"
    ),
    "_jupyter": "load_ipython_extension unload_ipython_extension",
    "_log_to": "log_to metrics",
    "_mark": "Phase end_mark mark run_energy",
    "_measure": "Measure measure",
    "_measurement": "EnergyRange Estimate Measurement",
    "_meter": "Counter EnergyMeter EnergySource Gauge",
    "_power": "PowerMonitor to_numpy to_pandas",
    "_run": "Report doctor run sensors",
    "_run_monitor": "HardwareMonitor summarize",
    "_trace": "CsvHandler EnergyHandler EnergyTrace PandasHandler PrintHandler",
    "_tracker": "Tracker",
    "_units": "Unit Units unit unit_report",
    "_windows": "Windows",
}
_HOME = {name: module for module, names in _HOMES.items() for name in names.split()}


def __getattr__(name: str) -> object:
    if name == "__version__":
        from wattle._library import core

        value: object = core.version()
    elif name in _HOME:
        # The library is ready then, also if a type of it is all that is used. `importlib` itself
        # takes half a millisecond.
        __import__("wattle._library")
        home = __import__(f"wattle.{_HOME[name]}", fromlist=(name,))
        value = getattr(home, name)
    else:
        raise AttributeError(f"module 'wattle' has no attribute {name!r}")
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__, "__version__"})

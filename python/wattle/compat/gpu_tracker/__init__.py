# mypy: no-implicit-reexport
"""gpu_tracker's names: `Tracker`, `SubTracker`, `sub_track`, and the analysis of their files.

What is unknown is None. GPU memory is in true megabytes (the original reads MiB as MB).
"""

from wattle.compat.gpu_tracker.sub_tracker import (
    CodeBlockResults,
    ComparisonResults,
    SubTracker,
    SubTrackingAnalyzer,
    SubTrackingResults,
    TrackingComparison,
    sub_track,
)
from wattle.compat.gpu_tracker.tracker import (
    ComputeTime,
    CPUUtilization,
    GPUUtilization,
    MaxGPURAM,
    MaxRAM,
    ProcessingUnitPercentages,
    ResourceUsage,
    RSSValues,
    Tracker,
)

__all__ = [
    "CPUUtilization",
    "CodeBlockResults",
    "ComparisonResults",
    "ComputeTime",
    "GPUUtilization",
    "MaxGPURAM",
    "MaxRAM",
    "ProcessingUnitPercentages",
    "RSSValues",
    "ResourceUsage",
    "SubTracker",
    "SubTrackingAnalyzer",
    "SubTrackingResults",
    "Tracker",
    "TrackingComparison",
    "sub_track",
]

# mypy: no-implicit-reexport
"""What takes the traces."""

from wattle.compat.pyjoules.exception import (
    NoSampleProcessedError,
    UnconsistantSamplesError,
)
from wattle.compat.pyjoules.handler.handler import EnergyHandler
from wattle.compat.pyjoules.handler.print_handler import PrintHandler

__all__ = ["EnergyHandler", "NoSampleProcessedError", "PrintHandler", "UnconsistantSamplesError"]

# mypy: no-implicit-reexport
"""Writes traces to a MongoDB collection; needs the package pymongo."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from wattle._library import optional
from wattle.compat.pyjoules.energy_trace import EnergySample
from wattle.compat.pyjoules.exception import MongoInitError, UnconsistantSamplesError
from wattle.compat.pyjoules.handler.handler import EnergyHandler

__all__ = [
    "EnergyHandler",
    "MongoHandler",
    "MongoInitError",
    "UnconsistantSamplesError",
    "trace_to_dict",
]


pymongo: Any = None
"""Instead of the package pymongo: for tests, which may put a stand-in here."""


def trace_to_dict(trace: Iterable[EnergySample], trace_name: str) -> dict[str, Any]:
    """The document of a trace."""
    return {
        "name": trace_name,
        "trace": [
            {
                "timestamp": sample.timestamp,
                "tag": sample.tag,
                "duration": sample.duration,
                "energy": sample.energy,
            }
            for sample in trace
        ],
    }


class MongoHandler(EnergyHandler):
    """Keeps traces until `save_data` inserts a document for each. Raises `MongoInitError`."""

    def __init__(
        self,
        uri: str,
        database_name: str,
        collection_name: str,
        connected_timeout: int = 30000,
        trace_name_prefix: str = "trace_",
    ) -> None:
        super().__init__()
        self.trace_name_prefix = trace_name_prefix
        self._count = 0
        try:
            client = (pymongo or optional("pymongo")).MongoClient(
                uri, serverSelectionTimeoutMS=connected_timeout
            )
            client.server_info()
            self.collection = client[database_name][collection_name]
        except Exception as error:
            raise MongoInitError(f"cannot open the database: {error}") from error

    def save_data(self) -> None:
        """Inserts a document for each trace, and forgets them."""
        if not self.traces:
            return
        self.collection.insert_many(
            [
                trace_to_dict(trace, f"{self.trace_name_prefix}{self._count + i}")
                for i, trace in enumerate(self.traces)
            ]
        )
        self._count += len(self.traces)
        self.traces = []

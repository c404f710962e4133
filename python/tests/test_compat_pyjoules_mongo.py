# type: ignore
"""wattle.compat.pyjoules: the handler for MongoDB, with a stand-in for the documented calls of pymongo."""

import sys
import types
from unittest.mock import MagicMock, patch

import pytest
from wattle.compat.pyjoules.energy_trace import EnergySample, EnergyTrace
from wattle.compat.pyjoules.exception import MongoInitError
from wattle.compat.pyjoules.handler import mongo_handler
from wattle.compat.pyjoules.handler.mongo_handler import MongoHandler


@pytest.fixture
def client(monkeypatch):
    """The client that the driver makes."""
    driver = types.ModuleType("pymongo")
    driver.MongoClient = MagicMock()
    monkeypatch.setitem(sys.modules, "pymongo", driver)
    made = driver.MongoClient.return_value
    made.make = driver.MongoClient
    return made


def trace(*energies):
    return EnergyTrace(
        [EnergySample(float(i), f"tag{i}", 1.5, {"package_0": energy}) for i, energy in enumerate(energies)]
    )


def documents(client):
    """What was inserted, call by call."""
    collection = client["db"]["energy"]
    return [call.args[0] for call in collection.insert_many.call_args_list]


def test_a_document_has_the_samples_of_a_trace(client):
    handler = MongoHandler("mongodb://there", "db", "energy")
    handler.process(trace(3.0, None))
    assert documents(client) == []
    handler.save_data()
    assert documents(client) == [
        [
            {
                "name": "trace_0",
                "trace": [
                    {"timestamp": 0.0, "tag": "tag0", "duration": 1.5, "energy": {"package_0": 3.0}},
                    {"timestamp": 1.0, "tag": "tag1", "duration": 1.5, "energy": {"package_0": None}},
                ],
            }
        ]
    ]


def test_names_go_on_after_the_data_are_saved(client):
    handler = MongoHandler("mongodb://there", "db", "energy", trace_name_prefix="run_")
    for _ in range(2):
        handler.process(trace(1.0))
        handler.process(trace(2.0))
        handler.save_data()
    names = [[one["name"] for one in saved] for saved in documents(client)]
    assert names == [["run_0", "run_1"], ["run_2", "run_3"]]
    assert handler.traces == []


def test_nothing_is_inserted_if_nothing_was_processed(client):
    MongoHandler("mongodb://there", "db", "energy").save_data()
    assert documents(client) == []


def test_the_server_is_asked_at_once_for_as_long_as_is_given(client):
    MongoHandler("mongodb://there", "db", "energy", connected_timeout=50)
    client.make.assert_called_once_with("mongodb://there", serverSelectionTimeoutMS=50)
    client.server_info.assert_called_once_with()


@pytest.mark.parametrize("failing", ["make", "server_info"])
def test_a_server_that_cannot_be_reached_is_an_error(client, failing):
    getattr(client, failing).side_effect = TimeoutError("nobody answers")
    with pytest.raises(MongoInitError, match="nobody answers"):
        MongoHandler("mongodb://there", "db", "energy")


def test_traces_are_kept_if_they_cannot_be_saved(client):
    handler = MongoHandler("mongodb://there", "db", "energy")
    handler.process(trace(1.0))
    collection = client["db"]["energy"]
    collection.insert_many.side_effect = OSError("the disk is full")
    with pytest.raises(OSError, match="full"):
        handler.save_data()
    collection.insert_many.side_effect = None
    handler.save_data()
    assert [one["name"] for one in documents(client)[-1]] == ["trace_0"]


def test_without_the_driver_the_error_names_it(monkeypatch):
    monkeypatch.setitem(sys.modules, "pymongo", None)
    with pytest.raises(MongoInitError, match="pymongo"):
        MongoHandler("mongodb://there", "db", "energy")


def test_a_test_may_patch_the_driver_in_the_module():
    with patch("wattle.compat.pyjoules.handler.mongo_handler.pymongo") as driver:
        handler = MongoHandler("mongodb://there", "db", "energy")
        handler.process(trace(1.0))
        handler.save_data()
    assert driver.MongoClient.return_value["db"]["energy"].insert_many.call_count == 1
    assert mongo_handler.pymongo is None

"""The probe, with a stub in the place of JAX."""

import sys
import types
import unittest
from pathlib import Path
from unittest import mock

sys.path.insert(0, str(Path(__file__).parents[2] / "python"))

from wattle_probe import probe_jax_peak_memory_mb


def device(platform, stats):
    return types.SimpleNamespace(platform=platform, memory_stats=lambda: stats)


def probe(devices):
    """What the probe says where JAX has these devices; None for no JAX."""
    jax = types.ModuleType("jax")
    jax.local_devices = devices if callable(devices) else lambda: devices
    # A module that is None cannot be imported.
    with mock.patch.dict(sys.modules, {"jax": None if devices is None else jax}):
        return probe_jax_peak_memory_mb()


def fail():
    raise RuntimeError("no backend")


class ProbeTest(unittest.TestCase):
    def test_is_in_mebibytes(self):
        self.assertEqual(probe([device("gpu", {"peak_bytes_in_use": 3 * 1048576})]), 3.0)
        self.assertEqual(probe([device("gpu", {"peak_bytes_in_use": 524288})]), 0.5)
        self.assertEqual(probe([device("gpu", {"peak_bytes_in_use": 0})]), 0.0)

    def test_is_that_of_the_first_gpu(self):
        others = [device("cpu", {"peak_bytes_in_use": 1}), device("tpu", None)]
        gpus = [device("gpu", {"peak_bytes_in_use": mebibytes << 20}) for mebibytes in (5, 7)]
        self.assertEqual(probe(others + gpus), 5.0)

    def test_is_none_without_jax(self):
        self.assertIsNone(probe(None))

    def test_is_none_without_a_gpu(self):
        self.assertIsNone(probe([]))
        self.assertIsNone(probe([device("cpu", {"peak_bytes_in_use": 1048576})]))

    def test_is_none_where_jax_does_not_count(self):
        for stats in (None, {}, {"bytes_in_use": 1}, {"peak_bytes_in_use": None}):
            self.assertIsNone(probe([device("gpu", stats)]), stats)

    def test_is_none_where_jax_fails(self):
        self.assertIsNone(probe(fail))
        self.assertIsNone(probe([types.SimpleNamespace(platform="gpu", memory_stats=fail)]))
        self.assertIsNone(probe([types.SimpleNamespace()]))

    def test_is_none_for_what_is_no_amount(self):
        for peak in (-1, float("nan"), float("inf"), "much"):
            self.assertIsNone(probe([device("gpu", {"peak_bytes_in_use": peak})]), peak)


if __name__ == "__main__":
    unittest.main()

"""wattle.compat.pyjoules: what users of pyJoules type, over the sensors of Wattle."""

import asyncio
import threading
import time

import pytest
from conftest import TICK_J
from wattle.compat.pyjoules import energy_meter as meters
from wattle.compat.pyjoules.device import (
    Device,
    DeviceFactory,
    Domain,
    NotConfiguredDeviceException,
)
from wattle.compat.pyjoules.device.nvidia_device import NvidiaGPUDevice, NvidiaGPUDomain
from wattle.compat.pyjoules.device.rapl_device import (
    RaplCoreDomain,
    RaplDevice,
    RaplDramDomain,
    RaplPackageDomain,
    RaplPsysDomain,
)
from wattle.compat.pyjoules.energy_meter import (
    EnergyContext,
    EnergyMeter,
    EnergyState,
    measure_energy,
)
from wattle.compat.pyjoules.energy_trace import EnergySample, EnergyTrace, difference
from wattle.compat.pyjoules.exception import (
    EnergyMeterNotStartedError,
    EnergyMeterNotStoppedError,
    NoNextStateException,
    NoSuchDeviceError,
    NoSuchDomainError,
    StateIsNotFinalError,
)
from wattle.compat.pyjoules.handler import EnergyHandler

UJ = 1e6


def spend(tree, zone, joules):
    """Takes the time that a CPU of some hundred watts takes: more at once is no energy, but a fault."""
    time.sleep(0.03)
    tree.spend(zone, joules)


class WallDomain(Domain):
    def __repr__(self):
        return "wall"

    def get_device_type(self):
        return WallMeter


class WallMeter(Device):
    """A device of a user's own."""

    values = ()

    def __init__(self):
        super().__init__()
        self._next = iter(self.values)

    @staticmethod
    def available_domains():
        return [WallDomain()]

    def get_energy(self):
        return [next(self._next)]


@pytest.fixture
def wall(monkeypatch):
    monkeypatch.setattr(WallMeter, "values", (1.0, 4.0, 9.0, 16.0, 25.0, 36.0))
    device = WallMeter()
    device.configure()
    return device


class Kept(EnergyHandler):
    def samples(self):
        return self._flaten_trace()


# Devices


def test_domains_are_those_of_the_machine_in_pyjoules_order(tree):
    assert [str(domain) for domain in RaplDevice.available_domains()] == [
        "package_0",
        "package_1",
        "dram_0",
    ]
    assert RaplDevice.available_dram_domains() == [RaplDramDomain(0)]
    assert RaplPackageDomain(1).get_domain_name() == "package"


def test_domains_sort_by_number():
    assert sorted([RaplPackageDomain(10), RaplPackageDomain(2)]) == [
        RaplPackageDomain(2),
        RaplPackageDomain(10),
    ]


def test_sockets_whose_zones_are_swapped_are_found(empty_tree):
    empty_tree.add_zone("intel-rapl:0", "package-1")
    empty_tree.add_zone("intel-rapl:1", "package-0")
    assert RaplDevice.available_package_domains() == [RaplPackageDomain(0), RaplPackageDomain(1)]


def test_a_machine_without_sensors_has_no_device(empty_tree):
    with pytest.raises(NoSuchDeviceError, match="wattle doctor"):
        RaplDevice()
    with pytest.raises(NoSuchDeviceError):
        NvidiaGPUDevice()
    assert DeviceFactory.create_devices() == []


def test_a_domain_that_is_not_there_is_refused(tree):
    with pytest.raises(NoSuchDomainError) as error:
        DeviceFactory.create_devices([RaplCoreDomain(0)])
    assert error.value.domain_name == RaplCoreDomain(0)


def test_a_device_that_is_not_configured_has_no_domains(tree):
    with pytest.raises(NotConfiguredDeviceException):
        RaplDevice().get_configured_domains()


def test_a_factory_makes_one_device_of_each_type(tree, gpus):
    devices = DeviceFactory.create_devices(
        [RaplPackageDomain(0), NvidiaGPUDomain(0), RaplDramDomain(0)]
    )
    assert [type(device) for device in devices] == [RaplDevice, NvidiaGPUDevice]
    assert devices[0].get_configured_domains() == [RaplPackageDomain(0), RaplDramDomain(0)]


def test_energies_are_micro_joules_in_the_order_of_the_domains(tree):
    device = RaplDevice()
    device.configure([RaplDramDomain(0), RaplPackageDomain(1)])
    before = device.get_energy()
    spend(tree, "intel-rapl:1", 3.0)
    spend(tree, "intel-rapl:0:0", 2.0)
    after = device.get_energy()
    assert [difference(*pair) for pair in zip(after, before)] == pytest.approx([2 * UJ, 3 * UJ])


def test_an_energy_is_what_the_counter_shows(tree):
    device = RaplDevice()
    device.configure([RaplDramDomain(0), RaplPackageDomain(0)])
    shown = [int((tree.zones / zone / "energy_uj").read_text()) for zone in ("intel-rapl:0:0", "intel-rapl:0")]
    assert device.get_energy() == shown
    tree.spend("intel-rapl:0", 1.0)
    assert device.get_energy() == pytest.approx([shown[0], shown[1] + UJ])


def test_an_energy_is_what_a_nested_counter_shows(tree, monkeypatch):
    nested = tree.zones / "intel-rapl"
    for zone in ("intel-rapl:0", "intel-rapl:1"):
        (tree.zones / zone).rename(nested / zone)
    (tree.zones / "intel-rapl:0:0").rename(nested / "intel-rapl:0" / "intel-rapl:0:0")
    device = RaplDevice()
    device.configure([RaplDramDomain(0), RaplPackageDomain(1)])
    files = ("intel-rapl:0/intel-rapl:0:0/energy_uj", "intel-rapl:1/energy_uj")
    assert device.get_energy() == [int((nested / file).read_text()) for file in files]


def test_an_energy_goes_on_beyond_the_end_of_its_counter(tree):
    tree.spend("intel-rapl:0", 2**32 * TICK_J - 11.0)
    device = RaplDevice()
    device.configure([RaplPackageDomain(0)])
    (before,) = device.get_energy()
    tree.spend("intel-rapl:0", 3.0)
    (after,) = device.get_energy()
    assert difference(after, before) == pytest.approx(3 * UJ)


def test_the_platform_is_measured_only_if_it_is_named(tree):
    tree.add_zone("intel-rapl:2", "psys", 5.0)
    assert RaplDevice.available_psys_domains() == [RaplPsysDomain(0)]
    assert "psys_0" not in [str(domain) for domain in RaplDevice.available_domains()]
    (device,) = DeviceFactory.create_devices([RaplPackageDomain(0), RaplPsysDomain(0)])
    before = device.get_energy()
    spend(tree, "intel-rapl:2", 3.0)
    spend(tree, "intel-rapl:0", 1.0)
    after = device.get_energy()
    assert [difference(*pair) for pair in zip(after, before)] == pytest.approx([UJ, 3 * UJ])
    assert str(RaplPsysDomain(0)) == "psys_0"


# The meter


def test_tags_name_the_section_that_starts_with_the_call(tree):
    meter = EnergyMeter(DeviceFactory.create_devices([RaplPackageDomain(0)]), default_tag="rest")
    meter.start(tag="load")
    spend(tree, "intel-rapl:0", 5.0)
    meter.record()
    spend(tree, "intel-rapl:0", 7.0)
    meter.stop()
    trace = meter.get_trace()
    assert [one.tag for one in trace] == ["load", "rest"]
    assert trace["load"].energy["package_0"] == pytest.approx(5 * UJ)
    assert trace[1].energy["package_0"] == pytest.approx(7 * UJ)
    assert trace[0].duration >= 0


def test_a_pause_is_in_no_sample(wall):
    meter = EnergyMeter([wall])
    meter.resume("first")
    meter.stop()
    meter.resume("second")
    meter.stop()
    assert [one.energy["wall"] for one in meter.get_trace()] == [3.0, 7.0]


def test_calls_in_the_wrong_order_are_refused(wall):
    meter = EnergyMeter([wall])
    assert len(meter.get_trace()) == 0
    with pytest.raises(EnergyMeterNotStartedError):
        meter.record()
    with pytest.raises(EnergyMeterNotStartedError):
        meter.stop()
    meter.start()
    with pytest.raises(EnergyMeterNotStoppedError):
        meter.resume()
    with pytest.raises(EnergyMeterNotStoppedError):
        meter.get_trace()


def test_many_records_are_no_problem(monkeypatch):
    monkeypatch.setattr(WallMeter, "values", range(5001))
    device = WallMeter()
    device.configure()
    meter = EnergyMeter([device])
    meter.start()
    for _ in range(4999):
        meter.record("__stop__")
    meter.stop()
    assert len(meter.get_trace()) == 5000


def test_a_decrease_of_a_users_device_is_unknown(monkeypatch):
    monkeypatch.setattr(WallMeter, "values", (5.0, 2.0))
    device = WallMeter()
    device.configure()
    meter = EnergyMeter([device])
    meter.start()
    meter.stop()
    assert meter.get_trace()[0].energy == {"wall": None}


def test_a_wrap_of_a_counter_is_energy(empty_tree):
    empty_tree.add_zone("intel-rapl:0", "package-0", 262_143.0)
    meter = EnergyMeter(DeviceFactory.create_devices())
    meter.start()
    empty_tree.spend("intel-rapl:0", 3.0)
    meter.stop()
    assert meter.get_trace()[0].energy["package_0"] == pytest.approx(3 * UJ)


def test_idle_waits_as_long_as_the_sample_and_keeps_the_trace(wall, monkeypatch):
    waits = []
    monkeypatch.setattr("time.sleep", waits.append)
    meter = EnergyMeter([wall])
    meter.start("a")
    meter.stop()
    idle = meter.gen_idle(EnergyTrace([EnergySample(1, "a", 0.25, {"wall": 3.0})]))
    assert (waits, idle) == ([0.25], [{"wall": 7.0}])
    assert meter.get_trace()["a"].energy == {"wall": 3.0}


def test_states_know_their_next_one():
    first, second = EnergyState(1.0, "a", [[1.0]]), EnergyState(3.0, "b", [[4.0]])
    with pytest.raises(NoNextStateException):
        first.compute_duration()
    first.add_next_state(second)
    with pytest.raises(StateIsNotFinalError):
        first.add_next_state(second)
    assert (first.is_last(), first.compute_duration()) == (False, 2.0)
    assert first.compute_energy([WallDomain()]) == {"wall": 3.0}


# Decorator and context


def test_a_function_is_measured_by_its_name(tree):
    kept = Kept()

    @measure_energy(handler=kept, domains=[RaplPackageDomain(0)])
    def work(joules):
        """Spends."""
        spend(tree, "intel-rapl:0", joules)
        return joules

    assert work(4.0) == 4.0
    assert work.__doc__ == "Spends."
    (one,) = kept.samples()
    assert one.tag == "work"
    assert one.energy == {"package_0": pytest.approx(4 * UJ)}


def test_a_bare_decorator_prints(tree, capsys):
    @measure_energy
    def work():
        return 7

    assert work() == 7
    assert capsys.readouterr().out.startswith("begin timestamp : ")


def test_a_function_that_raises_is_measured(tree):
    kept = Kept()

    @measure_energy(handler=kept)
    def fails():
        raise KeyError("x")

    with pytest.raises(KeyError):
        fails()
    assert [one.tag for one in kept.samples()] == ["fails"]


def test_recursion_and_threads_have_samples_of_their_own(tree):
    kept = Kept()

    @measure_energy(handler=kept)
    def down(depth):
        if depth:
            down(depth - 1)

    down(2)
    threads = [threading.Thread(target=down, args=(0,)) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(kept.samples()) == 7


def test_a_coroutine_is_measured_to_its_end(tree):
    kept = Kept()

    @measure_energy(handler=kept)
    async def work():
        await asyncio.sleep(0)
        spend(tree, "intel-rapl:0", 2.0)

    asyncio.run(work())
    assert kept.samples()[0].energy["package_0"] == pytest.approx(2 * UJ)


def test_a_context_starts_with_its_tag_and_reports_after_an_exception(tree):
    kept = Kept()
    with pytest.raises(ZeroDivisionError), EnergyContext(kept, [RaplPackageDomain(1)]) as ctx:
        ctx.record(tag="second")
        raise ZeroDivisionError
    assert [one.tag for one in kept.samples()] == ["start", "second"]


def test_without_sensors_a_program_runs(empty_tree, capsys):
    with EnergyContext():
        pass
    assert "tag : start" in capsys.readouterr().out


def test_energy_that_a_gpu_without_answer_lacks_is_none():
    later = meters.EnergyState(2.0, "", [[None]])
    first = meters.EnergyState(1.0, "a", [[5.0]])
    first.add_next_state(later)
    assert first.compute_energy([WallDomain()]) == {"wall": None}

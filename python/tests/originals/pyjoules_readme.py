# type: ignore
"""What the README of pyJoules shows: a decorator, domains, a context, handlers, traces."""

import time

from pyJoules.device import DeviceFactory
from pyJoules.device.rapl_device import RaplDevice, RaplDramDomain, RaplPackageDomain
from pyJoules.energy_meter import EnergyContext, EnergyMeter, measure_energy
from pyJoules.handler.csv_handler import CSVHandler
from pyJoules.handler.pandas_handler import PandasHandler


@measure_energy
def first():
    time.sleep(0.05)


first()
print("domains", [str(domain) for domain in RaplDevice.available_package_domains()])

table = CSVHandler("result.csv")


@measure_energy(handler=table, domains=[RaplPackageDomain(1), RaplDramDomain(0)])
def second(pause):
    time.sleep(pause)


for _ in range(3):
    second(0.05)
table.save_data()
with open("result.csv") as file:
    lines = file.read().splitlines()
print("csv", lines[0], len(lines), min(float(line.split(";")[3]) for line in lines[1:]) > 0)

frames = PandasHandler()
with EnergyContext(handler=frames, domains=[RaplPackageDomain(0)], start_tag="load") as context:
    time.sleep(0.05)
    context.record(tag="train")
    time.sleep(0.05)
frame = frames.get_dataframe()
print("frame", list(frame["tag"]), bool((frame["package_0"] > 0).all()))

meter = EnergyMeter(DeviceFactory.create_devices([RaplPackageDomain(0)]))
meter.start(tag="a")
time.sleep(0.05)
meter.record(tag="b")
time.sleep(0.05)
meter.stop()
trace = meter.get_trace()
idle = meter.gen_idle(trace)
before = [sample.energy["package_0"] for sample in trace]
trace.remove_idle(idle)
after = [sample.energy["package_0"] for sample in trace]
print("trace", [sample.tag for sample in trace], len(idle), all(a < b for a, b in zip(after, before)))
trace.clean_data(guards=[lambda sample: sample.tag == "b"])
print("clean", [sample.tag for sample in trace if sample.tag != "a"])

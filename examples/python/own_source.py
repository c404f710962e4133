"""A device of your own, beside those that Wattle knows: a wall meter of 120 W."""

import time

import wattle


class WallMeter(wattle.EnergySource):
    def counters(self):
        return [wattle.Counter("wall", tick_j=1e-3)]

    def read(self):
        return [int(time.monotonic() * 120_000)]


with wattle.EnergyMeter(sources=[WallMeter()]) as meter:
    time.sleep(0.2)
sample = meter.trace()[0]
print(f"at the wall: {sample.domains['wall'].energy_j:.1f} J in {sample.seconds:.1f} s")

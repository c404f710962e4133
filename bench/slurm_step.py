#!/usr/bin/env python3
"""What the plugin of Slurm adds to a step: steps of a batch job with it and without it, in turn.

usage: slurm_step.py BUILD [STEPS]      BUILD: build/release; Debian's slurm-wlm and munge are installed

Starts a Slurm of its own (tests/fleet/slurm_cluster.py) and measures over fake counters.
"""
import os
import pathlib
import statistics
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
BUILD = pathlib.Path(sys.argv[1]).resolve()
STEPS = int(sys.argv[2]) if len(sys.argv) > 2 else 20
os.environ["WATTLE_TEST_COMMAND"] = str(BUILD / "apps/wattle/wattle")
os.environ["WATTLE_TEST_PLAYER"] = str(BUILD / "tests/fakes/powercap_player")
os.environ.setdefault("WATTLE_TEST_NVML", "/nonexistent")
sys.path.insert(0, str(ROOT / "tests/fleet"))

from conftest import Machine, end, eventually  # noqa: E402
from slurm_cluster import Cluster  # noqa: E402

KINDS = ("off", "quiet", "text")
SCRIPT = """
for i in $(seq {steps}); do for kind in {kinds}; do
  begin=$(date +%s%N); srun -n4 --wattle=$kind true 2>/dev/null; end=$(date +%s%N); echo $kind $(((end - begin) / 1000))
done; done
echo done
"""


def main():
    with tempfile.TemporaryDirectory() as folder:
        machine = Machine(pathlib.Path(folder))
        plugin = pathlib.Path(os.environ.get("WATTLE_TEST_SPANK", BUILD / "fleet/slurm/spank_wattle.so"))
        cluster = Cluster(plugin, {**machine.environment, "WATTLE_NVML_LIBRARY": "/nonexistent"})
        try:
            cluster.configure()
            output = cluster.folder / "times"
            cluster.submit(SCRIPT.format(steps=STEPS, kinds=" ".join(KINDS)), "-n4", f"--output={output}")
            eventually(lambda: output.exists() and output.read_text().endswith("done\n"), seconds=600)
            times = {kind: [] for kind in KINDS}
            for line in output.read_text().splitlines()[:-1]:
                kind, us = line.split()
                times[kind].append(int(us) / 1000)
        finally:
            cluster.stop()
            end(machine.player)
    base = statistics.median(times["off"])
    for kind, all_ms in times.items():
        quarters = statistics.quantiles(all_ms, n=4)
        print(f"--wattle={kind:5}  median {statistics.median(all_ms):6.1f} ms  quartiles {quarters[0]:.1f} to "
              f"{quarters[2]:.1f} ms  adds {statistics.median(all_ms) - base:+.1f} ms  ({len(all_ms)} steps of 4 tasks)")


main()

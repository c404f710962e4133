# mypy: no-implicit-reexport
"""Drop-in modules: the names of other tools, over the sensors of Wattle.

    from wattle.compat.pyjoules.energy_meter import measure_energy  # was: from pyJoules.energy_meter

docs/python.md lists what differs. `python -m wattle.shim script.py` runs a program unchanged.
"""

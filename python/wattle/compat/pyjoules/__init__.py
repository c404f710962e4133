# mypy: no-implicit-reexport
"""pyJoules' names. Energies are in micro-joules; one that is unknown is None, never wrong."""

__version__ = "0.5.2"

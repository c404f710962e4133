# mypy: no-implicit-reexport
"""What the monitors need."""

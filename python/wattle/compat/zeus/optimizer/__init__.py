# mypy: no-implicit-reexport
"""Zeus's optimizers change the settings of GPUs while a program trains. Wattle measures: they are not available."""

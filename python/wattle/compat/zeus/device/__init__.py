# mypy: no-implicit-reexport
"""The exceptions of devices. Zeus's own access to devices is not available: Wattle reads them."""

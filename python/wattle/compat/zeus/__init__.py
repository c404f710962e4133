# mypy: no-implicit-reexport
"""Zeus's names: `monitor` (ZeusMonitor, PowerMonitor) and `utils.zeusd` (ZeusdConfig)."""

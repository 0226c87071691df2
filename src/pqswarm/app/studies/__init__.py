"""Studies in the workbench: routes, live progress, chart data."""

__all__: list[str] = []

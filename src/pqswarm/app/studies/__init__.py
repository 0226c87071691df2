"""Studies in the workbench: routes, live progress, values for charts."""

__all__: list[str] = []

"""Studies in the workbench: routes, live progress, chart data."""

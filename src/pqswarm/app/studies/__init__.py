"""Studies in the workbench: live progress and reports."""

"""Generated events in the workbench: routes, requests, form fields, answers."""

__all__: list[str] = []

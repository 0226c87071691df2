"""Generated events in the workbench: routes, requests, form fields, answers."""

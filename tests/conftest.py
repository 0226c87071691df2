"""Settings of all tests."""

import os

from hypothesis import settings

# Locally hypothesis looks for new examples each time; where a red run stops others, it repeats the same ones.
settings.register_profile("ci", derandomize=True)
if os.environ.get("CI"):
    settings.load_profile("ci")

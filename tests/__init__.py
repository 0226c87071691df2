"""Tests of pqswarm, which no foreign plug-in may change; the settings hold before any library is imported."""

import os

os.environ["HYPOTHESIS_NO_PLUGINS"] = "1"
os.environ["PYDANTIC_DISABLE_PLUGINS"] = "__all__"

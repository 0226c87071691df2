"""Tests of the statistics."""  # noqa: A005 (it is tests.statistics)

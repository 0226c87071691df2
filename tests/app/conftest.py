"""A browser for the tests of the workbench."""

import pytest
from tests.browser import Browser


@pytest.fixture(scope="module")
def browser(tmp_path_factory):
    opened = Browser(tmp_path_factory.mktemp("profile"))
    yield opened
    opened.close()

"""Settings for all tests of this folder."""

import pytest
import sklearn


@pytest.fixture(autouse=True)
def _no_validation_of_parameters():
    """Thousands of small models are fitted: scikit-learn would check parameters for a third of the time."""
    with sklearn.config_context(skip_parameter_validation=True):
        yield

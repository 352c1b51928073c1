"""How the tests are run: hypothesis without a database or deadlines, and where the program is."""

import os

import hypothesis
import pytest

hypothesis.settings.register_profile(
    "gsort", database=None, deadline=None, max_examples=100 if "GSORT_EVERY_CASE" in os.environ else 12, derandomize=True,
    suppress_health_check=[hypothesis.HealthCheck.too_slow])
hypothesis.settings.load_profile("gsort")


@pytest.fixture
def gsort_program():
    """The program of the same build. tools/release tries the package without it."""
    return os.environ.get("GSORT_PROGRAM") or pytest.skip("no GSORT_PROGRAM")

"""What all tests share: the Hypothesis profile, golden files, and the composition functions as processes."""

import os
from collections.abc import Iterator

import pytest
from hypothesis import HealthCheck, settings
from hypothesis.internal.conjecture import providers
from hypothesis.internal.constants_ast import Constants

from golden import Golden
from modelplane.kube.images import Image
from modelplane_dev.processes.functions import Functions

#: Whether `make soak` runs the tests: those that are marked `soak` too.
SOAK = "MODELPLANE_SOAK" in os.environ
#: Examples of every property when set; new random ones then, not the fixed ones of CI.
EXAMPLES = os.environ.get("MODELPLANE_HYPOTHESIS_EXAMPLES")

# The width of what commands print: that of who runs the tests is no part of them.
os.environ.pop("COLUMNS", None)

#: As the packages do.
os.environ.setdefault(Image.MODELPLANE.variable, Image.MODELPLANE.default)

settings.register_profile(
    "all",
    derandomize=EXAMPLES is None,
    database=None,
    deadline=None,
    print_blob=True,
    suppress_health_check=[HealthCheck.too_slow],
)
settings.load_profile("all")

_NO_CONSTANTS = Constants()
# Hypothesis draws constants of all modules that are loaded, too: an edit of any of them, and which tests run in which
# order, would give every property other examples, and those of CI would not be fixed.
providers._get_local_constants = lambda: _NO_CONSTANTS


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Mark the tests that compare with golden files, which `make golden` runs; leave out those of `make soak`."""
    for item in items:
        if "golden" in getattr(item, "fixturenames", ()):
            item.add_marker("golden")
    left_out = [] if SOAK else [item for item in items if item.get_closest_marker("soak")]
    if left_out:
        config.hook.pytest_deselected(items=left_out)
        items[:] = [item for item in items if item not in left_out]


@pytest.fixture(scope="session")
def golden() -> Golden:
    """Compare with golden files, or rewrite them."""
    return Golden.of_environment()


@pytest.fixture(scope="session")
def functions(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Functions]:
    """Run our functions as Crossplane does: one process each for the whole session."""
    with Functions(logs=tmp_path_factory.mktemp("functions")) as running:
        yield running

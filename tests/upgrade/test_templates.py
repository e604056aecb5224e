"""A pod template that is composed differently for unchanged input restarts pods: CHANGELOG.md announces it."""

from itertools import pairwise

import pytest

from modelplane.model.rollout import BUILDER
from upgrade.changelog import announced, restarts
from upgrade.states import STATES, read_state
from upgrade.templates import FILE, SOURCES, composed_today, digest, digests, revisions

HOW = """
Pod templates changed for unchanged input: {names}. Where workloads are composed anew, this restarts their pods.
If it is meant: raise BUILDER in model/rollout.py (not for a job alone), run
    PYTHONPATH=tests .venv/bin/python -m upgrade.templates
and write under "### Restarts" in CHANGELOG.md which workloads restart (deployment, leaderworkerset, picker, job, or
nothing), with the number and digest that the command prints:
    - Templates {number} ({digest}) restart: deployment, leaderworkerset. Why, in a sentence.
"""


def test_the_code_composes_the_pod_templates_of_the_last_revision() -> None:
    today, last = composed_today(), revisions()[-1]
    changed = [name for name in sorted(today.keys() | last.keys()) if today.get(name) != last.get(name)]
    how = HOW.format(names=", ".join(changed), number=len(revisions()) + 1, digest=digest(today))
    assert changed == [], how


#: Revisions of which only new workloads have something: what exists is composed as before, so no builder tells them
#: apart. 9: the label and the name of endpoint pickers (`compose_replica.picker`). 11: the names of engines.
OF_NEW_ONES = frozenset({9, 11})


@pytest.mark.proves("R69")
def test_each_revision_of_an_engines_or_pickers_templates_has_a_builder_number() -> None:
    engines = [{name: each for name, each in found.items() if not name.startswith("cache-")} for found in revisions()]
    changed = {number for number, (one, two) in enumerate(pairwise(engines), 2) if one != two}
    assert changed >= OF_NEW_ONES
    assert len(changed - OF_NEW_ONES) + 1 == BUILDER


def test_every_revision_of_the_templates_is_in_the_changelog() -> None:
    recorded = {(number, digest(each)) for number, each in enumerate(revisions(), 1) if number > 1}
    missing = recorded - announced().keys()
    assert missing == set(), f'CHANGELOG.md says nothing under "### Restarts" of the templates {sorted(missing)}'


def test_the_first_revision_is_what_version_0_1_composed() -> None:
    composed = digests(obj for name in SOURCES for obj in read_state(STATES / "v0.1.0" / f"{name}.yaml"))
    assert composed.items() <= revisions()[0].items()


def test_no_revision_repeats_the_one_before_it() -> None:
    recorded = revisions()
    assert FILE.exists()
    assert all(one != two for one, two in pairwise(recorded))


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("### Restarts\n\n- Templates 2 (0a1b2c3d4e5f) restart: deployment, picker. Why.\n", {"deployment", "picker"}),
        ("### Restarts\n\n- Templates 2 (0a1b2c3d4e5f) restart: nothing.\n\n### Added\n", set()),
    ],
)
def test_an_entry_names_the_workloads_that_restart(text: str, expected: set[str]) -> None:
    assert restarts(text) == {(2, "0a1b2c3d4e5f"): frozenset(expected)}


@pytest.mark.parametrize(
    "text",
    [
        "### Changed\n\n- Templates 2 (0a1b2c3d4e5f) restart: deployment.\n",
        "### Restarts\n\n- Templates 2 restart: deployment.\n",
        "### Restarts\n\n### Changed\n\n- Templates 2 (0a1b2c3d4e5f) restart: deployment.\n",
    ],
)
def test_an_entry_elsewhere_or_without_its_digest_is_none(text: str) -> None:
    assert restarts(text) == {}

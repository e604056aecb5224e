"""Whatever lists our kinds has each that apis/ defines."""

import json
import re
from importlib import import_module
from typing import Any

import pytest
import yaml

from modelplane.clouds import CLOUDS
from modelplane.model.conditions import CONDITIONS
from modelplane.model.names import GROUP
from modelplane.preview import control_plane
from modelplane.preview.pipelines import pipeline_of
from modelplane.reading.definitions import xrds
from modelplane_dev.folders import ROOT
from unit.api.argocd import scripts

KINDS = {kind: xrd["spec"]["names"] for kind, xrd in xrds().items()}
#: Kinds that Modelplane composes and nobody writes: those that `kubectl get modelplane` does not list.
INNER = {kind for kind, names in KINDS.items() if "modelplane" not in names["categories"]}


def resources(role: str, verb: str) -> set[str]:
    """Return the resources of ours on which a role of install/ has a verb."""
    roles = (each for each in yaml.safe_load_all((ROOT / "install/rights.yaml").read_text()) if each)
    (found,) = (
        each for each in roles if each["kind"] == "ClusterRole" and each["metadata"]["name"] == f"modelplane-{role}"
    )
    rules = [rule for rule in found["rules"] if rule["apiGroups"] == [GROUP] and verb in rule["verbs"]]
    return {name for rule in rules for name in rule["resources"] if "/" not in name}


def test_who_may_look_and_the_platform_see_every_kind_and_the_platform_writes_all_but_the_inner_ones() -> None:
    plurals = {names["plural"] for names in KINDS.values()}
    inner = {KINDS[kind]["plural"] for kind in INNER}
    assert resources("view", "list") | resources("view-fleet", "list") == resources("platform", "list") == plurals
    assert resources("view", "list") & resources("view-fleet", "list") == set()
    assert resources("platform", "create") == plurals - inner
    assert resources("team", "create") & inner == set()


def test_the_policy_on_inner_kinds_covers_each_of_them() -> None:
    policies = yaml.safe_load_all((ROOT / "install/inner-kinds.yaml").read_text())
    (rule,) = next(policies)["spec"]["matchConstraints"]["resourceRules"]
    assert set(rule["resources"]) == {KINDS[kind]["plural"] for kind in INNER}


def policies() -> list[dict[str, Any]]:
    """Return the admission policies of install/."""
    files = (ROOT / "install").glob("*.yaml")
    found = (each for file in files for each in yaml.safe_load_all(file.read_text()) if each)
    return [each for each in found if each["kind"] == "ValidatingAdmissionPolicy"]


def test_the_verb_use_is_asked_for_in_our_group_alone_because_roles_of_crossplane_have_every_verb_in_the_others() -> (
    None
):
    written = {policy["metadata"]["name"]: json.dumps(policy) for policy in policies()}
    asking = {name: words for name, words in written.items() if "check('use')" in words}
    groups = {name: set(re.findall(r"authorizer\.group\('([^']*)'\)", words)) for name, words in asking.items()}
    assert len(groups) > 1
    assert groups == {name: {GROUP} for name in groups}


def test_who_makes_what_clouds_are_made_of_is_asked_for_the_right_to_use_their_account() -> None:
    (policy,) = (each for each in policies() if each["metadata"]["name"] == "modelplane-clouds")
    (rule,) = policy["spec"]["matchConstraints"]["resourceRules"]
    composed = {kind.api_version.partition("/")[0] for cloud in CLOUDS.values() for kind in cloud.kinds}
    assert set(rule["apiGroups"]) == composed
    assert (rule["resources"], rule["operations"]) == (["*"], ["CREATE", "UPDATE"])


def test_what_composes_on_clusters_is_deleted_in_the_background_alone() -> None:
    policies = yaml.safe_load_all((ROOT / "install/deletion.yaml").read_text())
    (rule,) = next(policies)["spec"]["matchConstraints"]["resourceRules"]
    assert set(rule["resources"]) == {KINDS[kind]["plural"] for kind in INNER | {"InferenceCluster"}}


def test_an_inner_kind_is_in_the_category_of_crossplane_alone_and_in_its_namespace() -> None:
    for kind in INNER:
        assert KINDS[kind]["categories"] == ["crossplane"]
        assert xrds()[kind]["spec"]["scope"] == "Namespaced"


@pytest.mark.parametrize("kind", KINDS)
def test_a_kind_has_a_model_conditions_a_pipeline_and_a_place_in_the_rounds_of_the_preview(kind: str) -> None:
    module = import_module(f"modelplane.api.{kind.lower()}")
    assert getattr(module, kind).model_fields["kind"].default == kind
    assert CONDITIONS[kind]
    assert pipeline_of(f"{kind}.{GROUP}") is not None
    assert f"{kind}.{GROUP}" in control_plane.ORDER


def test_what_to_back_up_is_all_of_ours_and_of_the_providers_that_the_configuration_depends_on() -> None:
    page = (ROOT / "docs/back-up.md").read_text()
    asked = yaml.safe_load((ROOT / "crossplane.yaml").read_text())["spec"]["dependsOn"]
    groups = {f"{each['package'].rpartition('-')[2]}.m.crossplane.io" for each in asked}
    assert f"| all of `{GROUP}` |" in page
    assert {group for group in groups if f"`{group}`" not in page} == set()


def test_argo_cd_is_told_the_health_of_every_kind_by_one_script() -> None:
    assert set(scripts()) == set(KINDS)
    assert len(set(scripts().values())) == 1

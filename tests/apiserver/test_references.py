"""Who may say which objects a composite has composed: what is listed there is taken for its own, and may be ended."""

from collections.abc import Iterator
from typing import Any

import pytest

from apiserver.installed import installed, refusal, refusal_of_change
from apiserver.rights import binding
from apiserver.server import Server
from modelplane.model.names import API_VERSION
from modelplane_dev.plane.cluster import ADMIN, CROSSPLANE, PLATFORM, TEAM

Manifest = dict[str, Any]

NAMESPACE = "ml"
WORDS = "only Crossplane writes which objects a composite has composed"
ANOTHERS = {"apiVersion": API_VERSION, "kind": "ModelReplica", "name": "by-hand"}
OTHER = {"apiVersion": "v1", "kind": "Secret", "name": "token"}

SPECS: dict[str, Manifest] = {
    "ModelCache": {"source": "HuggingFace", "huggingFace": {"repo": "org/model", "sizeGiB": 40}},
    "ModelDeployment": {
        "replicas": 1,
        "engines": [
            {
                "name": "main",
                "members": [
                    {
                        "nodeSelector": {"devices": [{"name": "gpu", "count": 1, "selectors": [{"cel": "true"}]}]},
                        "template": {
                            "spec": {"containers": [{"name": "engine", "image": "registry.example.org/engine:v1"}]}
                        },
                    }
                ],
            }
        ],
    },
    "ModelEndpoint": {"url": "https://api.example.com/v1"},
    "ModelService": {"endpoints": [{"name": "all", "selector": {"matchLabels": {"model": "chat"}}}]},
}


def made(kind: str, *references: Manifest) -> Manifest:
    """Return an object of a team, with what it says it has composed."""
    composed = {"crossplane": {"resourceRefs": list(references)}} if references else {}
    metadata = {"name": "chat", "namespace": NAMESPACE}
    return {"apiVersion": API_VERSION, "kind": kind, "metadata": metadata, "spec": SPECS[kind] | composed}


@pytest.fixture(scope="module")
def ruled(server: Server) -> Iterator[Server]:
    """Apply the roles and policies, and bind a team's role and the platform's."""
    bound = [
        binding("modelplane-team", TEAM, within=NAMESPACE),
        binding("modelplane-platform", PLATFORM),
        binding("modelplane-platform", CROSSPLANE),
    ]
    with installed(server, "rights.yaml", *bound) as running:
        yield running


@pytest.mark.parametrize("kind", SPECS)
def test_a_team_makes_no_composite_that_takes_an_object_for_its_own(ruled: Server, kind: str) -> None:
    assert refusal(ruled, TEAM, made(kind)) == ""
    assert WORDS in refusal(ruled, TEAM, made(kind, ANOTHERS))
    for user in (CROSSPLANE, PLATFORM, ADMIN):
        assert refusal(ruled, user, made(kind, ANOTHERS)) == ""


def references(*found: Manifest) -> Manifest:
    return {"spec": {"crossplane": {"resourceRefs": list(found)}}}


#: What a team changes of a composite that has composed one object, and whether that is refused.
CHANGES: dict[str, tuple[Manifest, bool]] = {
    "it takes another too": (references(ANOTHERS, OTHER), True),
    "it takes another instead": (references(OTHER), True),
    "it lists the same": (references(ANOTHERS), False),
    "something else": ({"spec": {"replicas": 2}}, False),
    "it lists none, as a manifest says that is put in its place: what it had would run on": (references(), True),
    "its finalizers": ({"metadata": {"finalizers": ["example.org/wait"]}}, False),
}


@pytest.mark.parametrize(("change", "refused"), CHANGES.values(), ids=CHANGES)
def test_a_team_changes_nothing_in_the_list_of_what_a_composite_has_composed(
    ruled: Server, change: Manifest, refused: bool
) -> None:
    composite = made("ModelDeployment", ANOTHERS)
    crossplane, team = ruled.cluster.api_of(CROSSPLANE), ruled.cluster.api_of(TEAM)
    path = f"{ruled.path(composite)}/{composite['metadata']['name']}"
    crossplane.request("POST", ruled.path(composite), composite)
    try:
        assert (WORDS in refusal_of_change(team, path, change)) is refused
        assert refused or refusal_of_change(team, path, change) == ""
        for user in (CROSSPLANE, PLATFORM):
            assert refusal_of_change(ruled.cluster.api_of(user), path, change) == ""
    finally:
        crossplane.request("DELETE", path)

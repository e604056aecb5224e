"""Names of composed objects: readable, legal, within limits, and apart for what is apart."""

import re

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from modelplane.model.names import replica_name, tenant_namespace

NAME = st.from_regex(r"[a-z0-9]([-a-z0-9.]{0,61}[a-z0-9])?", fullmatch=True)


@pytest.mark.proves("P65")
def test_a_replicas_name_says_deployment_cluster_and_index() -> None:
    name = replica_name("ml-team", "qwen3-8b", "eks-l4", 0)
    assert re.fullmatch(r"qwen3-8b-eks-l4-0-[0-9a-f]{8}", name)


@given(st.from_regex(r"[a-z0-9]([-a-z0-9]{45,61}[a-z0-9])?", fullmatch=True))
@example("a" + "-" * 61 + "a")
@example("a" * 54 + "-0a1b2c3d")
def test_no_namespace_has_the_name_by_which_another_is_mirrored(namespace: str) -> None:
    mirrored = tenant_namespace(namespace)
    assert len(mirrored) <= 63
    taken = mirrored.removeprefix("mp-")
    assert taken == namespace or tenant_namespace(taken) != mirrored


def test_a_namespace_whose_mirrored_name_fits_keeps_it_also_with_a_hash_of_its_own() -> None:
    assert tenant_namespace("ml") == "mp-ml"
    assert tenant_namespace("preview-0a1b2c3d") == "mp-preview-0a1b2c3d"


def test_of_a_long_name_deployment_and_cluster_are_cut_and_the_index_is_kept() -> None:
    name = replica_name("ml", "d" * 63, "c" * 63, 12)
    assert re.fullmatch(r"d{18}-c{18}-12-[0-9a-f]{8}", name)
    assert re.fullmatch(r"d{33}-east-1-[0-9a-f]{8}", replica_name("ml", "d" * 63, "east", 1))
    assert re.fullmatch(r"chat-c{33}-1-[0-9a-f]{8}", replica_name("ml", "chat", "c" * 63, 1))


@pytest.mark.proves("P138")
@given(NAME, NAME, st.integers(0, 500))
def test_a_replicas_name_is_legal_for_a_service_and_short_enough_for_a_gang_at_every_length(
    deployment: str, cluster: str, index: int
) -> None:
    name = replica_name("ml", deployment, cluster, index)
    assert re.fullmatch(r"[a-z]([-a-z0-9]*[a-z0-9])?", name)
    assert len(name) <= 49
    assert re.search(rf"-{index}-[0-9a-f]{{8}}$", name)


def test_replicas_that_read_alike_have_names_of_their_own() -> None:
    places = [
        ("a", "b-c", "d", 0),
        ("a", "b", "c-d", 0),
        ("x", "b-c", "d", 0),
        ("a", "b.c", "d", 0),
        ("a", "b-c", "d", 1),
    ]
    assert len({replica_name(*place) for place in places}) == len(places)

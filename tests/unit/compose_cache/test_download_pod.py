"""How a download runs: on nodes that its image is built for, pulled with the team's Secrets, and as which user."""

from typing import Any

import pytest

from modelplane.model.conditions import Status
from unit.compose_cache import caches as given

PULLED = {"imagePullSecrets": [{"name": "registry"}]}
CONFIG = "kubernetes.io/dockerconfigjson"


def cache() -> dict[str, Any]:
    body = given.cache()
    body["spec"] |= PULLED
    return body


def registry(kind: str = CONFIG) -> dict[str, Any]:
    metadata = {"name": "registry", "namespace": "team", "resourceVersion": "3"}
    return {"apiVersion": "v1", "kind": "Secret", "metadata": metadata, "type": kind}


def passes(body: dict[str, Any], count: int, *secrets: dict[str, Any], **how: Any) -> Any:
    return given.passes(body, count, None, **{"source-Secret-registry": list(secrets)}, **how)


def pod(result: Any) -> dict[str, Any]:
    (resource,) = given.named(result, "Job")
    spec: dict[str, Any] = given.manifest(result, resource)["spec"]["template"]["spec"]
    return spec


def arch(result: Any) -> list[str]:
    terms = pod(result)["affinity"]["nodeAffinity"]["requiredDuringSchedulingIgnoredDuringExecution"]
    (term,) = terms["nodeSelectorTerms"]
    found = {each["key"]: each["values"] for each in term["matchExpressions"]}
    assert found["kubernetes.io/os"] == ["linux"]
    return list(found["kubernetes.io/arch"])


@pytest.mark.parametrize(("built", "values"), [("", ["amd64"]), ("arm64, amd64", ["amd64", "arm64"])])
def test_a_download_goes_to_nodes_that_its_image_is_built_for(
    built: str, values: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MODELPLANE_IMAGE_ARCHITECTURES", built)
    assert arch(given.passes(given.cache(), 2)) == values


def test_a_download_runs_as_root_unless_the_cluster_names_a_user_of_its_volumes() -> None:
    assert pod(given.passes(given.cache(), 2))["securityContext"] == {"runAsUser": 0, "runAsGroup": 0}
    cluster = given.cluster()
    cluster["status"]["cache"]["runAsUser"] = 1000
    context = pod(given.passes(given.cache(), 2, clusters=[cluster]))["securityContext"]
    assert [context[name] for name in ("runAsUser", "runAsGroup", "fsGroup")] == [1000] * 3
    assert context["runAsNonRoot"] is True


def test_a_pull_secret_is_copied_by_reference_with_its_type_and_its_one_key() -> None:
    result = passes(cache(), 2, registry())
    (copy,) = given.named(result, "Secret")
    manifest, spec = given.manifest(result, copy), result.desired[copy].build()["spec"]
    assert (manifest["type"], manifest.keys() & {"data", "stringData"}) == (CONFIG, set())
    assert spec["references"][0]["patchesFrom"]["fieldPath"] == "data[.dockerconfigjson]"
    assert pod(result)["imagePullSecrets"] == [{"name": manifest["metadata"]["name"]}]


def test_the_copy_of_a_pull_secret_goes_once_the_weights_are_there_or_the_download_has_failed() -> None:
    body = cache()
    assert given.named(passes(body, 5, registry(), job=given.ended("Complete")), "Secret") == []
    assert given.named(passes(cache(), 3, registry(), job=given.ended("Failed")), "Secret") == []


#: What is there of the Secret, and what is said of it.
LACKING: dict[str, tuple[list[dict[str, Any]], str]] = {
    "absent": ([], "Secret team/registry of spec.imagePullSecrets does not exist. Create it."),
    "another type": ([registry("Opaque")], "is of type Opaque. Give it the type kubernetes.io/dockerconfigjson."),
}


@pytest.mark.parametrize(("secrets", "words"), LACKING.values(), ids=LACKING)
def test_a_download_waits_for_a_pull_secret_and_says_so(secrets: list[dict[str, Any]], words: str) -> None:
    result = passes(cache(), 3, *secrets)
    assert given.named(result, "Job") == []
    assert words in given.rows(result)["eu-1"]["message"]
    condition = given.condition(result)
    assert (condition.status, condition.reason) == (Status.FALSE, "AuthSecretMissing")


def test_the_copy_of_a_pull_secret_that_is_gone_stays_while_the_download_runs() -> None:
    body = cache()
    before = passes(body, 3, registry())
    after = given.run(body, given.observed(before), **{"source-Secret-registry": []})
    assert (given.named(after, "Secret"), given.named(after, "Job")) == (
        given.named(before, "Secret"),
        given.named(before, "Job"),
    )


def test_an_image_that_cannot_be_pulled_is_tried_with_the_pull_secret_that_is_named_now() -> None:
    body = given.cache()
    before = given.passes(body, 3)
    body["spec"] |= PULLED
    waiting = given.observed(before, job={"active": 1, "ready": 0})
    after = given.run(body, waiting, **{"source-Secret-registry": [registry()]})
    assert "imagePullSecrets" in pod(after)
    running = given.observed(before, job={"active": 1, "ready": 1})
    assert pod(given.run(body, running, **{"source-Secret-registry": [registry()]})) == pod(before)

"""What the page on Argo CD shows holds for the kinds that apis/ defines."""

import re
from typing import Any

import yaml

from docs.blocks import File, blocks
from modelplane.model.names import GROUP
from modelplane.reading.definitions import xrds
from modelplane_dev.folders import ROOT

PAGE = ROOT / "docs/deliver-with-argo-cd.md"
SHOWN: list[dict[str, Any]] = [yaml.safe_load(each.text) for each in blocks(PAGE) if isinstance(each, File)]
APPLICATIONS = {each["metadata"]["name"]: each for each in SHOWN if each["kind"] == "Application"}
#: What Modelplane composes, and nobody has in Git.
COMPOSED = {"ManagedCluster", "ModelReplica", "ServingStack"}


def _waves() -> dict[str, tuple[str, int]]:
    """Return the Application and the wave of each kind of ours in the page's table."""
    rows = re.findall(r"^\| (fleet|team) \| (\d) \| (.+) \|$", PAGE.read_text(), re.MULTILINE)
    named = [(kind, (app, int(wave))) for app, wave, kinds in rows for kind in kinds.split(", ") if kind in xrds()]
    assert len(named) == len(dict(named)), "a kind in two waves"
    return dict(named)


def test_every_kind_that_people_write_has_a_wave_and_a_cluster_comes_after_its_classes() -> None:
    waves = _waves()
    assert set(waves) == set(xrds()) - COMPOSED
    assert waves["InferenceClass"] < waves["InferenceCluster"]
    (cluster,) = [each for each in SHOWN if each["kind"] == "InferenceCluster"]
    wave = cluster["metadata"]["annotations"]["argocd.argoproj.io/sync-wave"]
    assert ("fleet", int(wave)) == waves["InferenceCluster"]


def test_nothing_that_may_be_slow_for_long_is_waited_for() -> None:
    waves = _waves()
    for application in ("fleet", "team"):
        last = max(wave for app, wave in waves.values() if app == application)
        before = {kind for kind, (app, wave) in waves.items() if app == application and wave < last}
        assert before <= {"InferenceClass", "ClusterModel"}


def test_every_application_deletes_in_the_background_what_is_pruned_and_what_goes_with_it() -> None:
    assert set(APPLICATIONS) == {"fleet", "ml"}
    for application in APPLICATIONS.values():
        assert application["metadata"]["finalizers"] == ["resources-finalizer.argocd.argoproj.io/background"]
        assert "PrunePropagationPolicy=background" in application["spec"]["syncPolicy"]["syncOptions"]


def test_what_is_not_git_s_is_the_field_that_the_scale_subresource_writes() -> None:
    scaled = {
        kind: version["subresources"]["scale"]["specReplicasPath"]
        for kind, xrd in xrds().items()
        for version in xrd["spec"]["versions"]
        if "scale" in version.get("subresources", {})
    }
    spec = APPLICATIONS["ml"]["spec"]
    ignored = {(each["group"], each["kind"], *each["jsonPointers"]) for each in spec["ignoreDifferences"]}
    assert ignored == {(GROUP, kind, path.replace(".", "/")) for kind, path in scaled.items()}
    assert "RespectIgnoreDifferences=true" in spec["syncPolicy"]["syncOptions"]

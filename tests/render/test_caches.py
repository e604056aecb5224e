"""What a ModelCache on one, three and five clusters becomes on the real engine, beside what a reviewer has read.

Each pair is NAME.cache.yaml of the unit tests and golden/caches/NAME.yaml. `make golden` rewrites them.
"""

from collections.abc import Callable
from typing import Any

import pytest

from golden import Golden, read_documents
from modelplane.preview import ControlPlane
from modelplane_dev.processes.functions import Functions
from render.examples import settle_both
from render.reading import GOLDEN, compare_composed, first_pass
from unit.compose_cache.caches import CASES, alone, clusters, token

Manifest = dict[str, Any]


def _cache(case: str) -> Manifest:
    (body,) = read_documents(CASES[case])
    assert isinstance(body, dict)
    return body


def _plane(case: str, **how: Any) -> ControlPlane:
    return ControlPlane([*clusters(case), token(), _cache(case)], pipelines=alone, **how)


@pytest.mark.parametrize("case", CASES)
def test_a_cache_renders_as_it_was_read_and_as_the_preview_composes_it(
    case: str, functions: Functions, golden: Golden
) -> None:
    cache = _cache(case)
    rendered = first_pass(cache, [*clusters(case), token()], functions)
    golden.compare_text(GOLDEN / "caches" / f"{case}.yaml", rendered)
    compare_composed(_plane(case, world=None), cache, rendered)


def test_there_is_no_golden_without_a_cache() -> None:
    assert [file.stem for file in sorted((GOLDEN / "caches").glob("*.yaml"))] == sorted(CASES)


def _another_source(plane: ControlPlane, cache: Manifest) -> None:
    huggingface = {**cache["spec"]["huggingFace"], "revision": "v2.0", "sizeGiB": 2000}
    plane.apply({**cache, "spec": {**cache["spec"], "huggingFace": huggingface}})


def _fewer_clusters(plane: ControlPlane, _: Manifest) -> None:
    plane.delete("InferenceCluster", None, "eu-1")


def _without_token(plane: ControlPlane, cache: Manifest) -> None:
    plane.delete("Secret", "ml-team", "hugging-face")
    _another_source(plane, cache)


CHANGES: dict[str, Callable[[ControlPlane, Manifest], None]] = {
    "another source": _another_source,
    "a cluster less": _fewer_clusters,
    "without its token": _without_token,
}


@pytest.mark.parametrize("change", CHANGES.values(), ids=CHANGES)
@pytest.mark.parametrize("case", CASES)
def test_a_cache_comes_to_the_same_on_the_real_engine_pass_by_pass(
    case: str, change: Callable[[ControlPlane, Manifest], None], functions: Functions
) -> None:
    plane = _plane(case)
    assert settle_both(plane, ["ModelCache"], functions) > 1
    (cache,) = plane.list("ModelCache")
    staged = {"one": "1/1", "three": "3/3", "five": "4/5"}[case]
    assert cache["status"]["summary"]["ready"] == staged
    change(plane, cache)
    settle_both(plane, ["ModelCache"], functions)

"""What a pass finds of a replica is computed once."""

from collections import Counter
from collections.abc import Callable
from typing import Any

import pytest

from modelplane.compose_replica import readiness
from modelplane.compose_replica.replica import compose
from modelplane.step import Request
from unit.compose_replica import replicas as given

SERVING = {
    "a Deployment": given.replica(),
    "a gang": given.replica(given.gang(copies=3, nodes=2)),
    "a pair": given.pair("--port=8200"),
}


def counted(rule: Callable[..., Any], computed: Counter[str]) -> Callable[..., Any]:
    """Return a rule that counts for which workload it is asked."""

    def counting(*of: Any) -> Any:
        manifest = next(each for each in of if isinstance(each, dict))
        computed[manifest["metadata"]["name"]] += 1
        return rule(*of)

    return counting


@pytest.mark.parametrize("body", SERVING.values(), ids=SERVING)
def test_the_readiness_of_each_workload_is_computed_once_a_pass(
    body: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    observed = {name: given.obj(found) for name, found in given.serving(body).items()}
    computed: Counter[str] = Counter()
    for rule in ("_deployment", "_gang"):
        monkeypatch.setattr(readiness, rule, counted(getattr(readiness, rule), computed))
    required = {f"cluster-{given.CLUSTER}": (given.obj(given.cluster()),)}
    assert compose(Request(given.obj(body), observed, required=required)).ready is True
    assert set(computed.values()) == {1}

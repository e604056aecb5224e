"""Our definitions on a real API server: established, and as strict, in the same words, as the examples say."""

import pytest

from apiserver.server import Server
from modelplane_dev.folders import ROOT
from unit.api.cases import Case, Manifest, read_cases

CASES = read_cases()


def _placed(body: Manifest) -> Manifest:
    return {**body, "metadata": {"namespace": "team", **body["metadata"]}}


def _words(case: Case) -> str:
    """Return what a server says: of a field that it does not know it tells the whole path, as an example does apart."""
    return f'unknown field "{case.field}"' if case.words.startswith("unknown field") else case.words


@pytest.mark.parametrize("case", CASES, ids=str)
def test_a_real_server_takes_and_refuses_as_the_example_says(server: Server, case: Case) -> None:
    accepted, refused = _placed(case.accepted), _placed(case.refused)
    assert server.refusal(accepted) == ""
    answer = server.refusal(refused)
    if case.field.startswith("status"):
        assert server.refusal_of_status(accepted) == ""
        answer += server.refusal_of_status(refused)
    assert _words(case) in answer


@pytest.mark.proves("P14")
def test_a_real_api_server_accepts_the_manifests_of_the_tour(server: Server) -> None:
    taken = server.cluster.shell("kubectl apply --dry-run=server --recursive -f docs/tour", ROOT)
    assert len(taken.splitlines()) >= len(sorted((ROOT / "docs" / "tour").glob("*.yaml")))


@pytest.mark.proves("P15")
def test_a_real_api_server_accepts_every_example(server: Server) -> None:
    taken = server.cluster.shell("kubectl apply --dry-run=server --recursive -f examples", ROOT)
    assert {line.partition("/")[0] for line in taken.splitlines()} >= {
        "inferenceclass.modelplane.ai",
        "inferencecluster.modelplane.ai",
        "modelcache.modelplane.ai",
        "modeldeployment.modelplane.ai",
    }

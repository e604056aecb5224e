"""What several clusters wait for alike is said once, with their number."""

from modelplane.compose_cache.cluster_staging import StagingResult
from modelplane.compose_cache.report import conditions
from modelplane.model.staging import StagingPhase

SOURCE = "Secret ml/token does not exist. Create it with the token under key t."


def test_one_cause_on_several_clusters_is_one_sentence_with_a_count() -> None:
    alike = [StagingResult(f"c{at}", StagingPhase.HYDRATING, SOURCE, lacks_secret=True) for at in range(5)]
    other = StagingResult("d", StagingPhase.PENDING, "the cluster names no storage class for caches")
    _, found = conditions([*alike, other])
    assert found.message == (
        f"staged on 0 of 6 clusters. 5 clusters (c0, c1, c2 and 2 more): Hydrating: {SOURCE} d: Pending: the cluster "
        "names no storage class for caches."
    )

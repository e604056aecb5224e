"""One cause that keeps several replicas from being Ready is said once, with their number."""

import pytest

from unit.schedule.objects import Server, cluster, deployment, replica, run

MISSING = "nothing runs yet: Secret ml/token does not exist; engine main reads it in env HF_TOKEN. Create it."


def ready_message(*causes: str) -> str:
    """Return what a deployment says of its replicas, each of which says why it is not Ready."""
    names = [f"c{at}" for at in range(len(causes))]
    waiting = [{"conditions": [{"type": "ModelReady", "status": "False", "message": why}]} for why in causes]
    own = [replica(name, served=False, status=status) for name, status in zip(names, waiting, strict=True)]
    result, _ = run(deployment(replicas=len(names)), Server(*map(cluster, names), *own), *own)
    found: str = next(each.message for each in result.conditions if each.type == "ReplicasReady")
    return found


@pytest.mark.proves("P73")
def test_many_replicas_that_wait_for_one_secret_are_one_sentence_with_a_count() -> None:
    message = ready_message(*[MISSING] * 5)
    assert message.count(MISSING) == 1
    assert message.startswith("0 of 5 replicas ready; not ready: 5 replicas (")
    assert " and 2 more): nothing runs yet" in message


def test_replicas_that_wait_for_different_things_are_said_apart() -> None:
    message = ready_message("engine main: 0 of 1 copies ready", MISSING)
    assert message.count("engine main: 0 of 1") == message.count(MISSING) == 1
    assert "replicas (" not in message

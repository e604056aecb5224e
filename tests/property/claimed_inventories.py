"""Whatever an inventory may say of the pool of a cluster, true or not, and how long it says so, as test inputs."""

import json
from typing import Any

from hypothesis import strategies as st

GPUS: dict[str, Any] = {
    "driver": "gpu.example.org",
    "count": 8,
    "capacity": {"gpu.example.org/memory": {"value": "80Gi"}},
}
#: Fields of a group of nodes, beside those of whole ones.
LIES: tuple[dict[str, Any], ...] = (
    {},
    {"ready": False},
    {"taints": ["team=x:NoSchedule"]},
    {"usedBy": "lab/c"},
    {"devices": []},
    {"devices": [{**GPUS, "count": 1}]},
    {"devices": [{**GPUS, "unhealthy": 8}]},
    {"devices": [{**GPUS, "capacity": {"gpu.example.org/memory": {"value": "1Gi"}}}]},
    {"nodes": 10**9},
    {"nodes": "many"},
)


def whole(uid: str, *groups: dict[str, Any], pool: str = "pool", **fields: Any) -> str:
    """Return a document of one pool."""
    pools = {pool: [{"nodes": 1, "ready": True, "devices": [GPUS], **each} for each in groups]}
    return json.dumps({"version": 1, "clusterUID": uid, "at": 900, "settled": True, "pools": pools, **fields})


@st.composite
def documents(draw: st.DrawFn, uid: str) -> str | None:
    """Return what the inventory of a cluster publishes, None where its ConfigMap is gone."""
    groups = draw(st.lists(st.sampled_from(LIES), max_size=3))
    pool = draw(st.sampled_from(["pool", "pool", "another"]))
    said = whole(uid, *groups, pool=pool)
    odd = [
        None,
        "",
        "{",
        "x" * 100_001,
        whole("another", *groups),
        whole(uid, *groups, version=2),
        whole(uid, *groups, settled=False),
        whole(uid, *groups, pools={}),
        whole(uid, *groups, pools={"pool": 3}),
    ]
    return draw(st.one_of(st.just(said), st.just(said), st.sampled_from(odd)))

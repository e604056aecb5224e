"""Which profiles are refused because their arguments contradict what they ask for, and which say the same."""

from typing import Any

import pytest

from modelplane.catalogue import Expansion, InvalidProfile, expand
from unit.catalogue.profiles import MODEL, profile, refused

CONTRADICTIONS = [
    (
        profile("--tensor-parallel-size=4", gpus=8, parallelism={"tensor": 8}),
        "engine.args",
        "--tensor-parallel-size=4 contradicts replicaTopology.parallelism.tensor: 8; remove one, or make them equal",
    ),
    (
        profile("-tp", "4", gpus=8, parallelism={"tensor": 8}),
        "engine.args",
        "-tp=4 contradicts replicaTopology.parallelism.tensor: 8; remove one, or make them equal",
    ),
    (
        profile("--tp-size=4", gpus=8, engine="SGLang", parallelism={"tensor": 8}),
        "engine.args",
        "--tp-size=4 contradicts replicaTopology.parallelism.tensor: 8; remove one, or make them equal",
    ),
    (
        profile("--nnodes=4", nodes=2, gpus=8, parallelism={"tensor": 8, "pipeline": 2}),
        "engine.args",
        "--nnodes=4 contradicts replicaTopology.nodes: 2; remove one, or make them equal",
    ),
    (
        profile("--tensor-parallel-size=eight", gpus=8),
        "engine.args",
        "--tensor-parallel-size=eight is no whole number",
    ),
    (
        profile("--enable-expert-parallel", gpus=8, parallelism={"tensor": 8, "expert": "disabled"}),
        "engine.args",
        "--enable-expert-parallel contradicts replicaTopology.parallelism.expert: disabled; remove one of them",
    ),
    (
        profile(nodes=2, gpus=8, parallelism={"tensor": 8}),
        "replicaTopology.parallelism",
        "tensor 8 x pipeline 1 x data 1 = 8 GPUs, but nodes 2 x gpusPerNode 8 = 16; make both equal",
    ),
    (
        profile("--tensor-parallel-size=4", gpus=8, parallelism={"data": 4}),
        "replicaTopology.parallelism",
        "tensor 4 x pipeline 1 x data 4 = 16 GPUs, but nodes 1 x gpusPerNode 8 = 8; make both equal",
    ),
    (
        profile("--distributed-executor-backend=mp", nodes=2, gpus=1, launcher="Ray", parallelism={"pipeline": 2}),
        "engine.args",
        "--distributed-executor-backend=mp contradicts engine.launcher: Ray; remove one of them",
    ),
    (
        profile(nodes=2, gpus=1, engine="SGLang", launcher="Ray", parallelism={"tensor": 2}),
        "engine.launcher",
        "Ray is vLLM's; SGLang launches itself: use Auto or None",
    ),
    (
        profile("--node-rank=0", nodes=2, gpus=1, parallelism={"pipeline": 2}),
        "engine.args",
        "--node-rank=0 gives all nodes one rank; remove it, each node gets its own",
    ),
    (
        profile("--node-rank", "1", nodes=2, gpus=1, engine="SGLang", parallelism={"tensor": 2}),
        "engine.args",
        "--node-rank=1 gives all nodes one rank; remove it, each node gets its own",
    ),
    (
        profile("--headless", nodes=2, gpus=1, parallelism={"pipeline": 2}),
        "engine.args",
        "--headless keeps the leader from serving requests; remove it, the workers alone get it",
    ),
    (
        profile(nodes=2, gpus=8, engine="SGLang", parallelism={"tensor": 8, "data": 2}),
        "replicaTopology.parallelism",
        "SGLang refuses --dp-size=2 on several nodes without --enable-dp-attention; add that to engine.args",
    ),
]


def _contradicts(given: str, said: str) -> str:
    return f"{given} contradicts {said}; remove one, or make them equal"


_TWO = {"nodes": 2, "gpus": 8, "parallelism": {"tensor": 8, "pipeline": 2}}
_REPO = "huggingFace.repo: moonshotai/Kimi-K2-Instruct"
_NAME = "model.name: moonshotai/Kimi-K2-Instruct"
_EXPERT = "replicaTopology.parallelism.expert"
_HEADLESS = "keeps the engine from serving requests, and replicaTopology.nodes is 1; remove it"
#: Arguments, the profile that they contradict, and why they are refused.
ARGUMENTS: list[tuple[list[str], dict[str, Any], str]] = [
    (
        ["--no-enable-expert-parallel"],
        {"parallelism": {"expert": "enabled"}},
        f"--no-enable-expert-parallel contradicts {_EXPERT}: enabled; remove one of them",
    ),
    (
        ["--enable-expert-parallel", "--no_enable_expert_parallel"],
        {"parallelism": {"expert": "enabled"}},
        f"--no_enable_expert_parallel contradicts {_EXPERT}: enabled; remove one of them",
    ),
    (["-ep"], {"parallelism": {"expert": "disabled"}}, f"-ep contradicts {_EXPERT}: disabled; remove one of them"),
    (
        ["--ep-size", "1"],
        {"engine": "SGLang", "parallelism": {"expert": "enabled"}},
        f"--ep-size=1 contradicts {_EXPERT}: enabled; remove one of them",
    ),
    (
        ["--ep=8"],
        {"engine": "SGLang", "parallelism": {"expert": "disabled"}},
        f"--ep=8 contradicts {_EXPERT}: disabled; remove one of them",
    ),
    (["--model=org/other"], {}, _contradicts("--model=org/other", _REPO)),
    (["org/other"], {}, _contradicts("org/other", _REPO)),
    (["--model-path", "org/other"], {"engine": "SGLang"}, _contradicts("--model-path=org/other", _REPO)),
    (["--served-model-name=kimi"], {}, _contradicts("--served-model-name=kimi", _NAME)),
    (["--served-model-name", "kimi", "k2"], {}, _contradicts("--served-model-name=kimi k2", _NAME)),
    (["--served-model-name=kimi"], {"engine": "SGLang"}, _contradicts("--served-model-name=kimi", _NAME)),
    (["--nnodes=2"], {}, _contradicts("--nnodes=2", "replicaTopology.nodes: 1")),
    (["-n", "2"], {}, _contradicts("-n=2", "replicaTopology.nodes: 1")),
    (["--nnodes", "2"], {"engine": "SGLang"}, _contradicts("--nnodes=2", "replicaTopology.nodes: 1")),
    (["--node-rank=1"], {}, "--node-rank=1 contradicts replicaTopology.nodes: 1; remove one of them"),
    (["--headless"], {}, f"--headless {_HEADLESS}"),
    (
        ["--nnodes=2"],
        {**_TWO, "launcher": "Ray"},
        "--nnodes=2 contradicts engine.launcher: Ray, which gathers the nodes; remove it",
    ),
    (
        ["--distributed-executor-backend", "ray", "-n=2"],
        _TWO,
        "-n=2 contradicts --distributed-executor-backend=ray, which gathers the nodes; remove it",
    ),
    (
        ["--master-addr=x"],
        {**_TWO, "launcher": "Ray"},
        "--master-addr=x contradicts engine.launcher: Ray, which gathers the nodes; remove it",
    ),
    (
        ["-hl"],
        {**_TWO, "launcher": "Ray"},
        "-hl keeps the leader from serving requests; remove it, the workers alone get it",
    ),
    (
        ["--master-addr=10.0.0.1"],
        _TWO,
        "--master-addr=10.0.0.1 gives all replicas one leader; remove it, each replica gets its own",
    ),
    (
        ["--dist-init-addr", "10.0.0.1:20000"],
        {"nodes": 2, "gpus": 8, "engine": "SGLang", "parallelism": {"tensor": 16}},
        "--dist-init-addr=10.0.0.1:20000 gives all replicas one leader; remove it, each replica gets its own",
    ),
]


@pytest.mark.parametrize(("args", "more", "why"), ARGUMENTS, ids=[" ".join(args) for args, *_ in ARGUMENTS])
def test_arguments_that_contradict_what_is_generated_or_asked_are_refused_with_both_sides(
    args: list[str], more: dict[str, Any], why: str
) -> None:
    assert refused(profile(*args, **more)) == InvalidProfile("p", "engine.args", why)


MOUNTED = "the deployment's modelCacheRef, which mounts the weights at /mnt/models"
#: Arguments, whether a deployment has its weights cached, and what they contradict; "" for nothing.
WEIGHTS: list[tuple[str, bool, str]] = [
    ("--model=moonshotai/Kimi-K2-Instruct", False, ""),
    ("--model=moonshotai/Kimi-K2-Instruct", True, MOUNTED),
    ("--model=/mnt/models", True, ""),
    ("--model=/mnt/models/", True, ""),
    ("--model=/mnt/models/model.gguf", True, ""),
    ("--model=/mnt/modelsx", True, MOUNTED),
    ("/mnt/models", True, ""),
    ("--served-model-name=moonshotai/Kimi-K2-Instruct", False, ""),
    ("--revision=main", False, "huggingFace.revision: v2"),
    ("--revision=v2", False, ""),
    ("--revision=main", True, ""),
]


@pytest.mark.parametrize(("arg", "cached", "said"), WEIGHTS)
def test_weights_that_are_given_must_be_those_of_the_model_or_of_the_deployments_cache(
    arg: str, cached: bool, said: str
) -> None:
    model = {**MODEL, "huggingFace": {**MODEL["huggingFace"], "revision": "v2"}}
    found = expand(model, profile(arg), cached=cached)
    expected = InvalidProfile("p", "engine.args", _contradicts(arg, said)) if said else None
    assert (found if isinstance(found, InvalidProfile) else None) == expected


@pytest.mark.parametrize(
    ("args", "more"),
    [
        (["--model=/weights"], {}),
        (["--served-model-name", "kimi", "plain"], {}),
        (["--no-enable-expert-parallel"], {"parallelism": {"expert": "disabled"}}),
        (["--ep-size=1"], {"engine": "SGLang", "parallelism": {"expert": "disabled"}}),
        (["--ep-size=4"], {"engine": "SGLang", "gpus": 8, "parallelism": {"tensor": 8, "expert": "enabled"}}),
        (["--nnodes=1", "--node-rank=0"], {}),
        (["--master-addr=$(MODELPLANE_LEADER_ADDRESS)"], _TWO),
    ],
    ids=lambda case: " ".join(case) if isinstance(case, list) else "",
)
def test_what_says_the_same_or_nothing_else_says_is_accepted(args: list[str], more: dict[str, Any]) -> None:
    plain = {"model": {"name": "plain"}, "source": "HuggingFace"}
    assert isinstance(expand(plain, profile(*args, **more), cached=False), Expansion)


@pytest.mark.parametrize(
    ("of", "field", "why"), CONTRADICTIONS, ids=lambda case: "" if isinstance(case, dict) else case
)
def test_what_contradicts_itself_is_refused_with_both_sides(of: dict[str, Any], field: str, why: str) -> None:
    assert refused(of) == InvalidProfile("p", field, why)


@pytest.mark.parametrize(
    "of",
    [
        profile(nodes=2, gpus=8, parallelism={"tensor": 8, "pipeline": 2, "expert": "enabled"}),
        profile(gpus=8, engine="SGLang", parallelism={"tensor": 8, "data": 8}) | {"x": "--enable-dp-attention"},
        profile(nodes=2, gpus=4, parallelism={"tensor": 2, "pipeline": 2, "data": 2}),
        profile("--enable-dp-attention", nodes=2, gpus=8, engine="SGLang", parallelism={"tensor": 16, "data": 16}),
        profile(),
    ],
)
def test_experts_take_no_gpus_of_their_own_nor_does_data_parallelism_within_tensor(of: dict[str, Any]) -> None:
    if "x" in of:
        of["engine"]["args"].append(of.pop("x"))
    assert isinstance(expand(MODEL, of, cached=False), Expansion)

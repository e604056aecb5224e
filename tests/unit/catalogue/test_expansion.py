"""What a profile of a ClusterModel expands to: pods, device requests, arguments; and what is refused."""

from typing import Any

import pytest

from modelplane.catalogue import Expansion, InvalidProfile, expand
from modelplane.model.catalogue import Requires
from unit.catalogue.engines import VLLM_FLAGS, flags_of

MODEL: dict[str, Any] = {
    "model": {"name": "moonshotai/Kimi-K2-Instruct"},
    "source": "HuggingFace",
    "huggingFace": {"repo": "moonshotai/Kimi-K2-Instruct"},
}


def profile(*args: str, nodes: int = 1, gpus: int = 1, engine: str = "vLLM", **more: Any) -> dict[str, Any]:
    """Return a short profile with these arguments; `launcher`, `command` and `parallelism` go where they belong."""
    block: dict[str, Any] = {"name": engine, "image": "engine:v1", "args": list(args)}
    block |= {key: more.pop(key) for key in ("launcher", "command", "env", "imagePullSecrets") if key in more}
    return {"name": "p", "replicaTopology": {"nodes": nodes, "gpusPerNode": gpus} | more, "engine": block}


def expanded(of: dict[str, Any], *, cached: bool = False, model: dict[str, Any] = MODEL) -> Expansion:
    """Return the expansion of a profile that is valid."""
    found = expand(model, of, cached=cached)
    assert isinstance(found, Expansion), found
    return found


def container(of: dict[str, Any], member: int = 0, *, cached: bool = False, model: dict[str, Any] = MODEL) -> Any:
    """Return the engine container of a member."""
    (engine,) = expanded(of, cached=cached, model=model).engines
    return engine["members"][member]["template"]["spec"]["containers"][0]


def refused(of: dict[str, Any]) -> InvalidProfile:
    """Return why a profile is refused."""
    found = expand(MODEL, of, cached=False)
    assert isinstance(found, InvalidProfile), found
    return found


def test_one_node_is_a_standalone_that_asks_for_the_gpus_of_its_pool() -> None:
    found = expanded(profile(gpus=2, parallelism={"tensor": 2}))
    (engine,) = found.engines
    assert engine["name"] == "p"
    assert [member["role"] for member in engine["members"]] == ["Standalone"]
    assert engine["members"][0]["nodeSelector"]["devices"] == [{"name": "gpu", "count": 2, "selectors": []}]
    assert found.resolves_gpu


def test_replicas_share_nodes_only_where_the_placement_says_so() -> None:
    (spread,) = expanded(profile(placement={"podsAcrossNodes": "required", "replicasAcrossNodes": "preferred"})).engines
    (shared,) = expanded(profile(placement={"replicasAcrossNodes": "none"})).engines
    assert "replicasAcrossNodes" not in spread
    assert shared == {**spread, "replicasAcrossNodes": "none"}


def test_several_nodes_are_a_leader_and_the_other_nodes_as_workers() -> None:
    found = expanded(profile(nodes=3, gpus=8, parallelism={"tensor": 8, "pipeline": 3}))
    leader, worker = found.engines[0]["members"]
    assert (leader["role"], worker["role"], worker["worker"]) == ("Leader", "Worker", {"nodes": 2})
    assert leader["nodeSelector"] == worker["nodeSelector"]
    assert found.requires.several_nodes


def test_what_is_required_of_the_pool_is_all_of_requires() -> None:
    block = {
        "memoryPerGpu": "141Gi",
        "interconnect": "nvlink",
        "precisionSupport": ["fp8"],
        "nvlinkDomainSize": 8,
        "multiNodeBandwidth": "ib-400g-or-better",
    }
    assert expanded(profile(requires=block)).requires == Requires("141Gi", "nvlink", ("fp8",), 8, "ib-400g-or-better")


def test_devices_named_gpu_add_conditions_to_the_gpus_and_others_are_further_claims() -> None:
    hopper = {"cel": 'device.attributes["gpu.nvidia.com"].architecture == "Hopper"'}
    rdma = {"name": "nic", "count": 8, "selectors": [{"cel": 'device.driver == "nic.example.com"'}]}
    devices = [rdma, {"name": "gpu", "selectors": [hopper]}]
    found = expanded(profile(devices=devices)).engines[0]["members"][0]["nodeSelector"]["devices"]
    assert found == [{"name": "gpu", "count": 1, "selectors": [hopper]}, rdma]


def test_what_is_not_given_is_generated_and_given_arguments_stay_first_and_as_they_are() -> None:
    assert container(profile("--max-model-len=8192", gpus=4, parallelism={"tensor": 2, "pipeline": 2}))["args"] == [
        "--max-model-len=8192",
        "--model=moonshotai/Kimi-K2-Instruct",
        "--served-model-name=moonshotai/Kimi-K2-Instruct",
        "--tensor-parallel-size=2",
        "--pipeline-parallel-size=2",
    ]


@pytest.mark.parametrize(
    "given",
    [
        ["--tensor-parallel-size=2"],
        ["--tensor-parallel-size", "2"],
        ["--tensor_parallel_size=2"],
        ["-tp", "2"],
        ["-tp=2"],
        ["--tensor-parallel-size=4", "-tp=2"],
    ],
)
def test_a_flag_that_is_given_in_any_form_is_not_generated(given: list[str]) -> None:
    args = container(profile(*given, gpus=2, parallelism={"tensor": 2}))["args"]
    assert args[: len(given)] == given
    assert not any(word.startswith("--tensor") for word in args[len(given) :])


def test_a_model_that_is_given_by_its_place_is_not_named_again() -> None:
    args = container(profile("moonshotai/Kimi-K2-Instruct"))["args"]
    assert not [word for word in args if word.startswith("--model")]


def test_weights_are_the_mounted_ones_else_the_repository_at_its_revision_with_its_token() -> None:
    token = {"name": "hub", "key": "token"}
    model = MODEL | {"huggingFace": {"repo": "org/model", "revision": "v2", "tokenSecretRef": token}}
    cached, plain = container(profile(), cached=True, model=model), container(profile(), model=model)
    assert "--model=/mnt/models" in cached["args"]
    assert not [word for word in cached["args"] if word.startswith("--revision")]
    assert "env" not in cached
    assert plain["args"][:2] == ["--model=org/model", "--revision=v2"]
    assert plain["env"] == [{"name": "HF_TOKEN", "valueFrom": {"secretKeyRef": token}}]


def test_a_token_that_is_given_stays() -> None:
    model = MODEL | {"huggingFace": {"repo": "org/model", "tokenSecretRef": {"name": "hub", "key": "token"}}}
    env = [{"name": "HF_TOKEN", "value": "given"}]
    assert container(profile(env=env), model=model)["env"] == env


def test_expert_parallelism_is_a_switch_of_vllm_and_a_number_of_sglang() -> None:
    spread = {"tensor": 8, "expert": "enabled"}
    assert "--enable-expert-parallel" in container(profile(gpus=8, parallelism=spread))["args"]
    assert "--ep-size=8" in container(profile(gpus=8, engine="SGLang", parallelism=spread))["args"]


def test_a_gang_of_vllm_processes_gets_its_nodes_rank_and_leader() -> None:
    of = profile(nodes=2, gpus=8, parallelism={"tensor": 8, "pipeline": 2})
    leader, worker = container(of, 0)["args"], container(of, 1)["args"]
    common = "--master-addr=$(MODELPLANE_LEADER_ADDRESS)"
    assert leader[-3:] == ["--nnodes=2", "--node-rank=0", common]
    assert worker[-4:] == ["--nnodes=2", "--node-rank=$(MODELPLANE_RANK)", common, "--headless"]
    assert "--headless" not in leader
    assert leader[:-3] == worker[:-4]


def test_a_gang_of_sglang_gets_its_own_flags_and_listens_where_it_is_asked() -> None:
    of = profile(nodes=2, gpus=8, engine="SGLang", parallelism={"tensor": 16})
    leader, worker = container(of, 0), container(of, 1)
    assert leader["command"] == worker["command"] == ["python3", "-m", "sglang.launch_server"]
    expected = [
        "--model-path=moonshotai/Kimi-K2-Instruct",
        "--served-model-name=moonshotai/Kimi-K2-Instruct",
        "--tp-size=16",
        "--host=0.0.0.0",
        "--port=8000",
        "--nnodes=2",
    ]
    address = "--dist-init-addr=$(MODELPLANE_LEADER_ADDRESS):20000"
    assert leader["args"] == [*expected, "--node-rank=0", address]
    assert worker["args"] == [*expected, "--node-rank=$(MODELPLANE_RANK)", address]


@pytest.mark.parametrize(
    ("args", "more"), [(["--distributed-executor-backend=ray"], {}), ([], {"launcher": "Ray"})], ids=str
)
def test_a_gang_of_ray_waits_for_its_nodes_and_then_serves(args: list[str], more: dict[str, Any]) -> None:
    of = profile(*args, nodes=2, gpus=8, parallelism={"tensor": 8, "pipeline": 2}, **more)
    leader, worker = container(of, 0), container(of, 1)
    script = leader["command"][2]
    assert leader["command"][:2] == ["sh", "-c"]
    assert script.startswith("ray start --head --port=6379")
    assert "-ge 2 ]" in script
    assert script.endswith('exec python3 -m vllm.entrypoints.openai.api_server "$@"')
    assert [word for word in leader["args"] if "backend" in word] == ["--distributed-executor-backend=ray"]
    assert "ray start --address=$(MODELPLANE_LEADER_ADDRESS):6379 --block" in worker["command"][2]
    assert "args" not in worker
    assert not [word for word in leader["args"] if word.startswith(("--nnodes", "--node-rank", "--master"))]


def test_data_parallelism_over_nodes_with_ray_is_warned_of() -> None:
    of = profile(nodes=2, gpus=8, launcher="Ray", parallelism={"tensor": 8, "data": 2})
    assert expanded(of).warnings == (
        "vLLM hangs when data parallelism spans nodes with Ray: use launcher Multiprocessing",
    )


def test_a_command_gets_nothing_generated_and_so_does_an_engine_of_another_name() -> None:
    given = profile("--x=1", nodes=2, gpus=8, command=["/serve"])
    assert [container(given, at)["args"] for at in (0, 1)] == [["--x=1"], ["--x=1"]]
    assert container(given)["command"] == ["/serve"]
    assert container(profile("--x=1", nodes=2, gpus=8, engine="Other"), 1)["args"] == ["--x=1"]


def test_without_a_launcher_a_gang_gets_no_flags_of_its_nodes() -> None:
    of = profile(nodes=2, gpus=8, launcher="None", parallelism={"tensor": 16})
    assert container(of, 0)["args"] == container(of, 1)["args"]
    assert not [word for word in container(of)["args"] if word.startswith(("--nnodes", "--node-rank", "--headless"))]


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


@pytest.mark.parametrize(
    "of",
    [
        profile("--node-rank=$(MODELPLANE_RANK)", nodes=2, gpus=1, parallelism={"pipeline": 2}),
        profile("--node-rank=0", "--headless", nodes=2, gpus=1, launcher="None", parallelism={"pipeline": 2}),
    ],
    ids=["its own rank", "launcher None"],
)
def test_a_rank_that_is_given_stays_where_it_is_that_of_each_node_or_nothing_is_generated(of: dict[str, Any]) -> None:
    for member in (0, 1):
        words = [word for word in container(of, member)["args"] if word.startswith("--node-rank")]
        assert words == [of["engine"]["args"][0]]


def test_the_long_form_is_its_engines_as_they_are() -> None:
    engines = [{"name": "prefill", "members": [{"role": "Leader"}, {"role": "Worker"}]}]
    long = {"name": "pd", "engines": engines, "serving": {"mode": "PrefillDecode"}, "requires": {"interconnect": "x"}}
    found = expanded(long)
    assert found.engines == tuple(engines)
    assert found.serving == {"mode": "PrefillDecode"}
    assert found.requires == Requires(interconnect="x", several_nodes=True)
    assert not found.resolves_gpu


SPREADS = [
    profile(gpus=8, parallelism={"tensor": 2, "pipeline": 2, "data": 2, "expert": "enabled"}),
    profile("--distributed-executor-backend=ray", nodes=2, gpus=8, parallelism={"tensor": 8, "pipeline": 2}),
    profile(nodes=2, gpus=8, parallelism={"tensor": 8, "pipeline": 2, "expert": "enabled"}),
]


@pytest.mark.parametrize("of", SPREADS, ids=["one node", "ray", "multiprocessing"])
def test_each_generated_flag_is_one_that_the_engine_knows(of: dict[str, Any]) -> None:
    for member in range(len(expanded(of).engines[0]["members"])):
        written = flags_of(container(of, member).get("args", ()))
        for version, known in VLLM_FLAGS.items():
            since = {"--nnodes", "--node-rank", "--master-addr"} if version == "0.9.0" else set()
            assert written - since <= known, version

"""What a profile of a ClusterModel expands to: pods, device requests, arguments."""

from typing import Any

import pytest

from modelplane.model.catalogue import Requires
from unit.catalogue.engines import VLLM_FLAGS, flags_of
from unit.catalogue.profiles import MODEL, container, expanded, profile


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


LISTENING: dict[str, Any] = {
    "ports": [{"name": "http", "containerPort": 9000}],
    "startupProbe": {"httpGet": {"path": "/s"}},
    "readinessProbe": {"httpGet": {"path": "/r"}},
    "livenessProbe": {"httpGet": {"path": "/l"}},
}


@pytest.mark.parametrize("nodes", [1, 2])
def test_where_the_engine_listens_is_where_requests_are_taken_and_not_in_a_worker(nodes: int) -> None:
    found = profile("--port=9000", nodes=nodes, gpus=8, parallelism={"tensor": 8 * nodes}, **LISTENING)
    taking, *workers = (container(found, at) for at in range(nodes))
    assert {name: taking[name] for name in LISTENING} == LISTENING
    assert [worker for worker in workers if LISTENING.keys() & worker.keys()] == []


@pytest.mark.parametrize("engine", ["vLLM", "SGLang"])
def test_an_engine_is_started_on_the_port_that_its_profile_states(engine: str) -> None:
    ports = [{"name": "metrics", "containerPort": 9400}, {"name": "http", "containerPort": 9000}]
    assert container(profile(engine=engine, ports=ports))["args"][-1] == "--port=9000"
    given = container(profile("--port", "9000", engine=engine, ports=ports))["args"]
    assert [each for each in given if each.startswith("--port")] == ["--port"]
    of_image = container(profile(engine="Other", ports=ports))
    assert "args" not in of_image


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


@pytest.mark.proves("P114")
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

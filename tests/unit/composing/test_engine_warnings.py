"""What of the engines of a deployment or replica is probably a mistake is said with what to do."""

from typing import Any

import pytest

from modelplane.composing.engine_warnings import find_warnings
from modelplane.step import Object

GPU = {"devices": [{"name": "gpu", "selectors": [{"cel": "true"}]}]}


def member(*args: str, role: str = "Standalone", **fields: Any) -> dict[str, Any]:
    template = {"spec": {"containers": [{"name": "engine", "image": "e", "args": list(args)}]}}
    return {"role": role, "nodeSelector": GPU, "template": template, **fields}


def engine(name: str, *args: str, **fields: Any) -> dict[str, Any]:
    return {"name": name, "members": [member(*args)], **fields}


def gang(**worker: Any) -> dict[str, Any]:
    members = [member(role="Leader"), {**member("--model=/mnt/models", role="Worker"), **worker}]
    return {"name": "main", "members": members}


def warnings(*engines: dict[str, Any], mode: str = "Unified", picked: bool = False, **spec: Any) -> tuple[str, ...]:
    metadata = {"name": "d", "namespace": "n", "annotations": {"modelplane.ai/endpoint-picker": str(picked).lower()}}
    body = {"kind": "ModelDeployment", "metadata": metadata}
    return find_warnings(
        Object({**body, "spec": {"engines": list(engines), "serving": {"mode": mode}, **spec}}, object())
    )


def test_a_gang_without_a_cache_is_warned_of_and_one_with_a_cache_is_not() -> None:
    assert warnings(gang()) == (
        "engine main is a gang without spec.modelCacheRef: every pod downloads the weights itself. Stage them in a "
        "ModelCache and name it.",
    )
    assert warnings(gang(), modelCacheRef={"name": "weights"}) == ()


@pytest.mark.proves("P12")
@pytest.mark.parametrize(
    "container",
    [
        {"command": ["/bin/sh", "-c", "exec vllm serve /mnt/models --port=8000"]},
        {"args": ["--model=/mnt/models/part"]},
        {"args": ["/mnt/models"]},
    ],
)
def test_an_engine_that_loads_from_the_cache_without_naming_one_is_told_that_nothing_is_mounted(
    container: dict[str, Any],
) -> None:
    alone = {"name": "main", "members": [{**member(), "template": template(**container)}]}
    together = gang()
    together["members"][0] = {**together["members"][0], "template": template(**container)}
    for written in (alone, together):
        (warning,) = warnings(written)
        assert "/mnt/models" in warning
        assert "without spec.modelCacheRef nothing is mounted there" in warning
    assert warnings(alone, modelCacheRef={"name": "weights"}) == ()


@pytest.mark.proves("P12")
def test_an_engine_that_loads_other_weights_than_those_of_its_cache_is_warned_of() -> None:
    cached: dict[str, Any] = {"modelCacheRef": {"name": "weights"}}
    assert warnings(engine("main", "--model=Qwen/Qwen3-8B"), **cached) == (
        "engine main loads Qwen/Qwen3-8B, which every pod downloads itself, although spec.modelCacheRef is staged. "
        "Load /mnt/models instead, or remove spec.modelCacheRef.",
    )
    for staged in ("/mnt/models", "/mnt/models/part", "/opt/weights", "$(MODEL)"):
        assert warnings(engine("main", f"--model={staged}"), **cached) == ()
    assert warnings(engine("main", "--model=Qwen/Qwen3-8B")) == ()


@pytest.mark.proves("P132")
def test_a_worker_that_requests_no_devices_is_warned_of() -> None:
    assert warnings(gang(nodeSelector=None), modelCacheRef={"name": "weights"}) == (
        "engine main: its Worker requests no devices, so its pods get no GPU and may share a node. Give it a "
        "nodeSelector.",
    )
    resolved = gang(nodeSelector=None, deviceRequests=[{"name": "gpu"}])
    assert warnings(resolved, modelCacheRef={"name": "weights"}) == ()


def template(**fields: Any) -> dict[str, Any]:
    return {"spec": {"containers": [{"name": "engine", "image": "e", **fields}]}}


@pytest.mark.proves("P129")
@pytest.mark.parametrize(
    ("given", "warned"),
    [
        ({}, True),
        ({"args": ["--headless"]}, True),
        ({"args": ["--model=/mnt/models", "--headless"]}, False),
        ({"args": ["--model-path", "/mnt/models"]}, False),
        ({"args": ["/mnt/models", "--headless"]}, False),
        ({"command": ["/bin/join-ray"]}, False),
        ({"image": "nvcr.io/nim/meta/llama:1"}, False),
    ],
)
def test_a_worker_that_is_not_told_what_to_load_is_warned_of(given: dict[str, Any], *, warned: bool) -> None:
    expected = (
        "engine main: its Worker has no command and no --model, and is not told where the weights are. Give it a "
        "command, or the argument --model=/mnt/models.",
    )
    cached = {"name": "weights"}
    assert warnings(gang(template=template(**given)), modelCacheRef=cached) == (expected if warned else ())
    assert expected[0] not in warnings(gang(template=template(**given)))


#: Workers of a gang without a cache: the image, its command and arguments, and what they are to be given.
UNTOLD: dict[str, tuple[dict[str, Any], str]] = {
    "vLLM": ({"image": "vllm/vllm-openai", "args": ["--headless"]}, "--model"),
    "SGLang": ({"image": "x", "command": ["python3", "-m", "sglang.launch_server", "--nnodes=2"]}, "--model-path"),
    "TensorRT-LLM": ({"image": "x", "command": ["trtllm-serve", "--tp_size=8"]}, "the model as an argument"),
    "vLLM with one": ({"image": "vllm/vllm-openai", "args": ["--headless", "--model=a/b"]}, ""),
    "vLLM with one as an argument": ({"image": "x", "command": ["vllm", "serve", "a/b", "--headless"]}, ""),
    "SGLang with one": ({"image": "x", "command": ["python3", "-m", "sglang.launch_server", "--model=a"]}, ""),
    "TensorRT-LLM with one": ({"image": "x", "command": ["trtllm-serve", "serve", "a/b"]}, ""),
    "TensorRT-LLM with one after its name": ({"image": "x", "command": ["trtllm-serve", "a/b"]}, ""),
    "a file": ({"image": "vllm/vllm-openai", "args": ["--config=/etc/vllm.yaml"]}, ""),
    "a script": ({"image": "vllm/vllm-openai", "command": ["/bin/join"]}, ""),
    "Ray": ({"image": "vllm/vllm-openai", "command": ["ray", "start", "--block"]}, ""),
    "a NIM, which has its model": ({"image": "nvcr.io/nim/meta/llama:1"}, ""),
    "an engine of which nothing is known": ({"image": "own"}, ""),
}


@pytest.mark.proves("P11")
@pytest.mark.parametrize(("container", "needed"), UNTOLD.values(), ids=UNTOLD)
def test_a_worker_that_is_told_no_model_is_warned_of_without_a_cache_too(
    container: dict[str, Any], needed: str
) -> None:
    found = [each for each in warnings(gang(template=template(**container))) if "which model" in each]
    expected = f"engine main: its Worker is not told which model to load. Give it {needed}."
    assert found == ([expected] if needed else [])


#: Engines with a cache: the container, and what it has to be given so that it loads the cache, "" if it does.
STAGED: dict[str, tuple[dict[str, Any], str]] = {
    "TensorRT-LLM": (
        {"image": "nvidia/tensorrt-llm/release", "command": ["trtllm-serve", "--tp_size=1"]},
        "the argument /mnt/models",
    ),
    "llama.cpp": ({"image": "ggml-org/llama.cpp", "args": ["--hf-repo=a/b"]}, "--model=/mnt/models/FILE.gguf"),
    "NIM": ({"image": "nvcr.io/nim/meta/llama:1"}, "the variable NIM_MODEL_PATH=/mnt/models"),
    "Triton": (
        {"image": "nvidia/tritonserver", "args": ["tritonserver", "--model-repository=/models"]},
        "--model-repository=/mnt/models",
    ),
    "Ollama": ({"image": "ollama/ollama"}, "the variable OLLAMA_MODELS=/mnt/models"),
    "LMDeploy": ({"image": "lmdeploy", "args": ["lmdeploy", "serve", "api_server"]}, "the argument /mnt/models"),
    "vLLM with a command": ({"image": "x", "command": ["vllm", "serve"]}, "--model=/mnt/models"),
    "vLLM, which is given a flag": ({"image": "vllm/vllm-openai"}, ""),
    "TGI, which is given a flag": ({"image": "x/text-generation-inference"}, ""),
    "TensorRT-LLM that loads it": ({"image": "x", "command": ["trtllm-serve", "/mnt/models"]}, ""),
    "llama.cpp that loads it": ({"image": "x/llama.cpp", "args": ["-m", "/mnt/models/q4.gguf"]}, ""),
    "a NIM that loads it": (
        {"image": "nvcr.io/nim/x/y", "env": [{"name": "NIM_MODEL_PATH", "value": "/mnt/models"}]},
        "",
    ),
    "Triton that loads it": ({"image": "nvidia/tritonserver", "args": ["--model-repository=/mnt/models"]}, ""),
    "Ollama that loads it": ({"image": "ollama", "env": [{"name": "OLLAMA_MODELS", "value": "/mnt/models"}]}, ""),
    "a script": ({"image": "nvidia/tritonserver", "command": ["/start"]}, ""),
    "an engine of which nothing is known": ({"image": "own", "command": ["/start"]}, ""),
}


@pytest.mark.proves("P11")
@pytest.mark.parametrize(("container", "needed"), STAGED.values(), ids=STAGED)
def test_an_engine_that_is_not_told_to_load_its_cache_is_warned_of_with_what_to_give_it(
    container: dict[str, Any], needed: str
) -> None:
    one = {"name": "main", "members": [{**member(), "template": template(**container)}]}
    found = [each for each in warnings(one, modelCacheRef={"name": "weights"}) if "is not told" in each]
    assert [each.partition(" Give it ")[2] for each in found] == (
        [f"{needed}, or remove spec.modelCacheRef."] if needed else []
    )
    assert all("which is not told to load the weights that spec.modelCacheRef stages" in each for each in found)
    assert not [each for each in warnings(one) if "is not told" in each]


SIZES: dict[str, tuple[str, str, str, str]] = {
    "vLLM's tensor size": ("vllm/vllm-openai", "--tensor-parallel-size=8", "-tp=4", "--tensor-parallel-size is 8"),
    "SGLang's pipeline size": ("lmsysorg/sglang", "--pp-size=2", "--pipeline-parallel-size=4", "--pp-size is 2"),
    "TensorRT-LLM's tensor size": ("nvidia/tensorrt-llm/release", "--tp_size=8", "--tp_size=4", "--tp-size is 8"),
    "the same by another name": ("lmsysorg/sglang", "--tp-size=8", "--tp=8", ""),
    "the leader's alone": ("vllm/vllm-openai", "--tensor-parallel-size=8", "--headless", ""),
    "an engine of which nothing is known": ("own", "--tp-size=8", "--tp-size=4", ""),
}


@pytest.mark.parametrize(("image", "leader", "worker", "expected"), SIZES.values(), ids=SIZES)
def test_the_halves_of_a_gang_that_are_told_different_sizes_are_warned_of(
    image: str, leader: str, worker: str, expected: str
) -> None:
    members = [
        {"role": role, "nodeSelector": {}, "template": template(image=image, args=["--model=/mnt/models", size])}
        for role, size in (("Leader", leader), ("Worker", worker))
    ]
    found = [each for each in warnings({"name": "main", "members": members}) if "in its Worker" in each]
    assert (f"engine main: {expected} in its Leader and 4 in its Worker. Give both the same." in found) == bool(
        expected
    )
    assert len(found) == bool(expected)


def test_the_halves_of_a_gang_that_are_told_different_models_are_warned_of() -> None:
    members = [
        {"role": role, "nodeSelector": {}, "template": template(image="vllm/vllm-openai", args=[f"--model={model}"])}
        for role, model in (("Leader", "a/b"), ("Worker", "a/c"))
    ]
    expected = "engine main: --model is a/b in its Leader and a/c in its Worker. Give both the same."
    assert expected in warnings({"name": "main", "members": members})
    members[1]["template"] = template(image="vllm/vllm-openai", args=["--headless", "--model", "a/b"])
    assert [each for each in warnings({"name": "main", "members": members}) if "in its Worker" in each] == []


@pytest.mark.proves("P134")
@pytest.mark.parametrize(
    ("first", "second", "warned"),
    [
        ((), (), True),
        (("--model=a",), ("--model=b",), True),
        (("--model=a",), (), True),
        (("--model=a",), ("--model=a",), False),
        (("--model=a", "--served-model-name=m"), ("--model=b", "--served-model-name=m"), False),
    ],
)
def test_engines_behind_one_service_that_may_serve_different_models_are_warned_of(
    first: tuple[str, ...], second: tuple[str, ...], *, warned: bool
) -> None:
    expected = (
        "engines a, b answer behind one Service, which sends a request to any of them. Let them serve one model under "
        "one name, or make a ModelDeployment of each.",
    )
    assert warnings(engine("a", *first), engine("b", *second)) == (expected if warned else ())


@pytest.mark.parametrize(
    ("image", "decode_port", "wanted"),
    [
        ("vllm/vllm-openai:v0.15.0", "--port=8001", ("--kv-transfer-config", "--kv-transfer-config")),
        ("lmsysorg/sglang:v0.5.6", "", ("--disaggregation-mode=prefill", "--disaggregation-mode=decode")),
        ("own:1", "--port=8001", ()),
    ],
)
def test_halves_that_are_not_told_to_be_a_pair_are_warned_of(
    image: str, decode_port: str, wanted: tuple[str, ...]
) -> None:
    halves = [
        engine("p", "--port=8000", "--host=0.0.0.0", phase="Prefill"),
        engine("d", *filter(None, [decode_port]), "--host=0.0.0.0", phase="Decode"),
    ]
    for half in halves:
        half["members"][0]["template"]["spec"]["containers"][0]["image"] = image
    found = warnings(*halves, mode="PrefillDecode")
    assert [each.rpartition("Give it ")[2] for each in found] == [f"{flag}." for flag in wanted]
    for half, flag in zip(halves, wanted, strict=False):
        half["members"][0]["template"]["spec"]["containers"][0]["args"].append(
            f"{flag}={{}}" if "=" not in flag else flag
        )
    assert warnings(*halves, mode="PrefillDecode") == ()


def test_a_pair_that_cannot_serve_is_warned_of() -> None:
    halves = engine("p", phase="Prefill"), engine("d", phase="Decode")
    assert warnings(*halves, mode="PrefillDecode") == (
        "spec.engines[d].members[0].template.spec.containers[0]: no --port, it listens on 8000, the port of the decode "
        "sidecar, which takes the requests. Set another one, such as --port=8001, or declare where it listens in "
        "ports.",
    )
    assert warnings(halves[0], engine("d", "--port=8001", phase="Decode"), mode="PrefillDecode") == ()


def test_a_decode_engine_is_not_told_to_declare_the_port_of_its_sidecar() -> None:
    halves = engine("p", phase="Prefill"), engine("d", phase="Decode")
    container = halves[1]["members"][0]["template"]["spec"]["containers"][0]
    container |= {"image": "vllm/vllm-openai:v0.15.0", "ports": [{"name": "http", "containerPort": 8001}]}
    (warning,) = (each for each in warnings(*halves, mode="PrefillDecode") if "listens on 8000" in each)
    assert warning.endswith("Set another one, such as --port=8001.")


#: Engines and the address that they listen on: the container, and what lets requests reach it, "" if they do.
LOOPBACK: dict[str, tuple[dict[str, Any], str]] = {
    "SGLang": ({"image": "lmsysorg/sglang", "args": ["--model-path=m"]}, "--host=0.0.0.0"),
    "TensorRT-LLM": ({"image": "x", "command": ["trtllm-serve", "m"]}, "--host=0.0.0.0"),
    "llama.cpp in another image": ({"image": "x", "command": ["llama-server", "-m", "f"]}, "--host=0.0.0.0"),
    "Ollama in another image": ({"image": "x", "command": ["ollama", "serve"]}, "OLLAMA_HOST=0.0.0.0"),
    "Ollama that is told so": (
        {"image": "ollama/ollama", "env": [{"name": "OLLAMA_HOST", "value": "127.0.0.1:9000"}]},
        "OLLAMA_HOST=0.0.0.0",
    ),
    "vLLM that is told so": ({"image": "vllm/vllm-openai", "args": ["--host", "localhost"]}, "--host=0.0.0.0"),
    "SGLang that listens": ({"image": "lmsysorg/sglang", "args": ["--host=0.0.0.0"]}, ""),
    "SGLang on its pod's address": ({"image": "lmsysorg/sglang", "args": ["--host=$(POD_IP)"]}, ""),
    "SGLang that a file configures": ({"image": "lmsysorg/sglang", "args": ["--config=f.yaml"]}, ""),
    "SGLang that a script starts": ({"image": "lmsysorg/sglang", "command": ["/start"]}, ""),
    "llama.cpp's own image": ({"image": "ghcr.io/ggml-org/llama.cpp:server"}, ""),
    "Ollama's own image": ({"image": "ollama/ollama"}, ""),
    "vLLM": ({"image": "vllm/vllm-openai"}, ""),
    "an engine of which nothing is known": ({"image": "own"}, ""),
}


@pytest.mark.parametrize(("container", "setting"), LOOPBACK.values(), ids=LOOPBACK)
def test_an_engine_that_listens_on_loopback_alone_is_warned_of(container: dict[str, Any], setting: str) -> None:
    one = {"name": "main", "members": [{**member(), "template": template(**container)}]}
    found = [each.partition(" reach it. ")[2] for each in warnings(one) if "listens on loopback alone" in each]
    assert found == ([f"Set {setting}."] if setting else [])


def test_a_port_that_cannot_be_told_is_warned_of_and_another_port_is_not() -> None:
    (warning,) = warnings(engine("a", "--port=$PORT"))
    assert "--port '$PORT' is no port number, requests and probes go to 8000. Write the number" in warning
    assert warnings(engine("a", "--port=9000")) == ()


def test_engines_on_different_ports_behind_an_endpoint_picker_are_warned_of() -> None:
    both = engine("a", "--model=m", "--port=9000"), engine("b", "--model=m")
    assert warnings(*both) == ()
    (warning,) = warnings(*both, picked=True)
    assert "(a on 9000, b on 8000), and an endpoint picker sends all requests to port 9000" in warning

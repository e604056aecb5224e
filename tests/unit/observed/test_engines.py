"""What is known of an engine by its command and image: its port, and what it answers when it is well.

The rows are what the documentation of each engine says (`observed/engines.py` has the pages).
"""

from typing import Any

import pytest

from modelplane.observed.engine_port import engine_port
from modelplane.observed.engines import ENGINES, known_engine

pytestmark = pytest.mark.proves("P133")

HEALTH = ("/health", "/health")
NIM = ("/v1/health/ready", "/v1/health/live")
TRITON = ("/v2/health/ready", "/v2/health/live")
OLLAMA = ("/api/version", "/api/version")
UNKNOWN = ("/health", "")


def env(name: str, value: str) -> dict[str, Any]:
    return {"env": [{"name": name, "value": value}]}


KNOWN: dict[str, tuple[dict[str, Any], int, tuple[str, str]]] = {
    "vLLM's image": ({"image": "vllm/vllm-openai:v0.15.0"}, 8000, HEALTH),
    "an image of vLLM in another registry": ({"image": "registry.corp:5000/mirror/vllm-openai@sha256:0"}, 8000, HEALTH),
    "SGLang's image": ({"image": "lmsysorg/sglang:v0.5.6"}, 30000, HEALTH),
    "TensorRT-LLM's image": ({"image": "nvcr.io/nvidia/tensorrt-llm/release:1.1.0"}, 8000, HEALTH),
    "TGI's image": ({"image": "ghcr.io/huggingface/text-generation-inference:3.3.5"}, 80, HEALTH),
    "TGI's image, its command": (
        {"image": "ghcr.io/huggingface/text-generation-inference", "command": ["text-generation-launcher"]},
        80,
        HEALTH,
    ),
    "TGI in another image": ({"image": "own:1", "command": ["text-generation-launcher"]}, 3000, HEALTH),
    "TGI's image told by a variable": ({"image": "x/text-generation-inference", **env("PORT", "9000")}, 9000, HEALTH),
    "TGI's image told by a flag": (
        {"image": "x/text-generation-inference", "args": ["--port=9001"], **env("PORT", "9000")},
        9001,
        HEALTH,
    ),
    "llama.cpp's image": ({"image": "ghcr.io/ggml-org/llama.cpp:server-cuda"}, 8080, HEALTH),
    "llama.cpp told by a variable": ({"image": "x/llama.cpp", **env("LLAMA_ARG_PORT", "9000")}, 9000, HEALTH),
    "a NIM": ({"image": "nvcr.io/nim/meta/llama-3.1-8b-instruct:2.0.8"}, 8000, NIM),
    "a NIM told by a variable": ({"image": "nvcr.io/nim/x/y", **env("NIM_SERVER_PORT", "9000")}, 9000, NIM),
    "vLLM in the image of a NIM": ({"image": "nvcr.io/nim/x/y", "command": ["vllm", "serve", "m"]}, 8000, HEALTH),
    "Triton's image": ({"image": "nvcr.io/nvidia/tritonserver:26.01-py3", "args": ["tritonserver"]}, 8000, TRITON),
    "Triton told by a flag": ({"command": ["tritonserver", "--http-port=9000"]}, 9000, TRITON),
    "Ollama's image": ({"image": "ollama/ollama:0.13.0"}, 11434, OLLAMA),
    "Ollama told by a variable": ({"image": "ollama/ollama", **env("OLLAMA_HOST", "127.0.0.1:9000")}, 9000, OLLAMA),
    "Ollama told a host alone": ({"image": "ollama/ollama", **env("OLLAMA_HOST", "127.0.0.1")}, 11434, OLLAMA),
    "Ollama told a URL": ({"image": "ollama/ollama", **env("OLLAMA_HOST", "http://0.0.0.0")}, 80, OLLAMA),
    "Ollama told a URL with a port": ({"image": "ollama", **env("OLLAMA_HOST", "http://0.0.0.0:9000/")}, 9000, OLLAMA),
    "Ollama told a URL with a path": (
        {"image": "ollama/ollama", **env("OLLAMA_HOST", "http://0.0.0.0:9000/ollama")},
        9000,
        OLLAMA,
    ),
    "Ollama told in quotes": ({"image": "ollama/ollama", **env("OLLAMA_HOST", " '0.0.0.0:9000'")}, 9000, OLLAMA),
    "Ollama told an IPv6 address": ({"image": "ollama/ollama", **env("OLLAMA_HOST", "[::]")}, 11434, OLLAMA),
    "Ollama told a bare IPv6 address": ({"image": "ollama/ollama", **env("OLLAMA_HOST", "fd00::1")}, 11434, OLLAMA),
    "Ollama told in a command string": (
        {"image": "x", "command": ["sh", "-c", "ulimit -l 9; OLLAMA_HOST=0.0.0.0:9000 exec ollama serve"]},
        9000,
        OLLAMA,
    ),
    "Ollama told by an export, which holds before its environment": (
        {
            "image": "ollama/ollama",
            "command": ["sh", "-c", "export A=1 OLLAMA_HOST=0.0.0.0:9001; ollama serve"],
            **env("OLLAMA_HOST", "0.0.0.0:9000"),
        },
        9001,
        OLLAMA,
    ),
    "what a later command is told is not what the engine is told": (
        {"image": "ollama/ollama", "command": ["sh", "-c", "ollama serve & OLLAMA_HOST=h:9000 ollama pull m; wait"]},
        11434,
        OLLAMA,
    ),
    "TGI told by env": ({"image": "x", "command": ["env", "PORT=9000", "text-generation-launcher"]}, 9000, HEALTH),
    "SGLang after a keyword": (
        {"image": "x", "command": ["sh", "-c", "if [ -f /m ]; then exec sglang serve; fi"]},
        30000,
        HEALTH,
    ),
    "LMDeploy": ({"command": ["lmdeploy", "serve", "api_server", "m"]}, 23333, HEALTH),
    "a registry is no image": ({"image": "nim:5000/own/server"}, 8000, UNKNOWN),
    "an image of which nothing is known": ({"image": "own/server:1"}, 8000, UNKNOWN),
    "an image with a name that only contains one": ({"image": "own/not-vllm:1"}, 8000, UNKNOWN),
    "no image": ({}, 8000, UNKNOWN),
    "declared ports hold": (
        {"image": "ollama/ollama", "ports": [{"name": "api", "containerPort": 7000}], **env("OLLAMA_HOST", ":9000")},
        7000,
        OLLAMA,
    ),
    "of declared ports the one named http": (
        {"ports": [{"name": "metrics", "containerPort": 9400}, {"name": "http", "containerPort": 7001}]},
        7001,
        UNKNOWN,
    ),
}


@pytest.mark.parametrize(("container", "port", "paths"), KNOWN.values(), ids=KNOWN)
def test_an_engine_is_asked_as_its_documentation_says(
    container: dict[str, Any], port: int, paths: tuple[str, str]
) -> None:
    found = known_engine(container)
    assert (engine_port(container).number, (found.ready, found.live)) == (port, paths)


def test_a_port_from_a_secret_or_a_configmap_is_not_read_and_said_to_be_unreadable() -> None:
    source = {"configMapKeyRef": {"name": "c", "key": "k"}}
    found = engine_port({"image": "x/text-generation-inference", "env": [{"name": "PORT", "valueFrom": source}]})
    assert (found.flag, found.is_unreadable) == ("PORT", True)


@pytest.mark.parametrize("value", ["0.0.0.0:$(PORT)", "$(HOST):$PORT"])
def test_a_port_of_ollama_that_is_another_variable_is_said_to_be_unreadable(value: str) -> None:
    assert engine_port({"image": "ollama/ollama", **env("OLLAMA_HOST", value)}).is_unreadable
    assert not engine_port({"image": "ollama/ollama", **env("OLLAMA_HOST", "$(HOST)")}).is_unreadable


def test_every_known_engine_names_the_page_that_it_is_known_from() -> None:
    assert [engine.name for engine in ENGINES if not engine.source.startswith("https://")] == []

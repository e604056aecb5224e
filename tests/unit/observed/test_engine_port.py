"""The port on which an engine takes requests, as its command and arguments tell."""

from typing import Any

import pytest

from modelplane.observed.engine_port import engine_port

PORTS: dict[str, tuple[dict[str, Any], int]] = {
    "nothing tells": ({}, 8000),
    "arguments of the image's own server": ({"args": ["--model=m", "--port=9000"]}, 9000),
    "vLLM by itself": ({"command": ["vllm", "serve", "m"]}, 8000),
    "vLLM in a command string": ({"command": ["sh", "-c", "exec vllm serve m --port 9000"]}, 9000),
    "SGLang by itself": ({"command": ["python3", "-m", "sglang.launch_server", "--model-path", "m"]}, 30000),
    "SGLang in a command string": ({"command": ["sh", "-c", "cd /x && python -m sglang.launch_server"]}, 30000),
    "SGLang with a port": ({"command": ["python3", "-m", "sglang.launch_server"], "args": ["--port", "8000"]}, 8000),
    "llama.cpp by itself": ({"command": ["/app/llama-server", "-m", "m.gguf"]}, 8080),
    "llama.cpp with a port": ({"command": ["llama-server", "--port", "8000"]}, 8000),
    "LMDeploy by itself": ({"command": ["lmdeploy", "serve", "api_server", "m"]}, 23333),
    "LMDeploy with a port": ({"command": ["lmdeploy", "serve", "api_server", "m", "--server-port=9000"]}, 9000),
    "TGI by itself": ({"command": ["text-generation-launcher", "--model-id", "m"]}, 3000),
    "TGI with a short flag": ({"command": ["text-generation-launcher", "-p", "9000"]}, 9000),
    "TensorRT-LLM": ({"command": ["trtllm-serve", "m", "--port=9000"]}, 9000),
    "Triton": ({"command": ["tritonserver", "--http-port=9000"]}, 9000),
    "Ray's port is not the engine's": ({"command": ["sh", "-c", "ray start --port=6379; vllm serve m"]}, 8000),
    "the port of another command is not the engine's": (
        {"command": ["sh", "-c", "vllm serve m --port 8001 & python3 exporter.py --port 9400; wait"]},
        8001,
    ),
    "nor if the engine is told none": ({"command": ["sh", "-c", "exporter --port 9400 & exec vllm serve m"]}, 8000),
    "the arguments of a command string": (
        {"command": ["sh", "-c", 'join && exec vllm serve m "$@"', "sh"], "args": ["--port=9000"]},
        9000,
    ),
    "a program that starts the engine": (
        {"command": ["sh", "-c", "cd /x; numactl -N 0 vllm serve m --port 9000"]},
        9000,
    ),
    "a variable of the shell": ({"command": ["sh", "-c", "vllm serve m --port $PORT"]}, 8000),
    "no port number": ({"args": ["--port=70000"]}, 8000),
}


@pytest.mark.parametrize(("container", "port"), PORTS.values(), ids=PORTS)
def test_the_port_of_an_engine_is_what_its_command_and_arguments_tell(container: dict[str, Any], port: int) -> None:
    assert engine_port(container).number == port


def test_a_port_that_is_no_number_is_unreadable_and_one_that_is_not_given_is_not() -> None:
    assert engine_port({"args": ["--port=$PORT"]}).is_unreadable
    assert not engine_port({"args": ["--port=1"]}).is_unreadable
    assert not engine_port({}).is_unreadable

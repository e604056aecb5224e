"""What the documentation of inference engines says of them: where each listens, what it answers, how long it loads.

It is read by fakes alone, and shares nothing with `modelplane.observed.engines`, so that a test finds a mistake there.
"""

import shlex
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

#: All addresses of a pod, and that which only the pod itself reaches.
ALL, LOOPBACK = "0.0.0.0", "127.0.0.1"  # noqa: S104 - of a pod
_LOOPBACK_NAMES: Final = frozenset({"localhost", LOOPBACK, "::1"})


@dataclass(frozen=True, slots=True)
class DocumentedEngine:
    """An engine as its image starts it, by the page `documented`.

    It listens `listens` seconds after its start, and has loaded its model after `loads`. Then it answers the paths of
    `loaded`, until then with 503; those of `alive` it answers as soon as it listens. `port_flags`, `host_flags` and the
    variables set where it listens; a variable for the host may have a port.
    """

    documented: str
    port: int
    loaded: frozenset[str]
    alive: frozenset[str] = frozenset()
    host: str = ALL
    listens: int = 5
    loads: int = 600
    port_flags: tuple[str, ...] = ("--port",)
    host_flags: tuple[str, ...] = ("--host",)
    port_variable: str = ""
    host_variable: str = ""

    def listens_at(self, container: Mapping[str, Any]) -> tuple[str, int]:
        """Return the address and the port at which the engine in a container listens."""
        words = [*_words([*(container.get("command") or ()), *(container.get("args") or ())])]
        variables = {row["name"]: row.get("value", "") for row in container.get("env") or ()}
        host, port = self.host, str(self.port)
        if given := variables.get(self.host_variable):
            host, _, behind = given.removeprefix("http://").partition(":")
            port = behind or port
        port = variables.get(self.port_variable) or port
        host = _flag(words, self.host_flags) or host
        return LOOPBACK if host in _LOOPBACK_NAMES else host, int(_flag(words, self.port_flags) or port)

    def answer(self, path: str, at: float) -> int:
        """Return the status of a GET of its health, or of anything else, so many seconds after its start."""
        if path in self.alive:
            return 200
        if at < self.loads:
            return 503
        return 200 if path in self.loaded else 404


def _words(given: Sequence[str]) -> Iterator[str]:
    """Yield the words of a command, and those of a script in it."""
    for before, word in zip(("", *given), given, strict=False):
        yield from shlex.split(word) if before == "-c" else (word,)


def _flag(words: Sequence[str], names: Sequence[str]) -> str:
    """Return the value of the last of some flags in a command, "" without one."""
    value = ""
    for word, behind in zip(words, (*words[1:], ""), strict=False):
        name, equals, given = word.partition("=")
        if name in names:
            value = given if equals else behind
    return value


_HEALTH: Final = frozenset({"/health", "/v1/models"})
#: The engines of examples/engines by the names of the files there. Seconds are those of a model of 8B from a disk; an
#: engine that compiles (TensorRT-LLM) or downloads (NIM) takes longer.
DOCUMENTED: Final = {
    # The server is started once the engine has loaded.
    "vllm": DocumentedEngine("https://docs.vllm.ai/en/latest/cli/serve/", 8000, _HEALTH, listens=600),
    # It answers 503 while it warms up.
    "sglang": DocumentedEngine(
        "https://docs.sglang.io/advanced_features/server_arguments.html", 30000, _HEALTH, host=LOOPBACK, listens=550
    ),
    "tensorrt-llm": DocumentedEngine(
        "https://nvidia.github.io/TensorRT-LLM/commands/trtllm-serve/trtllm-serve.html",
        8000,
        _HEALTH,
        host=LOOPBACK,
        listens=1800,
        loads=1800,
    ),
    # Its image sets PORT=80.
    "tgi": DocumentedEngine(
        "https://huggingface.co/docs/text-generation-inference/reference/launcher",
        80,
        _HEALTH,
        listens=600,
        port_flags=("--port", "-p"),
        host_flags=("--hostname",),
        port_variable="PORT",
    ),
    # Its image sets LLAMA_ARG_HOST=0.0.0.0. Every path is 503 while it loads.
    "llama-cpp": DocumentedEngine(
        "https://github.com/ggml-org/llama.cpp/blob/master/tools/server/README.md",
        8080,
        _HEALTH,
        loads=120,
        port_variable="LLAMA_ARG_PORT",
        host_variable="LLAMA_ARG_HOST",
    ),
    # A proxy answers whether it lives at once, and whether it is ready once what is behind it has loaded.
    "nim": DocumentedEngine(
        "https://docs.nvidia.com/nim/large-language-models/latest/reference/architecture.html",
        8000,
        frozenset({"/v1/health/ready", "/v1/models"}),
        alive=frozenset({"/v1/health/live"}),
        loads=1800,
        port_flags=(),
        host_flags=(),
        port_variable="NIM_SERVER_PORT",
    ),
    # The frontend with OpenAI's API, which loads the models before it listens.
    "triton": DocumentedEngine(
        "https://docs.nvidia.com/deeplearning/triton-inference-server/user-guide/docs/client_guide/openai_readme.html",
        9000,
        frozenset({"/v1/models", "/health/ready"}),
        listens=600,
        port_flags=("--openai-port",),
    ),
    # Its image sets OLLAMA_HOST=0.0.0.0:11434. It answers for a model once that is pulled, and 404 before.
    "ollama": DocumentedEngine(
        "https://docs.ollama.com/api/openai-compatibility",
        11434,
        frozenset({"/v1/models", "/v1/models/qwen3:8b"}),
        alive=frozenset({"/", "/api/version"}),
        loads=300,
        port_flags=(),
        host_flags=(),
        host_variable="OLLAMA_HOST",
    ),
}

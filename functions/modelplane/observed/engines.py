"""The inference engines that are known by name: where each listens, what it answers when it is well, and its flags.

An engine is known by the program that a container starts or, if that says nothing, by the name of its image, whatever
registry that is in. Of another one nothing is known, and what is written in the container holds before all of this.
"""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final

from modelplane.catalogue.flags import HOST, SGLANG, VLLM
from modelplane.model.names import ENGINE_PORT, MODELS_PATH
from modelplane.observed.fields import mappings, text
from modelplane.observed.flags import assigned, programs, read_flag

_PORT: Final = ("--port",)
_HEALTH: Final = "/health"
#: OLLAMA_HOST: a host, with a port or without. With a scheme the scheme's port is the default. Quotes and a path are
#: ignored (`envconfig/config.go`).
_OLLAMA_HOST: Final = re.compile(r"(?:(?P<scheme>https?)://)?(?:\[[^]]*\]|[^:\[\]/]*)(?::(?P<port>[0-9]+))?(?:/.*)?")
_PORT_OF_SCHEME: Final = {"http": "80", "https": "443"}
#: An address that only its own pod reaches, with a scheme or a port.
_LOOPBACK: Final = re.compile(r"(?:https?://)?(?:127\.[0-9.]+|localhost|\[?::1\]?)(?::[0-9]+)?/?")


@dataclass(frozen=True, slots=True)
class Connector:
    """How two engines of a pair pass each other KV caches, by the name that llm-d's sidecar has for it.

    `optional`: a decode engine can also read a prompt by itself. If not, each request has to be prefilled elsewhere.
    `flag` makes an engine one of a pair: with `prefill` and `decode` each half by a value of its own, else with any.
    https://github.com/llm-d/llm-d/tree/main/guides/pd-disaggregation, "vLLM vs SGLang"
    """

    name: str
    optional: bool
    flag: str
    prefill: str = ""
    decode: str = ""


@dataclass(frozen=True, slots=True)
class KnownEngine:
    """What the documentation of an engine, at `source`, says of it.

    `images` are parts of the paths of its images, `programs` commands and Python modules. `port` is its default port,
    `image_port` what its image sets instead, if it does. `port_flags` and `port_variable` change it.
    `port_form` is how to write a port there. `host_flags` and `host_variable` are for the address that it listens on,
    `loopback` if that is 127.0.0.1 by default, unless its image sets another one (`image_host`). `ready` and `live`
    are the paths that answer once it takes requests, and as long as it need not be restarted. `model` are the flags for
    the model to load, which is served by that name, the one to write first; `model_variable` is a variable for it, and
    it may also follow a word of `model_after` as an argument. `weights` is the flag that an engine without a model is
    given for a folder of weights, "" if it is given none; `staged` is then how to write it. `tensor` and `pipeline` are
    flags of the sizes of a gang. `connector` is how two of them work as a pair, None if they cannot.
    """

    name: str
    source: str
    programs: tuple[str, ...] = ()
    images: tuple[str, ...] = ()
    port: int = ENGINE_PORT
    image_port: int | None = None
    port_flags: tuple[str, ...] = _PORT
    port_variable: str = ""
    port_form: str = "{}"
    host_flags: tuple[str, ...] = HOST
    host_variable: str = ""
    loopback: bool = False
    image_host: bool = False
    ready: str = _HEALTH
    live: str = _HEALTH
    model: tuple[str, ...] = ()
    model_variable: str = ""
    model_after: tuple[str, ...] = ()
    weights: str = ""
    staged: str = ""
    tensor: tuple[str, ...] = ()
    pipeline: tuple[str, ...] = ()
    connector: Connector | None = None

    @property
    def loads_staged(self) -> str:
        """Return what to give the engine so that it loads the weights of a ModelCache."""
        return self.staged or f"{self.weights}={MODELS_PATH}"


_NIXL: Final = Connector("nixlv2", optional=True, flag="--kv-transfer-config")
_SGLANG: Final = Connector("sglang", optional=False, flag="--disaggregation-mode", prefill="prefill", decode="decode")

ENGINES: Final = (
    KnownEngine(
        "vLLM",
        "https://docs.vllm.ai/en/latest/cli/serve/",
        programs=("vllm", "vllm.entrypoints.openai.api_server"),
        images=("vllm", "vllm-openai"),
        model=VLLM.model,
        model_after=("serve",),
        weights=VLLM.model[0],
        tensor=VLLM.tensor,
        pipeline=VLLM.pipeline,
        connector=_NIXL,
    ),
    KnownEngine(
        "SGLang",
        "https://docs.sglang.io/advanced_features/server_arguments.html",
        programs=("sglang", "sglang.launch_server"),
        images=("sglang",),
        port=30000,
        loopback=True,
        model=SGLANG.model,
        weights=SGLANG.model[0],
        tensor=SGLANG.tensor,
        pipeline=SGLANG.pipeline,
        connector=_SGLANG,
    ),
    KnownEngine(
        "TensorRT-LLM",
        "https://nvidia.github.io/TensorRT-LLM/commands/trtllm-serve/trtllm-serve.html",
        programs=("trtllm-serve",),
        images=("tensorrt-llm",),
        loopback=True,
        model_after=("trtllm-serve", "serve"),
        staged=f"the argument {MODELS_PATH}",
        tensor=("--tp-size",),
        pipeline=("--pp-size",),
    ),
    KnownEngine(
        "TGI",
        "https://huggingface.co/docs/text-generation-inference/reference/launcher",
        programs=("text-generation-launcher",),
        images=("text-generation-inference",),
        port=3000,
        image_port=80,
        port_flags=("--port", "-p"),
        port_variable="PORT",
        host_flags=("--hostname",),
        model=("--model-id",),
        model_variable="MODEL_ID",
        weights="--model-id",
        tensor=("--num-shard",),
    ),
    KnownEngine(
        "llama.cpp",
        "https://github.com/ggml-org/llama.cpp/blob/master/tools/server/README.md",
        programs=("llama-server",),
        images=("llama.cpp",),
        port=8080,
        port_variable="LLAMA_ARG_PORT",
        host_variable="LLAMA_ARG_HOST",
        loopback=True,
        image_host=True,
        model=("--model", "-m"),
        model_variable="LLAMA_ARG_MODEL",
        staged=f"--model={MODELS_PATH}/FILE.gguf",
    ),
    KnownEngine(
        "NIM",
        "https://docs.nvidia.com/nim/large-language-models/latest/reference/environment-variables.html",
        images=("nim",),
        port_flags=(),
        port_variable="NIM_SERVER_PORT",
        host_flags=(),
        ready="/v1/health/ready",
        live="/v1/health/live",
        model_variable="NIM_MODEL_PATH",
        staged=f"the variable NIM_MODEL_PATH={MODELS_PATH}",
    ),
    KnownEngine(
        "Triton",
        "https://docs.nvidia.com/deeplearning/triton-inference-server/user-guide/docs/protocol/README.html",
        programs=("tritonserver",),
        images=("tritonserver",),
        port_flags=("--http-port",),
        host_flags=("--http-address",),
        ready="/v2/health/ready",
        live="/v2/health/live",
        staged=f"--model-repository={MODELS_PATH}",
    ),
    KnownEngine(
        "Ollama",
        "https://docs.ollama.com/faq",
        programs=("ollama",),
        images=("ollama",),
        port=11434,
        port_flags=(),
        port_variable="OLLAMA_HOST",
        port_form="0.0.0.0:{}",
        host_flags=(),
        host_variable="OLLAMA_HOST",
        loopback=True,
        image_host=True,
        ready="/api/version",
        live="/api/version",
        staged=f"the variable OLLAMA_MODELS={MODELS_PATH}",
    ),
    KnownEngine(
        "LMDeploy",
        "https://lmdeploy.readthedocs.io/en/latest/llm/api_server.html",
        programs=("lmdeploy",),
        images=("lmdeploy",),
        port=23333,
        port_flags=("--server-port",),
        host_flags=("--server-name",),
        model_after=("api_server",),
        staged=f"the argument {MODELS_PATH}",
    ),
)
#: The flags of all engines for the model to load: an image may start another engine than its name says.
MODEL_FLAGS: Final = tuple(dict.fromkeys(flag for engine in ENGINES for flag in engine.model))
#: An engine of which nothing is known: it is taken for a vLLM, and asked by its liveness probe what its readiness probe
#: asks.
UNKNOWN: Final = KnownEngine(
    "",
    "",
    programs=("vllm",),
    live="",
    model=VLLM.model,
    model_after=("serve",),
    weights=VLLM.model[0],
    connector=_NIXL,
)
_BY_PROGRAM: Final = {program: engine for engine in ENGINES for program in engine.programs}
_BY_IMAGE: Final = {part: engine for engine in ENGINES for part in engine.images}


def _image_parts(image: str) -> Iterator[str]:
    """Yield the parts of an image's path, the last one first, without registry, tag and digest."""
    parts = image.partition("@")[0].split("/")
    registry, last = parts[0], parts[-1].partition(":")[0]
    named = parts[1:-1] if len(parts) > 1 and (set(".:") & set(registry) or registry == "localhost") else parts[:-1]
    yield last
    yield from reversed(named)


def _of_image(container: Mapping[str, Any]) -> KnownEngine | None:
    return next((_BY_IMAGE[part] for part in _image_parts(text(container.get("image"))) if part in _BY_IMAGE), None)


def starts_known_engine(container: Mapping[str, Any]) -> bool:
    """Tell whether a container starts a known engine by its command or arguments, and not by a script or its image."""
    return not programs(container).isdisjoint(_BY_PROGRAM)


def is_scripted(container: Mapping[str, Any]) -> bool:
    """Tell whether a command starts an engine in a way that is not read: what that sets is not known."""
    return bool(container.get("command")) and not starts_known_engine(container)


def known_engine(container: Mapping[str, Any]) -> KnownEngine:
    """Return the engine in a container, `UNKNOWN` if neither its command nor its image tells."""
    started = next((_BY_PROGRAM[name] for name in sorted(programs(container) & _BY_PROGRAM.keys())), None)
    return started or _of_image(container) or UNKNOWN


def pair_connector(container: Mapping[str, Any]) -> Connector:
    """Return the connector of an engine that is one of a valid pair."""
    return known_engine(container).connector or _NIXL


def default_port(container: Mapping[str, Any]) -> int:
    """Return the port on which the engine in a container listens if nothing in the container sets another one."""
    engine = known_engine(container)
    set_by_image = engine.image_port if _of_image(container) is engine else None
    return set_by_image or engine.port


def _variable(container: Mapping[str, Any], name: str) -> str | None:
    """Return a variable of the engine in a container, None if it is not set, `$(name)` if it is set from elsewhere."""
    if not name:
        return None
    if (given := assigned(container, name, known_engine(container).programs)) is not None:
        return given
    row = next((row for row in mappings(container.get("env")) if row.get("name") == name), None)
    if row is None:
        return None
    return f"$({name})" if "valueFrom" in row else text(row.get("value"))


def port_setting(container: Mapping[str, Any]) -> str | None:
    """Return what the variable for the engine's port says, None if it is not set or names no port."""
    variable = known_engine(container).port_variable
    value = _variable(container, variable)
    if value is None or variable != "OLLAMA_HOST" or value == f"$({variable})":
        return value
    host = _OLLAMA_HOST.fullmatch(value.strip().strip("\"'"))
    if host is None:
        return value if "$" in value else None
    return host["port"] or _PORT_OF_SCHEME.get(host["scheme"])


def loopback_setting(container: Mapping[str, Any]) -> str:
    """Return how to let an engine listen on all addresses if it listens on loopback alone, else "".

    What a script does is not known.
    """
    engine = known_engine(container)
    if is_scripted(container):
        return ""
    given = read_flag(container, *engine.host_flags, of=engine.programs) if engine.host_flags else None
    given = _variable(container, engine.host_variable) if given is None else given
    is_default = given is None and engine.loopback and not (engine.image_host and _of_image(container) is engine)
    if not is_default and not _LOOPBACK.fullmatch(given or ""):
        return ""
    return f"{engine.host_flags[0] if engine.host_flags else engine.host_variable}=0.0.0.0"

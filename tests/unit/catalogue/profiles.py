"""Short profiles for tests, and what they expand to."""

from typing import Any

from modelplane.catalogue import Expansion, InvalidProfile, expand

MODEL: dict[str, Any] = {
    "model": {"name": "moonshotai/Kimi-K2-Instruct"},
    "source": "HuggingFace",
    "huggingFace": {"repo": "moonshotai/Kimi-K2-Instruct"},
}


def profile(*args: str, nodes: int = 1, gpus: int = 1, engine: str = "vLLM", **more: Any) -> dict[str, Any]:
    """Return a short profile with these arguments; `launcher`, `command` and `parallelism` go where they belong."""
    block: dict[str, Any] = {"name": engine, "image": "engine:v1", "args": list(args)}
    listening = ("ports", "startupProbe", "readinessProbe", "livenessProbe")
    own = ("launcher", "command", "env", "imagePullSecrets", *listening)
    block |= {key: more.pop(key) for key in own if key in more}
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

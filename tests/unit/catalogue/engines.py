"""The flags of two versions of vLLM, of those that a profile may turn to: recorded, as no engine runs in the tests."""

from collections.abc import Iterable, Mapping
from typing import Final

_SINCE_0_9: Final = frozenset(
    {
        "--model",
        "--served-model-name",
        "--revision",
        "--tensor-parallel-size",
        "--pipeline-parallel-size",
        "--data-parallel-size",
        "--enable-expert-parallel",
        "--distributed-executor-backend",
        "--headless",
    }
)
_SINCE_0_12: Final = frozenset({"--nnodes", "--node-rank", "--master-addr"})
#: As vllm/engine/arg_utils.py and vllm/entrypoints in each version's source distribution define them. Engines of
#: several nodes without Ray came after 0.9.0.
VLLM_FLAGS: Final[Mapping[str, frozenset[str]]] = {"0.9.0": _SINCE_0_9, "0.12.0": _SINCE_0_9 | _SINCE_0_12}


def flags_of(args: Iterable[str]) -> set[str]:
    """Return the names of the flags among arguments."""
    return {word.partition("=")[0] for word in args if word.startswith("--")}

"""The flags of engines: their names, how they are read from arguments, and which replace generated ones."""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import takewhile
from typing import Any, Final

from modelplane.model.names import ENGINE_PORT_NAME


@dataclass(frozen=True, slots=True)
class Dialect:
    """The names that an engine has for a flag, the one to write first.

    `model` is what it loads, `name` what it serves that as. `expert` takes a number where `expert_sized`.
    """

    model: tuple[str, ...]
    name: tuple[str, ...]
    revision: tuple[str, ...]
    tensor: tuple[str, ...]
    pipeline: tuple[str, ...]
    data: tuple[str, ...]
    expert: tuple[str, ...]
    nodes: tuple[str, ...]
    rank: tuple[str, ...]
    leader: tuple[str, ...]
    expert_sized: bool = False


VLLM: Final = Dialect(
    model=("--model",),
    name=("--served-model-name",),
    revision=("--revision",),
    tensor=("--tensor-parallel-size", "-tp"),
    pipeline=("--pipeline-parallel-size", "-pp"),
    data=("--data-parallel-size", "-dp"),
    expert=("--enable-expert-parallel", "-ep"),
    nodes=("--nnodes", "-n"),
    rank=("--node-rank", "-r"),
    leader=("--master-addr",),
)
#: vLLM's own: how it spreads over processes, and that a process serves no requests.
BACKEND: Final = ("--distributed-executor-backend",)
HEADLESS: Final = ("--headless", "-hl")

SGLANG: Final = Dialect(
    model=("--model-path", "--model"),
    name=("--served-model-name",),
    revision=("--revision",),
    tensor=("--tp-size", "--tensor-parallel-size", "--tp"),
    pipeline=("--pp-size", "--pipeline-parallel-size", "--pp"),
    data=("--dp-size", "--data-parallel-size", "--dp"),
    expert=("--ep-size", "--expert-parallel-size", "--ep"),
    nodes=("--nnodes",),
    rank=("--node-rank",),
    leader=("--dist-init-addr", "--nccl-init-addr"),
    expert_sized=True,
)
#: SGLang's own: with it the data parallelism is within the tensor parallelism, and takes no GPUs of its own.
DATA_WITHIN_TENSOR: Final = ("--enable-dp-attention",)
HOST: Final = ("--host",)
PORT: Final = ("--port",)

DIALECTS: Final[Mapping[str, Dialect]] = {"vLLM": VLLM, "SGLang": SGLANG}


def order_ports(ports: Iterable[Mapping[str, Any]]) -> list[Mapping[str, Any]]:
    """Return the declared ports of an engine, the one for requests first: that named http, else the first."""
    return sorted(ports, key=lambda port: port.get("name") != ENGINE_PORT_NAME)


#: How the name of a flag begins that turns off what another turns on.
_NO: Final = "--no-"


def negated(flag: str) -> str:
    """Return the name of the flag that turns off what `flag` turns on; a short one has none."""
    return _NO + flag.removeprefix("--") if flag.startswith("--") else flag


@dataclass(frozen=True, slots=True)
class Given:
    """A flag that is given: the name that it is written with, and its value, "" for one without."""

    flag: str
    value: str

    @property
    def is_negated(self) -> bool:
        """Tell whether it turns off what its flag turns on."""
        return self.flag.replace("_", "-").startswith(_NO)

    def __str__(self) -> str:
        """Return it as it can be written."""
        return f"{self.flag}={self.value}" if self.value else self.flag


def _is_flag(word: str) -> bool:
    return word.startswith("-") and not word[1:2].isdigit()


def find_mentions(words: Sequence[str], names: Collection[str]) -> Iterator[tuple[int, str, str | None]]:
    """Yield each mention of a flag in words: where it is, how it is written, and what follows its `=`, None without.

    Engines accept `--a-b` and `--a_b`, and a value after `=` or as the next word.
    """
    for at, word in enumerate(words):
        flag, equals, value = word.partition("=")
        if flag.replace("_", "-") in names:
            yield at, flag, value if equals else None


def find_flag(args: Sequence[str], names: Sequence[str]) -> Given | None:
    """Return the last of a flag's mentions in arguments; another flag is no value."""
    found = None
    for at, flag, value in find_mentions(args, names):
        following = args[at + 1] if at + 1 < len(args) else ""
        found = Given(flag, ("" if _is_flag(following) else following) if value is None else value)
    return found


def find_values(args: Sequence[str], names: Sequence[str]) -> tuple[str, ...]:
    """Return all values of the last of a flag's mentions in arguments: `--flag=v`, or `--flag v w`."""
    mentions = list(find_mentions(args, names))
    if not mentions:
        return ()
    at, _, value = mentions[-1]
    return tuple(takewhile(lambda each: not _is_flag(each), args[at + 1 :])) if value is None else (value,)


def positional_model(args: Sequence[str]) -> bool:
    """Tell whether the arguments begin with a model, as `vllm serve MODEL` takes it."""
    return bool(args) and not _is_flag(args[0])

"""The name under which an engine serves is read from how it is started, and from nothing else."""

from typing import Any

import pytest

from modelplane.observed.served_name import served_model
from modelplane.step import Object


def engine(role: str = "Standalone", **container: Any) -> dict[str, Any]:
    return {"members": [{"role": role, "template": {"spec": {"containers": [{"name": "engine", **container}]}}}]}


def served(*engines: dict[str, Any], **spec: Any) -> str:
    return served_model(Object({"kind": "ModelReplica", "spec": {"engines": list(engines), **spec}}, object()))


CACHED = {"modelCacheRef": {"name": "weights"}}


@pytest.mark.parametrize(
    ("container", "spec", "name"),
    [
        ({"args": ["--model=a/b", "--served-model-name=chat"]}, {}, "chat"),
        ({"args": ["--served-model-name", "chat", "other", "--port=9000"]}, {}, "chat"),
        ({"args": ["--served_model_name=first", "--served-model-name=last"]}, {}, "last"),
        ({"args": ["--model=a/b"]}, {}, "a/b"),
        ({"args": ["--model-path", "/mnt/models"]}, {}, "/mnt/models"),
        ({"args": ["a/b", "--port=9000"]}, {}, "a/b"),
        ({"command": ["vllm", "serve", "a/b", "--port=9000"]}, {}, "a/b"),
        ({"command": ["/bin/sh", "-c"], "args": ["exec vllm serve a/b --served-model-name=c"]}, {}, "c"),
        ({"command": ["vllm", "serve", "--port=9000"]}, {}, ""),
        ({"command": ["llama-server", "a/b"]}, {}, ""),
        ({"command": ["trtllm-serve", "a/b", "--tp_size=2"]}, {}, "a/b"),
        ({"command": ["trtllm-serve", "serve", "a/b"]}, {}, "a/b"),
        ({"image": "x/lmdeploy", "args": ["lmdeploy", "serve", "api_server", "a/b"]}, {}, "a/b"),
        ({"image": "x/tritonserver", "args": ["tritonserver", "--model-repository=/r"]}, {}, ""),
        ({"command": ["python3", "-m", "sglang.launch_server"]}, {}, ""),
        ({"args": ["--port=9000"]}, {}, ""),
        ({}, CACHED, "/mnt/models"),
        ({"args": ["--served-model-name=chat"]}, CACHED, "chat"),
        ({"command": ["serve"]}, CACHED, ""),
        ({"args": ["--served-model-name=$(NAME)"]}, {}, ""),
        ({"args": ["--served-model-name=it's"]}, {}, ""),
        ({"args": [f"--served-model-name={'a' * 257}"]}, {}, ""),
        ({"args": ["-v"]}, {}, ""),
    ],
)
def test_the_first_name_that_an_engine_is_given_counts_else_what_it_loads(
    container: dict[str, Any], spec: dict[str, Any], name: str
) -> None:
    assert served(engine(**container), **spec) == name


def test_a_leader_and_not_its_workers_says_it() -> None:
    leader, worker = engine("Leader", args=["--model=a"])["members"], engine("Worker", args=["--model=b"])["members"]
    assert served({"members": worker + leader}) == "a"


def test_engines_that_serve_under_different_names_have_none_in_common() -> None:
    one, two = (engine(args=[f"--model={name}"]) for name in "ab")
    assert served(one, one) == "a"
    assert served(one, two) == ""
    assert served(one, engine(args=[])) == ""
    assert served() == ""

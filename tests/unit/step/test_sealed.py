"""A sealed value is carried, compared, prefixed and composed, and has no other text than its placeholder."""

import copy
import json
import pickle
import traceback
from collections.abc import Callable
from typing import Any

import pytest
import yaml

from modelplane.step.opening import open_secrets
from modelplane.step.sealed import PLACEHOLDER, Sealed
from modelplane.step.secrets import mask_secrets, seal_secrets, with_values_of
from property.externals import CERTIFICATE

MARK = "hush-4711"
IN_BASE64 = "aHVzaC00NzEx"
VALUE = Sealed(MARK.encode())


def _secret(**data: Any) -> dict[str, Any]:
    return {"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "s"}, "data": data}


def test_equal_content_is_equal_and_hashes_equally_and_other_content_is_not() -> None:
    assert Sealed(MARK.encode()) == VALUE
    assert hash(Sealed(MARK.encode())) == hash(VALUE)
    assert Sealed(b"other") != VALUE
    assert VALUE != MARK
    assert MARK.encode() != VALUE


def test_a_composed_value_is_opened_as_base64_in_the_data_of_a_secret() -> None:
    manifest = _secret(a=VALUE, b=VALUE.prefixed(b"Bearer "), c=Sealed(b"x-") + VALUE + b"!", plain="eA==")
    assert open_secrets(manifest)["data"] == {
        "a": "aHVzaC00NzEx",
        "b": "QmVhcmVyIGh1c2gtNDcxMQ==",
        "c": "eC1odXNoLTQ3MTEh",
        "plain": "eA==",
    }
    assert manifest["data"]["a"] is VALUE


def test_what_a_provider_s_object_applies_is_opened_too() -> None:
    spec = {"forProvider": {"manifest": _secret(a=VALUE)}, "providerConfigRef": {"name": "c"}}
    opened = open_secrets({"kind": "Object", "spec": spec})
    assert opened["spec"]["forProvider"]["manifest"]["data"] == {"a": "aHVzaC00NzEx"}
    assert opened["spec"]["providerConfigRef"] == {"name": "c"}


@pytest.mark.parametrize(
    "manifest",
    [
        {"kind": "ConfigMap", "data": {"a": VALUE}},
        {"kind": "Secret", "metadata": {"annotations": {"a": VALUE}}},
        {"kind": "Object", "spec": {"forProvider": {"manifest": {"kind": "ConfigMap", "data": {"a": VALUE}}}}},
    ],
)
def test_a_value_in_any_other_place_stays_sealed(manifest: dict[str, Any]) -> None:
    assert open_secrets(manifest) == manifest


@pytest.mark.parametrize(
    "shown",
    [str, repr, ascii, "{}".format, "{:>40}".format, "%s".__mod__, lambda value: f"{value!r}{value}{[value]}"],
)
def test_every_text_of_a_value_is_its_placeholder(shown: Callable[[Sealed], str]) -> None:
    text = shown(VALUE)
    assert PLACEHOLDER in text
    assert MARK not in text


@pytest.mark.parametrize("leak", [json.dumps, pickle.dumps, yaml.safe_dump, yaml.dump, bytes, vars, list, iter])
def test_what_would_write_a_value_out_fails_without_it(leak: Callable[[Any], Any]) -> None:
    with pytest.raises(Exception) as failed:
        leak(VALUE)
    lines = traceback.TracebackException.from_exception(failed.value, capture_locals=True).format()
    assert MARK not in "".join(lines)


def _listing(*items: Any, kind: str = "List") -> dict[str, Any]:
    return {"apiVersion": "v1", "kind": kind, "items": list(items)}


def _applying(manifest: Any, **annotations: str) -> dict[str, Any]:
    metadata = {"annotations": {"a": "b", **annotations}}
    return {"kind": "Object", "metadata": metadata, "spec": {"forProvider": {"manifest": manifest}}}


#: Where Secrets may be.
HOLDERS: dict[str, Callable[[dict[str, Any]], dict[str, Any]]] = {
    "list": _listing,
    "list of lists": lambda secret: _listing({"kind": "ConfigMap"}, _listing(secret), "text"),
    "typed list": lambda secret: _listing(secret, kind="SecretList"),
    "typed list without kinds": lambda secret: _listing({**secret, "kind": None}, kind="SecretList"),
    "applied list": lambda secret: _applying(_listing(secret)),
    "applied Object": lambda secret: _applying(_applying(secret)),
    "list of Objects of lists": lambda secret: _listing(_applying(_listing(secret, secret))),
    "seen list": lambda secret: {"kind": "Object", "status": {"atProvider": {"manifest": _listing(secret)}}},
}


@pytest.mark.parametrize("holder", HOLDERS.values(), ids=HOLDERS)
def test_secrets_at_any_depth_are_sealed_masked_and_opened_without_fields_that_a_secret_does_not_have(
    holder: Callable[[dict[str, Any]], dict[str, Any]],
) -> None:
    given = {**_secret(a=IN_BASE64), "stringData": {"b": MARK}, "DATA": {"c": MARK}, "status": MARK}
    sealed = seal_secrets(holder(given))
    assert sealed == holder(_secret(a=VALUE, b=VALUE))
    assert mask_secrets(sealed) == holder(_secret(a=PLACEHOLDER, b=PLACEHOLDER))
    assert open_secrets(sealed) == holder(_secret(a=IN_BASE64, b=IN_BASE64))
    assert with_values_of(mask_secrets(sealed), sealed) == sealed


def test_copies_of_what_was_applied_are_left_out_of_all_that_holds_a_secret() -> None:
    copied = {"kubectl.kubernetes.io/last-applied-configuration": MARK}
    secret = {**_secret(a=VALUE), "metadata": {"annotations": copied}}
    kept = {**_secret(a=VALUE), "metadata": {"annotations": {}}}
    held = _listing(_applying(_listing(_applying(secret, **copied)), **copied))
    assert seal_secrets(held) == _listing(_applying(_listing(_applying(kept))))


def test_an_object_without_secrets_is_itself_when_it_is_sealed() -> None:
    for body in ({"kind": "ConfigMap", "data": {"a": IN_BASE64}}, _applying(_listing({"kind": "ConfigMap"}))):
        assert seal_secrets(body) is body


def test_a_copy_is_the_value_itself_and_a_value_cannot_be_changed() -> None:
    assert copy.deepcopy({"a": VALUE})["a"] is VALUE
    assert copy.copy(VALUE) is VALUE
    with pytest.raises(AttributeError):
        VALUE._content = b""


def test_values_are_sealed_as_a_server_holds_them_and_masked_for_a_reader() -> None:
    sealed = seal_secrets(
        {**_secret(a="aHVzaC00NzEx", bad="?", worse=7, again=VALUE), "stringData": {"b": MARK, "c": 1}}
    )
    assert sealed["data"] == {"a": VALUE, "again": VALUE, "b": VALUE}
    assert "stringData" not in sealed
    assert mask_secrets(sealed)["data"] == dict.fromkeys(("a", "again", "b"), PLACEHOLDER)
    assert open_secrets(sealed)["data"]["b"] == "aHVzaC00NzEx"


def test_an_authority_is_its_certificates_alone_and_none_if_one_of_them_cannot_be_parsed() -> None:
    certificate, no_x509 = CERTIFICATE, b"-----BEGIN CERTIFICATE-----\nY2E=\n-----END CERTIFICATE-----\n"
    key = b"-----BEGIN PRIVATE KEY-----\nY2E=\n-----END PRIVATE KEY-----\n"
    assert Sealed(key + b"ours\n" + certificate + key + certificate).authority() == Sealed(certificate * 2)
    assert Sealed(certificate.replace(b"\n", b"\r\n")).authority() is not None
    for value in (
        b"",
        key,
        no_x509,
        certificate + no_x509,
        no_x509 + certificate,
        certificate[:-30],
        certificate * 2 + b"-----BEGIN CERTIFICATE-----",
    ):
        assert Sealed(value).authority() is None

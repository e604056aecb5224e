"""Selectors that do not compile say where and why, and name what is not supported."""

import pytest

from modelplane import cel


@pytest.mark.parametrize(
    ("text", "line", "column", "why"),
    [
        ("device.memory >= 40", 1, 8, "undefined field 'memory'"),
        ("nosuch", 1, 1, "'nosuch' is not declared"),
        ("true &&\n  nosuchfn(1)", 2, 3, "'nosuchfn' is not declared"),
        ("1", 1, 1, "must evaluate to bool or the unknown type, not int"),
        ("dyn(true)", 1, 1, "must evaluate to bool or the unknown type, not dyn"),
        ("1 == 1.0", 1, 3, "found no matching overload for '_==_' applied to (int, double)"),
        ('"x".matches("[")', 1, 13, "invalid regular expression"),
        ("", 1, 1, "empty selector"),
        ("true &&", 1, 8, "unexpected end"),
        ("true false", 1, 6, "unexpected 'false'"),
        ('"abc', 1, 1, "unexpected '\"'"),
        ("9223372036854775808 > 0", 1, 1, "invalid int literal"),
        ('"\\ud800" == ""', 1, 1, "invalid unicode code point"),
        ("for == 1", 1, 1, "reserved identifier: for"),
        ('has(device.attributes["a"])', 1, 22, "invalid argument to has() macro"),
        ("[1, 'a'].size() == 2", 1, 5, "expected type int but found string"),
        ("[1].exists(x.y, true)", 1, 14, "argument must be a simple name"),
        ("[1].exists(x, x, true)", 1, 15, "duplicate variable name: x"),
        ("'a'.exists(x, true)", 1, 1, "cannot be the range of a comprehension"),
        ("int('a') == 1", 1, 1, "type conversion error"),
        ("!-1", 1, 2, "unexpected '-' after '!'"),
    ],
)
def test_an_error_has_its_place_and_its_reason(text: str, line: int, column: int, why: str) -> None:
    with pytest.raises(cel.SelectorError) as caught:
        cel.compile(text)
    error = caught.value
    assert (error.line, error.column) == (line, column)
    assert why in error.why


@pytest.mark.proves("P43")
@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("timestamp('2020-01-01T00:00:00Z') == timestamp(1)", "'timestamp'"),
        ("duration('1h') == duration('1h')", "'duration'"),
        ("isURL('https://x')", "'isURL'"),
        ("isIP('1.2.3.4')", "'isIP'"),
        ("cidr('10.0.0.0/8').containsIP('10.1.1.1')", "'containsIP'"),
        ("'%s'.format(['a']) == 'a'", "'format'"),
        ("format.uuid().hasValue()", "'format.uuid'"),
        ("[1].sortBy(x, x)[0] == 1", "'sortBy'"),
        ("[1].transformMapEntry(i, v, {v: i}).size() == 1", "'transformMapEntry'"),
        ("google.protobuf.Timestamp{seconds: 1} == null", "messages"),
        (".device.driver == 'a'", "leading dot"),
        ("[?optional.of(1)].size() == 1", "optional elements"),
        ("{?'a': optional.of(1)}.size() == 1", "optional elements"),
        ("{quantity('1'): true}.size() == 1", "map keys of type kubernetes.Quantity"),
    ],
)
def test_a_feature_that_is_not_supported_is_named(text: str, name: str) -> None:
    with pytest.raises(cel.SelectorError) as caught:
        cel.compile(text)
    assert name in caught.value.why
    assert "not supported" in caught.value.why


_MEMORY = 'device.capacity["gpu.nvidia.com"].memory'
_VERSION = 'semver("1.2.3")'


@pytest.mark.proves("P44")
@pytest.mark.parametrize(
    ("text", "remedy"),
    [
        (f'{_MEMORY} >= quantity("20Gi")', 'write a.compareTo(b) >= 0, with b such as quantity("20Gi")'),
        (f"{_MEMORY} < 20", 'write a.compareTo(b) < 0, with b such as quantity("20Gi")'),
        (f"device.attributes['a'].b > {_VERSION}", f"write a.compareTo(b) > 0, with b such as {_VERSION}"),
        (f'{_MEMORY}.compareTo("20Gi") >= 0', 'give it quantity("20Gi")'),
    ],
)
def test_a_comparison_of_quantities_or_versions_that_does_not_exist_names_the_one_that_does(
    text: str, remedy: str
) -> None:
    with pytest.raises(cel.SelectorError) as caught:
        cel.compile(text)
    assert "found no matching overload" in caught.value.why
    assert caught.value.why.endswith(remedy)


@pytest.mark.proves("P45")
@pytest.mark.parametrize(
    ("selector", "why"),
    [
        (f"{_MEMORY[:-6]}memmory == null", "no such key: memmory (capacity of gpu.nvidia.com here: cores, memory)"),
        (
            'device.attributes["gpu.nvidia.com"]["modle"] == "x"',
            "no such key: modle (attributes of gpu.nvidia.com here: model)",
        ),
        (
            'device.attributes["nvidia.com"].model == "x"',
            "no such key: model (no attributes of nvidia.com here, only of gpu.nvidia.com, other.example)",
        ),
        ('device.attributes["gpu.nvidia.com"].model', "evaluates to string, not to bool"),
    ],
)
def test_an_unknown_key_lists_the_keys_that_there_are(selector: str, why: str) -> None:
    device = cel.read(
        {
            "driver": "gpu.nvidia.com",
            "attributes": {"model": {"string": "l4"}, "other.example/fast": {"bool": True}},
            "capacity": {"memory": {"value": "24Gi"}, "cores": {"value": "8"}},
        }
    )
    verdict = cel.verdict(selector, device)
    assert cel.keys_there(verdict.why or "", selector, device) == why

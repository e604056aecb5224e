"""Literals mean what they mean in Kubernetes; every row is an equality that holds there."""

import pytest

from modelplane import cel
from modelplane.model.fleet import Device

DEVICE = Device(name="gpu", driver="gpu.nvidia.com")


@pytest.mark.parametrize(
    "text",
    [
        '"\\x41\\X41\\u0041\\U00000041\\101" == "AAAAA"',
        "'\\'\\\"\\?\\`\\\\' == \"'\\\"?`\\\\\"",
        'r"\\" == "\\\\"',
        '"""a"b\'\n""" == \'a"b\\\'\\n\'',
        '"""a\r\nb\r""" == "a\\nb\\n"',
        "r'''\r''' == '\\n'",
        "b'\\xff\\377'.size() == 2",
        'b"\u00e9" == b"\\xc3\\xa9"',
        "0x10 == 16 && 16u == 0x10u && -0x1 == -1",
        "08 == 8",
        "1.5e3 == 1500.0 && .5 == 0.5 && 1e-400 == 0.0",
        "-9223372036854775808 < -9223372036854775807",
        "--1 == 1 && 1 - -1 == 2 && - -1 == 1",
        "[1, 2,] == [1, 2] && [,] == [] && {,} == {}",
        "!!true && !(!true) && !!!false // and a comment",
    ],
)
def test_literals_are_those_of_cel(text: str) -> None:
    assert cel.compile(text).evaluate(DEVICE) == cel.Verdict(cel.Outcome.MATCH)


@pytest.mark.parametrize(
    "text",
    [
        '"abc\\"',
        '"\\q"',
        '"\\400"',
        '"\\ud83d\\ude00" == ""',
        'b"\\u0041" == b"A"',
        '"a\nb" == ""',
        "0X10 == 16",
        "1. == 1.0",
        "1u_ == 1u",
        "18446744073709551616u > 0u",
        "1e400 > 1.0",
        "device.`driver` == 'a'",
        "true!!",
        "device.!!driver == 'a'",
        "size([1],) == 1",
        "[,,] == []",
        "device.??driver.hasValue()",
        "!-1 == 1",
    ],
)
def test_what_is_no_literal_in_cel_is_refused(text: str) -> None:
    with pytest.raises(cel.SelectorError):
        cel.compile(text)

"""The bill of materials beside the packages."""

import json

from modelplane_dev.packages.image import PINS
from modelplane_dev.packages.sbom import bill_of_materials


def test_the_bill_of_materials_has_every_pinned_wheel_and_debian_package_with_its_hashes() -> None:
    bom = json.loads(bill_of_materials(PINS))
    found = {(each["name"], each["version"]): each for each in bom["components"]}
    debian = [line.split() for line in (PINS / "debian.lock").read_text().splitlines() if not line.startswith("#")]
    assert [found[name, version]["hashes"] for name, version, _ in debian] == [
        [{"alg": "SHA-256", "content": digest}] for _, _, digest in debian
    ]
    wheels = [line for line in (PINS / "requirements.lock").read_text().splitlines() if "==" in line]
    names = [line.rstrip(" \\").partition("==") for line in wheels]
    pinned = {(name, version) for name, _, version in names}
    assert found.keys() - {(name, version) for name, version, _ in debian} == pinned
    assert all(found[pin]["externalReferences"][0]["hashes"] for pin in pinned)
    assert (bom["bomFormat"], bom["specVersion"]) == ("CycloneDX", "1.6")


def test_a_component_is_named_by_a_package_url_that_scanners_know() -> None:
    urls = [each["purl"] for each in json.loads(bill_of_materials(PINS))["components"]]
    assert len(urls) == len(set(urls))
    assert "pkg:pypi/crossplane-function-sdk-python@0.15.1" in urls
    assert any(url.startswith("pkg:deb/debian/libssl3@3.0") and "arch=amd64" in url for url in urls)


def test_the_same_pins_give_the_same_bytes() -> None:
    assert bill_of_materials(PINS) == bill_of_materials(PINS)

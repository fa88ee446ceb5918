"""The bill of materials of a release follows the schema of CycloneDX and names what a deployment consists of."""

from __future__ import annotations

import hashlib
import json
import sys
from typing import Any

import pytest
from release import ROOT, SPECIFICATION, bill_of_materials, weights_of_skills

pytestmark = pytest.mark.long


@pytest.fixture(scope="module")
def bill() -> dict[str, Any]:
    """Of the environment that runs this."""
    return bill_of_materials(sys.executable)


def test_it_follows_the_schema(bill: dict[str, Any]) -> None:
    from cyclonedx.schema import (
        SchemaVersion,  # five seconds of imports, which every run of the tests would take
    )
    from cyclonedx.validation.json import JsonStrictValidator

    assert (bill["bomFormat"], bill["specVersion"]) == ("CycloneDX", SPECIFICATION) == ("CycloneDX", "1.6")
    validator = JsonStrictValidator(SchemaVersion.from_version(SPECIFICATION))
    assert validator.validate_str(json.dumps(bill)) is None
    assert validator.validate_str(json.dumps({**bill, "components": [{"name": "no type"}]})) is not None


def test_it_names_the_project_and_its_dependencies_with_licences(bill: dict[str, Any]) -> None:
    assert (bill["metadata"]["component"]["name"], bill["metadata"]["component"]["type"]) == (
        "openral",
        "application",
    )
    components = {component["name"]: component for component in bill["components"]}
    for name in ("ros2-embedded", "eclipse-zenoh", "mujoco", "numpy", "safetensors", "torch"):
        assert components[name]["licenses"], name
        assert components[name]["version"], name
    root = next(one for one in bill["dependencies"] if one["ref"] == bill["metadata"]["component"]["bom-ref"])
    assert any("ros2-embedded" in reference for reference in root["dependsOn"])


def test_it_names_the_weights_of_the_skills_with_their_hashes(bill: dict[str, Any]) -> None:
    skills = [one for one in bill["components"] if one["type"] == "machine-learning-model"]
    assert skills == weights_of_skills(ROOT / "rskills")
    mini = next(skill for skill in skills if skill["name"] == "openral/rskill-mini-metaworld")
    assert mini["licenses"] == [{"license": {"id": "Apache-2.0"}}]
    for part in mini["components"]:
        digest = hashlib.sha256((ROOT / "rskills" / part["name"]).read_bytes()).hexdigest()
        assert part["hashes"] == [{"alg": "SHA-256", "content": digest}]
    assert mini["components"]


def test_no_folder_of_this_machine_is_in_it(bill: dict[str, Any]) -> None:
    assert str(ROOT) not in json.dumps(bill)
    assert "file:" not in json.dumps(bill)

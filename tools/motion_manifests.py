"""Write `rskills/motion-*/rskill.yaml` and their READMEs from the motions' own parameters.

    python tools/motion_manifests.py [--check]

The JSON Schema of each manifest comes from `openral_control.motions.params`. With `--check` nothing is written; the
exit status is 1 if a file differs.
"""

from __future__ import annotations

import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

from openral_control.motions import MOTIONS, params_schema
from openral_control.motions.params import PARAMS

ROOT = Path(__file__).resolve().parents[1]
MAX_S = 30.0
"""[s] Longest paths take ten at the default speed."""


@dataclass(frozen=True)
class About:
    """What a manifest says besides the parameters."""

    actions: tuple[str, ...]
    leaves: str = "anything"
    phrases: tuple[str, ...] = ()
    """Words that order it without parameters."""


ABOUT = {
    "home": About(("reach",), phrases=("go home", "move home", "return home", "go back home")),
    "move_to": About(("reach",)),
    "retract": About(("reach",), phrases=("retract", "raise the hand", "move the hand up")),
    "set_gripper": About(("grasp", "release")),
    "nudge": About(("reach", "push")),
    "pick_at": About(("pick", "grasp"), leaves="object"),
    "place_at": About(("place", "release"), leaves="nothing"),
    "look_from": About(("look",)),
}


def manifest(name: str) -> str:
    """Return the text of one `rskill.yaml`."""
    slug, about = name.replace("_", "-"), ABOUT[name]
    fields: dict[str, Any] = {
        "schema_version": "0.1",
        "name": f"openral/rskill-motion-{slug}",
        "version": "0.1.0",
        "license": "apache-2.0",
        "role": "s1",
        "kind": "ros_action",
        "description": description(name),
        "embodiment_tags": ["any"],
        "chunk_size": 1,
        "latency_budget": {"per_chunk_ms": 20, "max_execution_s": MAX_S},
        "actions": list(about.actions),
        "leaves": about.leaves,
    }
    if about.phrases:
        fields["examples"] = [{"task": slug, "phrases": list(about.phrases)}]
    fields["ros_integration"] = {
        "package": "openral",
        "interface_type": "openral/action/ExecuteSkill",
        "interface_name": f"/openral/skills/motion_{name}/execute",
        "default_goal_json": "{}",
    }
    fields["goal_params_schema"] = params_schema(name)
    head = f"# Written by tools/motion_manifests.py from openral_control.motions.params.{PARAMS[name].__name__}.\n"
    return head + yaml.safe_dump(fields, sort_keys=False, width=116, allow_unicode=True)


def description(name: str) -> str:
    """Return what a motion does, in a sentence."""
    return " ".join((PARAMS[name].__doc__ or "").split())


def readme(name: str) -> str:
    """Return the text of one README."""
    schema = params_schema(name)
    rows = [
        f"| `{key}` | {_range(field)} | {_default(schema, key)} |"
        for key, field in schema["properties"].items()
    ]
    table = "\n".join(["| parameter | values | absent |", "|---|---|---|", *rows])
    notes = "\n".join(f"- `{key}`: {field['description']}" for key, field in schema["properties"].items())
    about = f"{description(name)} An analytic motion, without weights; see docs/motions.md."
    return f"# motion-{name.replace('_', '-')}\n\n{about}\n\n{table}\n\n{notes}\n"


def _default(schema: dict[str, Any], key: str) -> str:
    if key in schema.get("required", ()):
        return "refused"
    return str(schema["properties"][key].get("default", ""))


def _range(field: dict[str, Any]) -> str:
    if "enum" in field:
        return ", ".join(field["enum"])
    if field["type"] == "array":
        return f"{field['minItems']} numbers, {_range(field['items'])} each"
    return f"{field['minimum']:g} to {field['maximum']:g}"


def main() -> int:
    """Write or compare every file; 1 if one differs."""
    differs = 0
    for name in MOTIONS:
        folder = ROOT / "rskills" / f"motion-{name.replace('_', '-')}"
        for path, text in ((folder / "rskill.yaml", manifest(name)), (folder / "README.md", readme(name))):
            if path.is_file() and path.read_text(encoding="utf-8") == text:
                continue
            differs += 1
            if "--check" in sys.argv:
                sys.stderr.write(
                    f"{path.relative_to(ROOT)} is not current: python tools/motion_manifests.py\n"
                )
            else:
                folder.mkdir(exist_ok=True)
                path.write_text(text, encoding="utf-8")
    return int(differs > 0 and "--check" in sys.argv)


if __name__ == "__main__":
    sys.exit(main())

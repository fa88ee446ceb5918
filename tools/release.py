"""Build a release into `dist/`: wheels and source archives of both distributions, a bill of materials, checksums.

    python tools/release.py

The bill of materials (CycloneDX 1.6, JSON) lists what a fresh environment gets with the locked versions: every
distribution with its licence and what it depends on, and the weights of the skills that come with openral. What
`dist/` had before is removed.
"""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

import yaml
from cyclonedx.spdx import fixup_id
from install import GROUPS, LOCK, ROOT, ensure_uv
from torch_wheel import choice, uv_settings

SPECIFICATION = "1.6"
EXTRAS = GROUPS["runtime"][1].removeprefix(".")


def built(dist: Path) -> tuple[str, str]:
    """Return the wheels of a folder, as words for `uv pip install`: an index may have others of these names."""
    own, runtime = (next(dist.glob(f"{name}-*.whl")).as_uri() for name in ("openral", "ros2_embedded"))
    return f"openral{EXTRAS} @ {own}", f"ros2-embedded @ {runtime}"


def weights_of_skills(folder: Path) -> list[dict[str, Any]]:
    """Return one component of CycloneDX for each skill of the folder that has weights beside its manifest."""
    components = []
    for manifest in sorted(folder.glob("*/rskill.yaml")):
        skill = yaml.safe_load(manifest.read_text())
        files = sorted(manifest.parent.glob("*.safetensors"))
        if not files:
            continue
        parts = [
            {
                "type": "file",
                "name": f"{manifest.parent.name}/{file.name}",
                "hashes": [{"alg": "SHA-256", "content": hashlib.sha256(file.read_bytes()).hexdigest()}],
            }
            for file in files
        ]
        licence = {"license": {"id": fixup_id(str(skill["license"]))}}
        components.append(
            {
                "type": "machine-learning-model",
                "bom-ref": f"rskill:{skill['name']}",
                "name": str(skill["name"]),
                "version": str(skill["version"]),
                "licenses": [licence],
                "components": parts,
            }
        )
    return components


def bill_of_materials(python: str) -> dict[str, Any]:
    """Return the bill of what is installed beside an interpreter, without addresses of this machine.

    Raises:
        subprocess.CalledProcessError: `cyclonedx-py` failed, and has said why.
    """
    command = [
        sys.executable,
        "-m",
        "cyclonedx_py",
        "environment",
        python,
        "--pyproject",
        str(ROOT / "pyproject.toml"),
    ]
    command += [
        "--spec-version",
        SPECIFICATION,
        "--output-format",
        "JSON",
        "--output-reproducible",
        "--validate",
    ]
    bill: dict[str, Any] = json.loads(
        subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout
    )
    for component in [bill["metadata"]["component"], *bill["components"]]:
        references = component.pop("externalReferences", [])
        if kept := [reference for reference in references if not reference["url"].startswith("file:")]:
            component["externalReferences"] = kept
    bill["components"] += weights_of_skills(ROOT / "rskills")
    return bill


def main() -> int:
    """Build everything; 1 if a program failed, which has said why."""
    uv = ensure_uv(sys.executable, LOCK.read_text())
    dist = ROOT / "dist"
    shutil.rmtree(dist, ignore_errors=True)
    dist.mkdir()
    told = {**os.environ, **uv_settings(os.environ)}
    folders = [*told.get("UV_FIND_LINKS", "").split(","), str(dist)]
    environ = {**told, "UV_FIND_LINKS": ",".join(filter(None, folders))}
    try:
        for project in ("ros2_embedded", "."):
            subprocess.run(
                [uv, "build", "--quiet", "-b", str(LOCK), "--out-dir", str(dist), project],
                cwd=ROOT,
                env=environ,
                check=True,
            )
        with tempfile.TemporaryDirectory() as folder:
            python = f"{folder}/bin/python"
            subprocess.run(
                [uv, "venv", "--quiet", "--python", sys.executable, folder], env=environ, check=True
            )
            install = [uv, "pip", "install", "--quiet", "--python", python, "-c", str(LOCK)]
            torch = choice(uv, python, environ)
            environ.pop("UV_TORCH_BACKEND", None)
            for words in (torch.words, built(dist)):
                subprocess.run([*install, *words], env=environ, check=True)
            bill = bill_of_materials(python)
    except subprocess.CalledProcessError:
        return 1
    version = bill["metadata"]["component"]["version"]
    (dist / f"openral-{version}.cdx.json").write_text(json.dumps(bill, indent=1) + "\n")
    files = sorted(file for file in dist.iterdir() if file.suffix in (".whl", ".gz", ".json"))
    sums = [f"{hashlib.sha256(file.read_bytes()).hexdigest()}  {file.name}\n" for file in files]
    (dist / "SHA256SUMS").write_text("".join(sums))
    sys.stdout.write("".join(f"dist/{file.name}\n" for file in [*files, dist / "SHA256SUMS"]))
    return 0


if __name__ == "__main__":
    sys.exit(main())

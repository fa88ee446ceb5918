"""Records a result in its skill: as `eval/<suite>.json`, and in `rskill.yaml` if the run has no deviations."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any, get_args

from openral_core.files.atomic import replaced_file
from openral_core.manifest import MANIFEST_NAME, load_manifest
from openral_core.vocabulary import Benchmark
from openral_rskill.registry import RSkillPackage
from openral_rskill.result_provenance import write_result

_INDENTED = r"(?:[ \t]*(?:#.*)?\n)*[ \t]+[^\s#].*(?:\n|\Z)"
_BLOCK = re.compile(rf"^benchmarks:.*(?:\n|\Z)(?:{_INDENTED})*", re.MULTILINE)
"""Matches the key `benchmarks` with its value, on its line or on the indented lines that follow, with blank lines and
comments between them."""


def record_result(package: RSkillPackage, content: dict[str, Any]) -> list[Path]:
    """Write a result into its skill's folder and return the files that were written.

    What the makers of a checkpoint reported (`baselines`) stays in the eval file. The manifest's `benchmarks` gets the
    mean over the tasks if the suite is one of those that it can name, and the run has no deviations from the protocol.

    Args:
        package: the skill that was judged.
        content: the result of `execute`.
    """
    name = content["benchmark"]["name"]
    path = package.folder / "eval" / f"{name}.json"
    kept = {key: value for key, value in content.items() if key != "films"}
    if path.exists():
        kept["baselines"] = json.loads(path.read_text(encoding="utf-8")).get("baselines", {})
    write_result(path, kept)
    if content["eval_config"]["deviations"] or name not in get_args(Benchmark):
        return [path]
    manifest = package.folder / MANIFEST_NAME
    figures = {**package.manifest.benchmarks, name: content["results"]["avg_success_rate"]}
    _write_figures(manifest, figures)
    return [path, manifest]


def _write_figures(manifest: Path, figures: dict[Any, float]) -> None:
    """Replace the key `benchmarks` of a manifest, and leave every other line as it is, comments included."""
    text = manifest.read_text(encoding="utf-8")
    words = ", ".join(f"{name}: {rate}" for name, rate in figures.items())
    line = f"benchmarks: {{{words}}}\n"
    changed = _BLOCK.sub(line, text, count=1) if _BLOCK.search(text) else f"{text.rstrip()}\n{line}"
    with replaced_file(manifest) as partial:
        partial.write_text(changed, encoding="utf-8")
        load_manifest(partial)  # an unreadable manifest must not replace a readable one

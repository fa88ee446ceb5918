"""Updates of installed skills: what is fetched anew, what goes, and what stays."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from example_skill import write_safetensors
from hub_server import SKILL, WEIGHTS, Hub

from openral_core.errors import HubError, NotFoundError
from openral_rskill.checks.package import hashes_fit
from openral_rskill.hub.install import install
from openral_rskill.hub.remove import remove
from openral_rskill.registry import resolve


@pytest.mark.parametrize("uri", [f"hf://{WEIGHTS}", "local://model.safetensors"])
def test_small_files_are_completed_and_those_of_ones_own_are_left(
    hub: Hub, commit: Callable[..., tuple[str, str]], uri: str
) -> None:
    commit(uri=uri)
    package = install(SKILL).package
    (package.folder / "calibration.json").unlink()
    (package.folder / "README.md").write_text("mine")
    install(SKILL)
    assert (package.folder / "calibration.json").read_text() == "{}"
    assert (package.folder / "README.md").read_text() == "mine"
    asked = len(hub.requests)
    install(SKILL)
    assert len(hub.requests) == asked
    (altered,) = [row for row in hashes_fit(package) if not row.ok]
    assert altered.found.startswith("README.md ")
    assert altered.fix.startswith("openral rskill install example --update")
    install(SKILL, update=True)
    assert all(row.ok for row in hashes_fit(package))


def test_an_update_is_asked_for(hub: Hub, commit: Callable[..., tuple[str, str]]) -> None:
    skill, checkpoint = commit()
    install(SKILL)
    newer = commit(more=b"")
    again = install(SKILL).lock
    assert again.manifest is not None
    assert again.weights is not None
    assert (again.manifest.revision, again.weights.revision) == (skill, checkpoint)
    fresh = install(SKILL, update=True).lock
    assert fresh.manifest is not None
    assert fresh.weights is not None
    assert (fresh.manifest.revision, fresh.weights.revision) == newer
    assert len(remove("example")) == 3  # the skill, and both snapshots of its weights
    with pytest.raises(NotFoundError):
        resolve("example")


def test_an_update_leaves_nothing_that_the_newer_commit_lacks(
    hub: Hub, commit: Callable[..., tuple[str, str]], weights: bytes
) -> None:
    commit(uri="local://checkpoint", **{"checkpoint/model.safetensors": weights})
    folder = install(SKILL).package.folder
    (folder / "eval" / "mine.json").write_text("{}")
    files = dict(next(iter(hub.repositories[SKILL].values())))
    for name in ("calibration.json", "eval/a.json", "checkpoint/model.safetensors"):
        del files[name]
    hub.commit(SKILL, {**files, "checkpoint/policy.safetensors": weights})
    package = install(SKILL, update=True).package
    assert package.weights_path() == folder / "checkpoint" / "policy.safetensors"
    assert not (folder / "calibration.json").exists()
    assert [path.name for path in (folder / "eval").iterdir()] == ["mine.json"]


@pytest.mark.parametrize("uri", [f"hf://{WEIGHTS}", "local://model.safetensors"])
def test_an_update_that_breaks_off_leaves_no_newer_manifest_with_older_weights(
    hub: Hub, commit: Callable[..., tuple[str, str]], tmp_path: Path, uri: str
) -> None:
    commit(uri=uri)
    older = install(SKILL).package.weights_path()
    write_safetensors(tmp_path / "newer.safetensors", count=3000)
    newer = (tmp_path / "newer.safetensors").read_bytes()
    for repository in (SKILL, WEIGHTS):
        files = list(hub.repositories[repository].values())[-1]
        hub.commit(repository, {**files, "model.safetensors": newer})
    hub.cuts["model.safetensors"] = [0] * 5
    with pytest.raises(HubError, match="run it again"):
        install(SKILL, update=True)
    with pytest.raises(NotFoundError):
        resolve("example").checkpoint()
    hub.cuts.clear()
    assert install(SKILL).package.weights_path().read_bytes() == newer
    gone = remove("example")
    assert not [path for path in (older, *gone) if path.exists()]


def test_an_update_writes_over_no_result_of_ones_own(
    hub: Hub, commit: Callable[..., tuple[str, str]]
) -> None:
    commit()
    evaluations = install(SKILL).package.folder / "eval"
    for name in ("a.json", "b.json"):
        (evaluations / name).write_text('{"results": {"mine": 1}}')
    files = list(hub.repositories[SKILL].values())[-1]
    theirs = b'{"results": {"theirs": 1}}'
    for number in range(2):
        hub.commit(
            SKILL, {**files, "eval/a.json": theirs, "eval/b.json": theirs, f"eval/c{number}.json": theirs}
        )
        install(SKILL, update=True)
        assert (evaluations / "a.json").read_bytes() == (evaluations / "b.json").read_bytes() == theirs
        kept = sorted(path for path in evaluations.iterdir() if "mine" in path.read_text())
        assert [path.name.split("-")[0] for path in kept] == ["a.own", "b.own"]

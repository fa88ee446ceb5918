"""Eight ways round the licence gate: each is refused, and all with one message."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import hub_server
import pytest
import yaml
from example_skill import MANIFEST, write_safetensors

from openral_core.errors import LicenseError, OpenralError
from openral_core.files.share import share_directory
from openral_policy_nodes.families.factory import load_policy
from openral_rskill.hub.install import install
from openral_rskill.license import OPT_INS, check_checkpoint_license, check_license
from openral_rskill.loader import rSkill
from openral_rskill.registry import RSkillPackage, load_package, resolve

MESSAGE = (
    "RLWRLD/RLDX-1-FT-LIBERO: licence 'rlwrld_non_commercial' does not allow commercial use; "
    "if your use is non-commercial and its terms are met, set OPENRAL_ACCEPT_NONCOMMERCIAL=1"
)
SKILL = "rldx1-ft-libero-nf4"
WEIGHTS = "RLWRLD/RLDX-1-FT-LIBERO"
TOOL = Path(__file__).parents[2] / "tools" / "rldx_sidecar.py"


@pytest.fixture(autouse=True)
def hub(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[hub_server.Hub]:
    """A hub with (tiny) weights, an empty cache, no acceptance."""
    for name in OPT_INS:
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("OPENRAL_CACHE_HOME", str(tmp_path / "cache"))
    write_safetensors(tmp_path / "w.safetensors")
    with hub_server.running() as hub:
        monkeypatch.setenv("HF_ENDPOINT", hub.endpoint)
        files = {
            "config.json": b'{"architectures": ["RLDX"]}',
            "model.safetensors": (tmp_path / "w.safetensors").read_bytes(),
        }
        hub.commit(WEIGHTS, files)
        yield hub


def refused(action: Callable[[], object]) -> None:
    with pytest.raises(LicenseError) as caught:
        action()
    assert str(caught.value) == MESSAGE


def cached() -> Path:
    """Fetch the weights with acceptance, and return their folder."""
    return install(SKILL, accept_noncommercial=True).package.checkpoint()


def edited(folder: Path, **changes: object) -> RSkillPackage:
    """Return the seed's skill in a folder of its own, with another manifest."""
    shutil.copytree(resolve(SKILL).folder, folder)
    manifest = yaml.safe_load((folder / "rskill.yaml").read_text())
    (folder / "rskill.yaml").write_text(yaml.safe_dump({**manifest, **changes}))
    return load_package(folder)


def test_nothing_is_downloaded(hub: hub_server.Hub) -> None:
    refused(lambda: install(SKILL))
    assert hub.requests == []


def test_alias(tmp_path: Path) -> None:
    """Another name and another licence for the same weights."""
    package = edited(tmp_path / "alias", name="me/rskill-mine", license="apache-2.0", source_repo=None)
    refused(lambda: install(str(package.folder)))
    refused(package.checkpoint)


def test_local_copy(tmp_path: Path) -> None:
    """The downloaded files, copied elsewhere, with a manifest of one's own and without."""
    folder = cached()
    package = edited(
        tmp_path / "copy", name="me/rskill-mine", license="mit", source_repo=None, weights_uri="local://w"
    )
    shutil.copytree(folder, package.folder / "w")
    refused(package.checkpoint)
    shutil.copytree(folder, tmp_path / "bare")
    refused(lambda: check_checkpoint_license(str(tmp_path / "bare")))


def test_symlink(tmp_path: Path) -> None:
    """A link to the downloaded files, and one to the skill."""
    (tmp_path / "weights").symlink_to(cached())
    refused(lambda: check_checkpoint_license(str(tmp_path / "weights")))
    (tmp_path / "skill").symlink_to(resolve(SKILL).folder)
    refused(load_package(tmp_path / "skill").checkpoint)


def test_fallback_skill(tmp_path: Path) -> None:
    """A free skill that falls back to one that is not."""
    (tmp_path / "free").mkdir()
    (tmp_path / "free" / "rskill.yaml").write_text(MANIFEST + f"fallback_skill_id: {SKILL}\n")
    cached()
    free = load_package(tmp_path / "free").manifest
    fallback = resolve(str(free.fallback_skill_id))
    refused(fallback.checkpoint)
    refused(lambda: load_policy(fallback))


def test_python_api() -> None:
    refused(lambda: rSkill.from_pretrained(SKILL))
    package = rSkill.from_yaml(f"rskills/{SKILL}/rskill.yaml")
    assert not package.manifest.is_commercial_use_allowed
    assert package.manifest.weights_uri == f"hf://{WEIGHTS}"
    for read in (
        package.checkpoint,
        package.weights_path,
        package.require_license,
        lambda: load_policy(package),
    ):
        refused(read)
    accepted = rSkill.from_pretrained(SKILL, accept_noncommercial=True)
    assert isinstance(accepted, rSkill)
    assert accepted.checkpoint().is_dir()


def test_cached_weights(monkeypatch: pytest.MonkeyPatch) -> None:
    """They were accepted once; that was then."""
    cached()
    refused(resolve(SKILL).checkpoint)
    refused(lambda: load_policy(resolve(SKILL)))
    refused(lambda: install(SKILL))
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    refused(resolve(SKILL).weights_path)


@pytest.mark.parametrize("name", OPT_INS)
@pytest.mark.parametrize("value", ["true", "0", "yes", "", " 1", "01", "TRUE"])
def test_other_values_of_the_variable(monkeypatch: pytest.MonkeyPatch, name: str, value: str) -> None:
    monkeypatch.setenv(name, value)
    refused(resolve(SKILL).require_license)
    monkeypatch.setenv(name, "1")
    resolve(SKILL).require_license()


def test_a_decision_counts_more_than_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(OPT_INS[0], "1")
    refused(lambda: check_license(resolve(SKILL).manifest, accept_noncommercial=False))


@pytest.mark.parametrize("model", [WEIGHTS, f"hf://{WEIGHTS}", f"hf://{WEIGHTS}@main"])
def test_a_sidecar_by_hand_asks_the_same_gate(model: str) -> None:
    refused(lambda: check_checkpoint_license(model))
    check_checkpoint_license(model, accept_noncommercial=True)


@pytest.mark.skipif(not TOOL.is_file(), reason="tools/rldx_sidecar.py is not there")
def test_sidecar_started_by_hand() -> None:
    command = [sys.executable, str(TOOL), "--model", WEIGHTS, "--port", "5555", "--quantization", "nf4"]
    done = subprocess.run(
        command,
        capture_output=True,
        text=True,
        timeout=240,
        check=False,
        cwd=share_directory(),
        env=dict(os.environ),
    )
    assert done.returncode != 0
    assert MESSAGE in done.stderr
    assert "Traceback" not in done.stderr


def test_sidecar_that_the_command_starts() -> None:
    openral = str(Path(sys.executable).parent / "openral")
    done = subprocess.run(
        [openral, "sidecar", "start", "rldx", "--", "--model", WEIGHTS],
        capture_output=True,
        text=True,
        timeout=240,
        check=False,
    )
    assert done.returncode != 0
    assert MESSAGE in done.stderr


def test_what_nothing_is_known_of_is_refused(tmp_path: Path) -> None:
    (tmp_path / "bare").mkdir()
    for model in ("somebody/RLDX-finetune", str(tmp_path / "bare"), "no-such-name"):
        with pytest.raises(LicenseError, match="licence 'unknown'"):
            check_checkpoint_license(model)
    check_checkpoint_license("lerobot/smolvla_metaworld")  # a manifest here speaks of it
    for text in ("[" * 100_000, '{"architectures": [[]]}'):
        (tmp_path / "bare" / "config.json").write_text(text)
        with pytest.raises(LicenseError, match="licence 'unknown'"):
            check_checkpoint_license(str(tmp_path / "bare"))
    (tmp_path / "bare" / "config.json").write_text('{"architectures": ["RLDX"]}')
    with pytest.raises(LicenseError, match="licence 'rlwrld_non_commercial'"):
        check_checkpoint_license(str(tmp_path / "bare"))
    (tmp_path / "bare" / "rskill.yaml").write_text(MANIFEST)
    check_checkpoint_license(str(tmp_path / "bare"))
    (tmp_path / "bare" / "rskill.yaml").write_text("name: 3")
    with pytest.raises(OpenralError):
        check_checkpoint_license(str(tmp_path / "bare"))

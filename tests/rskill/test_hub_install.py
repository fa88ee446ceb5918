"""Skills from a hub: pinned, hashed, continued, and never a weight before the licence gate."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import sys
import time
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor, wait
from pathlib import Path

import pytest
from example_skill import MANIFEST, write_safetensors
from hub_server import SKILL, WEIGHTS, Hub

from openral_core.errors import HubError, LicenseError, NotFoundError, OpenralError, WeightsError
from openral_rskill.hub import download
from openral_rskill.hub.client import HubClient, HubFile
from openral_rskill.hub.install import install
from openral_rskill.hub.remove import remove
from openral_rskill.package import RSkillPackage
from openral_rskill.playbook_procedure import load_playbook
from openral_rskill.registry import list_skills, load_package, resolve
from openral_rskill.store import store_folders
from openral_rskill.store.repo_id import HubReference

OPT_IN = "OPENRAL_ACCEPT_NONCOMMERCIAL"


@pytest.mark.parametrize("ref", [SKILL, f"hf://{SKILL}", f"hf://{SKILL}@main"])
def test_a_skill_is_pinned_hashed_and_found(
    hub: Hub, commit: Callable[..., tuple[str, str]], ref: str
) -> None:
    skill, checkpoint = commit()
    seen: list[tuple[str, int, int]] = []
    done = install(ref, progress=lambda *step: seen.append(step))
    assert done.lock.manifest is not None
    assert done.lock.weights is not None
    assert (done.lock.manifest.revision, done.lock.weights.revision) == (skill, checkpoint)
    assert sorted(done.lock.weights.files) == ["config.json", "model.safetensors"]
    folder = resolve(f"hf://{SKILL}@{skill}").checkpoint()
    assert sorted(path.name for path in folder.iterdir() if not path.name.startswith(".")) == [
        "config.json",
        "model.safetensors",
    ]
    assert {name for name, *_ in seen} >= {"rskill.yaml", "model.safetensors"}
    assert all(file_done <= total for _, file_done, total in seen)
    for name in (SKILL, "example", f"hf://{SKILL}"):
        assert resolve(name).weights_path() == folder / "model.safetensors"
    with pytest.raises(NotFoundError, match="is installed at"):
        resolve(f"hf://{SKILL}@v2")


@pytest.mark.parametrize("ref", ["Maker/RSkill-Example", "hf://Maker/RSkill-Example"])
def test_a_name_in_other_capital_letters_is_the_same_skill(
    hub: Hub, commit: Callable[..., tuple[str, str]], ref: str
) -> None:
    commit()
    hub.repositories["Maker/RSkill-Example"] = hub.repositories[SKILL]  # to which a hub sends who asks
    done = install(ref)
    assert done.package.folder == store_folders.skill_folder(SKILL)
    assert {resolve(name).weights_path() for name in (SKILL, ref)} == {done.package.weights_path()}
    install(ref, update=True)
    remove(ref)
    assert list(store_folders.installed_skills().iterdir()) == []


def test_offline_from_the_cache(
    hub: Hub, commit: Callable[..., tuple[str, str]], monkeypatch: pytest.MonkeyPatch
) -> None:
    commit()
    install(SKILL)
    monkeypatch.setenv("HF_HUB_OFFLINE", "1")
    asked = len(hub.requests)
    install(SKILL)
    assert resolve("example").checkpoint().is_dir()
    assert len(hub.requests) == asked
    with pytest.raises(HubError, match="HF_HUB_OFFLINE is set"):
        install("maker/rskill-other")


def test_a_broken_download_goes_on_where_it_was(
    hub: Hub, commit: Callable[..., tuple[str, str]], weights: bytes
) -> None:
    commit()
    hub.cuts["model.safetensors"] = [500, 0, 700]
    install(SKILL)
    ranges = [range_ for _, path, range_, _ in hub.requests if re.match(r"/cdn/.*/model", path)]
    assert ranges == [None, "bytes=500-", "bytes=500-", "bytes=1200-"]
    assert resolve("example").weights_path().read_bytes() == weights


@pytest.mark.parametrize("ranges", [True, False])
def test_an_interrupted_install_is_completed_by_the_next(
    hub: Hub, commit: Callable[..., tuple[str, str]], weights: bytes, ranges: bool
) -> None:
    commit()
    hub.cuts["model.safetensors"] = [900, 0, 0, 0, 0]
    with pytest.raises(HubError, match="run it again"):
        install(SKILL)
    with pytest.raises(NotFoundError, match="openral rskill install"):
        resolve("example").checkpoint()
    hub.cuts.clear()
    hub.ranges = ranges
    install(SKILL)
    assert resolve("example").weights_path().read_bytes() == weights
    host, _, range_, _ = hub.requests[-1]
    assert (host.split(":")[0], range_) == ("localhost", "bytes=900-")


@pytest.mark.slow
def test_an_install_that_was_killed_is_completed_by_another(
    hub: Hub, commit: Callable[..., tuple[str, str]], weights: bytes, tmp_path: Path
) -> None:
    commit()
    hub.stalls["model.safetensors"] = 700
    command = [str(Path(sys.executable).with_name("openral")), "rskill", "install", SKILL]
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        deadline = time.monotonic() + 240
        while sum(part.stat().st_size for part in tmp_path.rglob("model.safetensors.part")) < 700:
            assert process.poll() is None
            assert time.monotonic() < deadline
            time.sleep(0.05)
    finally:
        process.kill()
        process.wait()
    hub.stalls.clear()
    assert install(SKILL).package.weights_path().read_bytes() == weights
    assert hub.requests[-1][2] == "bytes=700-"


def test_bytes_that_do_not_fit_their_hash_are_thrown_away(
    hub: Hub, commit: Callable[..., tuple[str, str]]
) -> None:
    commit()
    for path in ("config.json", "model.safetensors"):
        hub.lies = {path}
        with pytest.raises(HubError, match="do not fit the hub's hash"):
            install(SKILL)
    hub.lies = set()
    install(SKILL)


def test_an_altered_cache_is_noticed_and_fixed(
    hub: Hub, commit: Callable[..., tuple[str, str]], weights: bytes
) -> None:
    commit()
    path = install(SKILL).package.weights_path()
    path.write_bytes(weights[:-1])
    with pytest.raises(WeightsError, match=r"has \d+ bytes, the lock says .* openral rskill install example"):
        resolve("example").checkpoint()
    path.write_bytes(weights[:-1] + b"x")
    install(SKILL)
    assert path.read_bytes() == weights


def test_a_commit_that_names_a_folder_elsewhere_is_refused(
    hub: Hub, commit: Callable[..., tuple[str, str]], tmp_path: Path
) -> None:
    commit()
    files = next(iter(hub.repositories[WEIGHTS].values()))
    hub.repositories[WEIGHTS]["../../../../elsewhere"] = files
    with pytest.raises(HubError, match="gave no list of files"):
        install(SKILL)
    assert not list(tmp_path.rglob("elsewhere"))


def test_weights_beside_the_manifest(
    hub: Hub, commit: Callable[..., tuple[str, str]], weights: bytes
) -> None:
    commit(uri="local://model.safetensors")
    package = install(SKILL).package
    assert package.weights_path().read_bytes() == weights
    asked = len(hub.requests)
    install(SKILL)
    assert len(hub.requests) == asked


@pytest.mark.parametrize("text", ["PLAYBOOK.md", "texts/steps.txt"])
def test_a_playbook_comes_with_its_text(hub: Hub, text: str) -> None:
    manifest = Path(resolve("free-drawer").folder, "rskill.yaml").read_text()
    files = {
        "rskill.yaml": manifest.replace("openral/", "maker/")
        .replace("//PLAYBOOK.md", f"//./{text}")
        .encode(),
        text: b"## Steps\n\n1. open the drawer\n",
        "notes.md": b"of no use",
    }
    hub.commit("maker/rskill-free-drawer", files)
    package = install("hf://maker/rskill-free-drawer").package
    assert load_playbook(package).steps == ("open the drawer",)
    assert not (package.folder / "notes.md").exists()
    newest = hub.commit("maker/rskill-free-drawer", {**files, text: b"## Steps\n\n1. close the drawer\n"})
    newer = install("hf://maker/rskill-free-drawer", update=True)
    assert load_playbook(newer.package).steps == ("close the drawer",)
    assert newer.lock.manifest is not None
    assert newer.lock.manifest.revision == newest
    remove("hf://maker/rskill-free-drawer")
    assert not package.folder.exists()


def test_a_copy_of_a_skill_keeps_weights_of_ones_own(
    hub: Hub, commit: Callable[..., tuple[str, str]], tmp_path: Path
) -> None:
    commit(uri="local://model.safetensors")
    copy = shutil.copytree(install(SKILL).package.folder, tmp_path / "copy")
    own = copy / "model.safetensors"
    write_safetensors(own, count=7)
    trained = own.read_bytes()
    with pytest.raises(
        WeightsError, match=r"model\.safetensors has .* if they are your own, remove rskill\.lock"
    ):
        install(str(copy))
    assert own.read_bytes() == trained
    own.unlink()
    install(str(copy))  # what is not there is fetched, and the rest is as the lock says
    assert own.read_bytes() != trained
    write_safetensors(own, count=7)
    (copy / "rskill.lock").unlink()
    install(str(copy))
    assert own.read_bytes() == trained


def test_a_folder_of_ones_own_keeps_its_manifest(
    hub: Hub, commit: Callable[..., tuple[str, str]], skill_folder: Path
) -> None:
    _, checkpoint = commit()
    file = skill_folder / "rskill.yaml"
    file.write_text(file.read_text().replace("local://model.safetensors", f"hf://{WEIGHTS}"))
    install(str(skill_folder))
    assert load_package(skill_folder).checkpoint().name == checkpoint
    names = sorted(path.name for path in skill_folder.iterdir())
    assert names == ["config.json", "model.safetensors", "rskill.yaml"]
    assert "openral/rskill-example" not in [package.manifest.name for package in list_skills()]
    file.write_text(file.read_text().replace(f"hf://{WEIGHTS}", f"hf://{WEIGHTS}@other"))
    with pytest.raises(NotFoundError, match="openral rskill install"):
        load_package(skill_folder).checkpoint()


def test_a_folder_with_its_weights_is_ready_and_asks_nobody(hub: Hub, skill_folder: Path) -> None:
    installed = install(str(skill_folder))
    assert installed.package.folder == skill_folder
    assert (installed.lock.manifest, installed.lock.weights) == (None, None)
    assert hub.requests == []
    (skill_folder / "model.safetensors").unlink()
    with pytest.raises(NotFoundError, match=r"model\.safetensors is not there"):
        install(str(skill_folder))


def test_a_lock_beside_the_manifest_pins(
    hub: Hub, commit: Callable[..., tuple[str, str]], skill_folder: Path, tmp_path: Path
) -> None:
    _, checkpoint = commit()
    file = skill_folder / "rskill.yaml"
    file.write_text(file.read_text().replace("local://model.safetensors", f"hf://{WEIGHTS}"))
    install(str(skill_folder)).lock.write(skill_folder)
    remove(str(skill_folder))
    hub.commit(WEIGHTS, {"model.safetensors": b"newer" * 100})
    assert install(str(skill_folder)).package.checkpoint().name == checkpoint
    lock = json.loads((skill_folder / "rskill.lock").read_text())
    lock["weights"]["files"]["config.json"]["sha256"] = "0" * 64
    (skill_folder / "rskill.lock").write_text(json.dumps(lock))
    with pytest.raises(HubError, match="another file than the lock says"):
        install(str(skill_folder))
    with pytest.raises(HubError, match="pins this skill"):
        install(str(skill_folder), update=True)


@pytest.mark.parametrize("license_", ["rlwrld_non_commercial", "unknown", "proprietary"])
def test_no_weight_is_fetched_before_the_licence_gate(
    hub: Hub, commit: Callable[..., tuple[str, str]], license_: str
) -> None:
    commit(license_)
    with pytest.raises(LicenseError, match=f"{WEIGHTS}: licence '{license_}'.*set {OPT_IN}=1"):
        install(SKILL)
    assert {path.rsplit("/", 1)[-1] for path in hub.fetched()} == {
        "rskill.yaml",
        "README.md",
        "calibration.json",
        "a.json",
    }
    with pytest.raises(LicenseError):
        install(SKILL)  # the manifest is here now
    assert len(hub.fetched()) == 4
    install(SKILL, accept_noncommercial=True)


def test_the_token_stays_at_home(
    hub: Hub, commit: Callable[..., tuple[str, str]], monkeypatch: pytest.MonkeyPatch
) -> None:
    commit()
    hub.gated = {WEIGHTS}
    with pytest.raises(HubError, match=r"wants to know you \(401\); accept the terms on .*set HF_TOKEN"):
        install(SKILL)
    monkeypatch.setenv("HF_TOKEN", "secret")
    install(SKILL)
    tokens = {(host.split(":")[0], token) for host, _, _, token in hub.requests}
    assert ("127.0.0.1", "Bearer secret") in tokens
    assert {token for host, token in tokens if host == "localhost"} == {None}


def test_what_the_hub_lacks_is_said_in_one_line(hub: Hub, commit: Callable[..., tuple[str, str]]) -> None:
    commit()
    hub.commit("maker/only-weights", {"config.json": b"{}"})
    hub.commit("maker/only-pickles", {"pytorch_model.bin": b"\x80\x02."})
    for ref, words in (
        ("maker/rskill-nothing", r"no such repository"),
        ("hf://maker/only-weights", r"openral rskill new hf://maker/only-weights"),
        (f"hf://{SKILL}@v9", r"no such repository, revision or file"),
    ):
        with pytest.raises(HubError, match=words):
            install(ref)
    for uri, words in (
        ("hf://maker/only-pickles", "openral rskill convert"),
        ("hf://maker/only-weights", "no safetensors"),
    ):
        commit(uri=uri)
        with pytest.raises(WeightsError, match=words):
            install(SKILL, update=True)
    hub.commit("maker/rskill-thief", dict(next(iter(hub.repositories[SKILL].values()))))
    with pytest.raises(HubError, match="calls itself maker/rskill-example"):
        install("maker/rskill-thief")


def test_paths_that_leave_the_folder_are_refused(
    hub: Hub, commit: Callable[..., tuple[str, str]], tmp_path: Path
) -> None:
    commit()
    good = {"model.safetensors": next(iter(hub.repositories[WEIGHTS].values()))["model.safetensors"]}
    hub.commit(WEIGHTS, {**good, "../../../../evil.json": b"{}"})
    install(SKILL)
    hub.commit(WEIGHTS, {**good, str(tmp_path / "evil.json"): b"{}"})
    with pytest.raises(HubError, match="leaves its folder"):
        install(SKILL, update=True)
    assert not list(tmp_path.rglob("evil.json"))


def test_search_and_dead_hubs(hub: Hub, commit: Callable[..., tuple[str, str]]) -> None:
    commit()
    assert [found.repository for found in HubClient().search("example", 5)] == [SKILL]
    assert HubClient().search("nothing of the sort", 5) == []
    dead = HubClient({"HF_ENDPOINT": "http://127.0.0.1:9"})
    with pytest.raises(HubError, match="cannot be reached"):
        dead.search("x", 5)
    with pytest.raises(HubError, match="is not https"):
        HubClient({"HF_ENDPOINT": "http://hub.example"})
    with pytest.raises(HubError, match="is no address"):
        HubClient({"HF_ENDPOINT": "https://[::1"})
    for address in ("https://hub..example", "https://hub.example/h\u00fcb"):
        with pytest.raises(HubError, match="cannot be reached"):
            HubClient({"HF_ENDPOINT": address}).search("x", 5)


@pytest.mark.parametrize("token", ["hf_abc\u2026", "hf_abc\nhf_def"])
def test_a_token_that_can_be_none_is_not_sent_and_not_shown(hub: Hub, token: str) -> None:
    """Such as one that was copied with the dots by which a page shortens it, or a file with two."""
    with pytest.raises(HubError, match=r"HF_TOKEN .*copy it anew") as caught:
        HubClient({"HF_TOKEN": token, "HF_ENDPOINT": hub.endpoint}).listing(HubReference(SKILL))
    assert "hf_abc" not in str(caught.value)
    assert hub.requests == []


def test_a_lock_that_was_tampered_with_leads_nowhere(skill_folder: Path) -> None:
    locked = {
        "requested": "main",
        "revision": "0" * 40,
        "files": {"../../x": {"size": 0, "sha256": "0" * 64}},
    }
    for repository, words in (
        ("..", "repository"),
        ("../..", "repository"),
        ("maker/checkpoint", "is not there"),
    ):
        lock = {"skill": "openral/rskill-example", "weights": {**locked, "repository": repository}}
        (skill_folder / "rskill.lock").write_text(json.dumps(lock))
        file = skill_folder / "rskill.yaml"
        file.write_text(MANIFEST.replace("local://model.safetensors", f"hf://{WEIGHTS}"))
        with pytest.raises(OpenralError, match=words) as caught:
            load_package(skill_folder).checkpoint()
        assert "\n" not in str(caught.value)


def test_weights_that_another_skill_is_being_installed_with_are_not_removed(
    hub: Hub, commit: Callable[..., tuple[str, str]], weights: bytes
) -> None:
    _, checkpoint = commit()
    install(SKILL)
    hub.commit(WEIGHTS, {"config.json": b"{}", "model.safetensors": weights, "further.json": b"{}"})
    other = MANIFEST.replace("openral/rskill-example", "maker/rskill-other")
    other = other.replace("local://model.safetensors", f"hf://{WEIGHTS}")
    hub.commit("maker/rskill-other", {"rskill.yaml": other.encode()})
    removing: list[Future[list[Path]]] = []
    with ThreadPoolExecutor(1) as pool:

        def meanwhile(name: str, done: int, total: int) -> None:
            if name == "model.safetensors" and done == total and not removing:
                removing.append(pool.submit(remove, SKILL))
                wait(removing, 1.0)  # it is done, or waits for the end of the installation

        installed = install("maker/rskill-other", progress=meanwhile)
        gone = [path.name for path in removing[0].result(60)]
    assert gone == [SKILL.replace("/", "--"), checkpoint]
    assert installed.package.weights_path().read_bytes() == weights


def test_a_skill_that_is_removed_while_it_is_being_installed_is_not_installed_in_part(
    hub: Hub, commit: Callable[..., tuple[str, str]], monkeypatch: pytest.MonkeyPatch
) -> None:
    commit()
    monkeypatch.setattr(RSkillPackage, "require_license", lambda package: remove(SKILL))
    with pytest.raises(HubError, match="was removed while it was being installed; install it again"):
        install(SKILL)
    assert not store_folders.skill_folder(SKILL).exists()


def test_a_file_of_unknown_size_is_whole_only_when_all_of_it_came(
    hub: Hub, commit: Callable[..., tuple[str, str]], weights: bytes, tmp_path: Path
) -> None:
    _, checkpoint = commit()
    hub.cuts["model.safetensors"] = [500, 700]
    target, reference = tmp_path / "model.safetensors", HubReference(WEIGHTS, checkpoint)
    download.fetch(HubClient(), reference, HubFile(target.name, -1), target, lambda *step: None)
    assert target.read_bytes() == weights


def test_a_file_of_unknown_size_that_was_whole_when_its_download_was_killed_is_fetched_anew(
    hub: Hub, commit: Callable[..., tuple[str, str]], weights: bytes, tmp_path: Path
) -> None:
    _, checkpoint = commit()
    target, reference = tmp_path / "model.safetensors", HubReference(WEIGHTS, checkpoint)
    (tmp_path / f"{target.name}{download.PARTIAL}").write_bytes(weights)
    download.fetch(HubClient(), reference, HubFile(target.name, -1), target, lambda *step: None)
    assert target.read_bytes() == weights


def test_installs_at_once_wait_for_each_other(
    hub: Hub, commit: Callable[..., tuple[str, str]], weights: bytes
) -> None:
    commit()
    with ThreadPoolExecutor(4) as pool:
        done = [future.result(240) for future in [pool.submit(install, SKILL) for _ in range(4)]]
    assert {installed.package.weights_path().read_bytes() for installed in done} == {weights}
    assert sum(path.endswith("/model.safetensors") for path in hub.fetched()) == 1

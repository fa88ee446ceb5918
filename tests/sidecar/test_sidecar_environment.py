"""An environment is built once, locked, resumed after a kill, and a failure says what to do."""

from __future__ import annotations

import shutil
import signal
import subprocess
import sys
import threading
import zipfile
from dataclasses import replace
from pathlib import Path

import pytest
from sidecar_helpers import PATIENCE_S

from openral_core.errors import SidecarError
from openral_sidecar import table
from openral_sidecar.environment.build import ensure_environment, environment_folder, is_built, lock_file
from openral_sidecar.environment.code_links import bundle_for
from openral_sidecar.environment.spec import InstallStep, SidecarSpec, Source
from openral_sidecar.environment.uv_command import explain, uv_variables

PYTHON = f"{sys.version_info.major}.{sys.version_info.minor}"
SPEC = SidecarSpec("bare", PYTHON, (), "sidecar_echo")


@pytest.fixture
def wheels(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder of wheels that is all there is: no index, and our own requirements replaced by a small one."""
    folder = tmp_path / "wheels"
    folder.mkdir()
    write_wheel(folder, "toywire", "1.0")
    monkeypatch.setenv("UV_FIND_LINKS", str(folder))
    monkeypatch.setenv("UV_NO_INDEX", "1")
    monkeypatch.setattr("openral_sidecar.environment.build.OURS", InstallStep(("toywire",)))
    return folder


def write_wheel(folder: Path, name: str, version: str, requires: str = "") -> None:
    info = f"{name}-{version}.dist-info"
    metadata = f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n"
    content = {
        f"{name}.py": f"VERSION = {version!r}\n",
        f"{info}/METADATA": metadata + (f"Requires-Dist: {requires}\n" if requires else ""),
        f"{info}/WHEEL": "Wheel-Version: 1.0\nGenerator: test\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
    }
    content[f"{info}/RECORD"] = "".join(f"{path},,\n" for path in [*content, f"{info}/RECORD"])
    with zipfile.ZipFile(folder / f"{name}-{version}-py3-none-any.whl", "w") as wheel:
        for path, text in content.items():
            wheel.writestr(path, text)


def run(python: Path, code: str) -> str:
    return subprocess.run(
        [str(python), "-c", code], capture_output=True, text=True, check=True
    ).stdout.strip()


def test_an_environment_is_built_once_and_says_what_it_does(wheels) -> None:
    write_wheel(wheels, "toy", "2.0", requires="toywire")
    spec = replace(SPEC, steps=(InstallStep(("toy==2.0",)),))
    assert not is_built(spec)
    lines: list[str] = []
    python = ensure_environment(spec, progress=lines.append)
    assert run(python, "import sys, toy, toywire; print(sys.version_info[:2], toy.VERSION)") == (
        f"{sys.version_info[:2]} 2.0"
    )
    assert f"bare: building {environment_folder(spec)}" in lines
    assert "bare: step 1 of 2: toy==2.0" in lines
    assert lines[-1] == "bare: ready"
    lines.clear()
    assert ensure_environment(spec, progress=lines.append) == python
    assert lines == []


def test_what_was_resolved_is_written_and_decides_the_next_build(wheels) -> None:
    spec = replace(SPEC, steps=(InstallStep(("toywire",)),))
    ensure_environment(spec)
    assert lock_file(spec).read_text().split() == ["toywire==1.0"]
    write_wheel(wheels, "toywire", "1.1")
    shutil.rmtree(environment_folder(spec))
    assert run(ensure_environment(spec), "import toywire; print(toywire.VERSION)") == "1.0"
    shutil.rmtree(environment_folder(spec))
    lock_file(spec).unlink()
    assert run(ensure_environment(spec), "import toywire; print(toywire.VERSION)") == "1.1"


def test_a_step_can_leave_dependencies_out(wheels) -> None:
    write_wheel(wheels, "toy", "2.0", requires="nothing-like-it")
    python = ensure_environment(replace(SPEC, steps=(InstallStep(("toy",), no_deps=True),)))
    assert run(python, "import toy; print(toy.VERSION)") == "2.0"


def test_a_build_that_was_killed_goes_on(wheels) -> None:
    program = (
        "import os, signal, sys\n"
        "from openral_sidecar.environment import build as environment\n"
        "from openral_sidecar.environment.spec import InstallStep, SidecarSpec\n"
        "environment.OURS = InstallStep(('toywire',))\n"
        f"spec = SidecarSpec('bare', {PYTHON!r}, (), 'sidecar_echo')\n"
        "say = lambda line: os.kill(os.getpid(), signal.SIGKILL) if 'step 1' in line else None\n"
        "environment.ensure_environment(spec, progress=say)\n"
    )
    killed = subprocess.run([sys.executable, "-c", program], timeout=PATIENCE_S, check=False)
    assert killed.returncode == -signal.SIGKILL
    assert environment_folder(SPEC).is_dir()
    assert not is_built(SPEC)
    lines: list[str] = []
    ensure_environment(SPEC, progress=lines.append)
    assert is_built(SPEC)


def test_one_builds_while_the_other_waits(wheels) -> None:
    lines: list[str] = []
    builders = [
        threading.Thread(target=ensure_environment, args=(SPEC,), kwargs={"progress": lines.append})
        for _ in range(2)
    ]
    for builder in builders:
        builder.start()
    for builder in builders:
        builder.join()
    assert sum("building" in line for line in lines) == 1


def test_an_environment_whose_interpreter_is_gone_is_built_anew(wheels) -> None:
    python = ensure_environment(SPEC)
    python.unlink()
    assert not is_built(SPEC)
    assert run(ensure_environment(SPEC), "import toywire; print(toywire.VERSION)") == "1.0"


def test_the_digest_says_what_is_installed_and_nothing_else() -> None:
    same = replace(
        SPEC, module="other", description="x", environment={"A": "b"}, dialect="rldx", name="other"
    )
    assert same.digest == SPEC.digest
    others = [
        replace(SPEC, python="3.99"),
        replace(SPEC, steps=(InstallStep(("a",)),)),
        replace(SPEC, steps=(InstallStep(("a",), no_deps=True),)),
        replace(SPEC, source=Source("package", "a")),
        SPEC.with_source(Path("/a")),
    ]
    assert len({spec.digest for spec in [SPEC, *others]}) == 6


def test_a_folder_is_used_as_it_is(wheels, tmp_path) -> None:
    (tmp_path / "upstream" / "src").mkdir(parents=True)
    code = tmp_path / "upstream" / "src" / "upstream_code.py"
    code.write_text("ANSWER = 1\n")
    python = ensure_environment(SPEC, source=tmp_path / "upstream")
    assert run(python, "import upstream_code; print(upstream_code.ANSWER)") == "1"
    code.write_text("ANSWER = 23\n")
    assert run(python, "import upstream_code; print(upstream_code.ANSWER)") == "23"
    assert sorted(path.name for path in (tmp_path / "upstream").iterdir()) == ["src"]
    with pytest.raises(SidecarError, match=r"there is no folder .*; fix --source"):
        ensure_environment(SPEC, source=tmp_path / "nowhere")


BACKEND = """
import zipfile
def build_wheel(folder, config_settings=None, metadata_directory=None):
    info = "upstream-1.0.dist-info"
    files = {
        "upstream.py": open("upstream.py").read(),
        info + "/METADATA": "Metadata-Version: 2.1\\nName: upstream\\nVersion: 1.0\\n",
        info + "/WHEEL": "Wheel-Version: 1.0\\nGenerator: test\\nRoot-Is-Purelib: true\\nTag: py3-none-any\\n",
    }
    files[info + "/RECORD"] = "".join(f"{name},,\\n" for name in [*files, info + "/RECORD"])
    with zipfile.ZipFile(f"{folder}/upstream-1.0-py3-none-any.whl", "w") as wheel:
        for name, text in files.items():
            wheel.writestr(name, text)
    return "upstream-1.0-py3-none-any.whl"
"""


def test_a_commit_of_a_git_repository_is_installed(wheels, tmp_path) -> None:
    repository = tmp_path / "upstream"
    repository.mkdir()
    (repository / "backend.py").write_text(BACKEND)
    (repository / "pyproject.toml").write_text(
        '[build-system]\nrequires = []\nbuild-backend = "backend"\nbackend-path = ["."]\n'
        '[project]\nname = "upstream"\nversion = "1.0"\n'
    )
    commits = []
    git = ["git", "-C", str(repository), "-c", "user.name=a", "-c", "user.email=a@b.c"]
    subprocess.run([*git, "init", "-q"], check=True)
    for answer in (1, 2):
        (repository / "upstream.py").write_text(f"ANSWER = {answer}\n")
        subprocess.run([*git, "add", "."], check=True)
        subprocess.run([*git, "commit", "-q", "-m", "a"], check=True)
        head = subprocess.run([*git, "rev-parse", "HEAD"], check=True, capture_output=True, text=True)
        commits.append(head.stdout.strip())
    spec = replace(SPEC, source=Source("git", repository.as_uri(), commits[0]))
    assert run(ensure_environment(spec), "import upstream; print(upstream.ANSWER)") == "1"
    with pytest.raises(SidecarError, match="revision 'main' of its source; give a full commit"):
        ensure_environment(replace(SPEC, source=Source("git", repository.as_uri(), "main")))


def test_what_cannot_be_resolved_is_one_line_with_the_fix(wheels) -> None:
    with pytest.raises(SidecarError) as caught:
        ensure_environment(replace(SPEC, steps=(InstallStep(("no-such-thing==9",)),)))
    text = str(caught.value)
    assert "\n" not in text
    assert text.startswith("sidecar bare: No solution found")
    assert "no-such-thing" in text
    assert text.endswith("fix the requirements of the spec")


def test_a_python_that_is_not_there_is_named(wheels, monkeypatch) -> None:
    monkeypatch.setenv("UV_OFFLINE", "1")
    monkeypatch.setenv("UV_PYTHON_DOWNLOADS", "never")
    with pytest.raises(SidecarError, match=r"No interpreter found for Python 3\.7\.0.*install that Python"):
        ensure_environment(replace(SPEC, python="3.7.0"))


def test_a_network_that_is_down_is_named(monkeypatch) -> None:
    monkeypatch.setenv("UV_DEFAULT_INDEX", "http://127.0.0.1:9/simple")
    monkeypatch.setenv("UV_HTTP_RETRIES", "0")
    with pytest.raises(SidecarError, match="check the network, or set UV_FIND_LINKS"):
        ensure_environment(replace(SPEC, steps=(InstallStep(("no-such-thing==9",)),)))


@pytest.mark.parametrize(
    ("said", "fix"),
    [
        ("error: Failed to write\n cause: No space left on device (os error 28)", "free disk space"),
        ("error: failed to create directory: Permission denied (os error 13)", "set OPENRAL_CACHE_HOME"),
        (
            "error: Failed to download `https://…/python-build-standalone/…`\n cause: dns error",
            "install that Python",
        ),
        ("error: Git operation failed\n cause: failed to find branch", "git is installed"),
        ("warning: x\nsomething else", "fix that, then try again"),
        ("", "uv failed"),
    ],
)
def test_every_failure_has_a_fix(said: str, fix: str) -> None:
    text = explain([line.strip() for line in said.splitlines()])
    assert fix in text
    assert "\n" not in text


def test_a_folder_that_cannot_be_made_is_named(monkeypatch, tmp_path) -> None:
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("OPENRAL_CACHE_HOME", str(tmp_path / "file"))
    with pytest.raises(SidecarError, match="Not a directory"):
        ensure_environment(SPEC)


def test_wheels_that_pip_knows_are_told_to_uv(monkeypatch, tmp_path) -> None:
    (tmp_path / ".config" / "pip").mkdir(parents=True)
    (tmp_path / ".config" / "pip" / "pip.conf").write_text("[global]\nfind-links = /a\n  /b\n")
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.delenv("XDG_CONFIG_HOME", raising=False)
    monkeypatch.delenv("PIP_CONFIG_FILE", raising=False)
    monkeypatch.setenv("UV_FIND_LINKS", "/mine")
    assert uv_variables()["UV_FIND_LINKS"] == "/mine"
    monkeypatch.delenv("UV_FIND_LINKS")
    monkeypatch.setenv("PIP_FIND_LINKS", "/c /d")
    assert uv_variables()["UV_FIND_LINKS"] == "/c,/d"
    monkeypatch.delenv("PIP_FIND_LINKS")
    assert uv_variables()["UV_FIND_LINKS"] == "/a,/b"
    assert "UV_TORCH_BACKEND" not in uv_variables()


def test_pyenv_shims_give_way_to_its_interpreters(monkeypatch, tmp_path) -> None:
    for folder in ("shims", "versions/2.7.18/bin", "versions/3.10.1/bin", "versions/3.12.2/bin"):
        (tmp_path / folder).mkdir(parents=True)
    monkeypatch.setenv("PATH", f"{tmp_path / 'shims'}:/usr/bin")
    assert uv_variables()["PATH"].split(":") == [
        f"{tmp_path}/versions/3.12.2/bin",
        f"{tmp_path}/versions/3.10.1/bin",
        "/usr/bin",
    ]


def test_the_bundle_holds_our_packages_and_the_servers_own() -> None:
    folder = bundle_for("sidecar_echo")
    assert folder == bundle_for("sidecar_echo")
    ours = {"core", "perception", "policy_nodes", "reward_monitor", "rskill", "sidecar", "sim_bridge"}
    assert {path.name for path in folder.iterdir()} == {f"openral_{name}" for name in ours} | {
        "sidecar_echo.py"
    }
    assert bundle_for("not_installed_here.server") != folder


def test_what_a_server_imports_needs_numpy_msgpack_and_zmq_only() -> None:
    """A sidecar has nothing else of ours; the first of these modules that imports more breaks every sidecar."""
    code = (
        "import sys, numpy, msgpack, zmq; before = set(sys.modules)\n"
        "import openral_sidecar.server, openral_sidecar.bootstrap, openral_sidecar.wires.rldx\n"
        "import openral_policy_nodes, openral_reward_monitor, openral_sim_bridge\n"
        "allowed = ('numpy', 'msgpack', 'zmq', 'openral_', *sys.stdlib_module_names)\n"
        "print([name for name in set(sys.modules) - before if not name.startswith(allowed)])\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_the_table_lists_sidecars_and_explains_what_is_missing(monkeypatch) -> None:
    assert {"lerobot", "rldx"} <= set(table.sidecar_names())
    with pytest.raises(SidecarError, match="no 'nothing'; known are lerobot"):
        table.sidecar_spec("nothing")
    monkeypatch.setitem(table.BUILT_IN, "odd", "openral_sidecar.table:GROUP")
    with pytest.raises(SidecarError, match="'odd': str is not a SidecarSpec"):
        table.sidecar_spec("odd")

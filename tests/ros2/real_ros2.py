"""A real ROS 2 from the package index, in an environment of its own, with openral built there by colcon.

The wheels hold rclpy, Fast DDS, the interface packages and their generators. What they lack is taken from elsewhere:
the interfaces of tf2_msgs are built from the files of `ros2_embedded`, whose launch, tf2_ros and `ros2` run on the
real rclpy. openral's other dependencies are those of the environment that runs the tests.
"""

from __future__ import annotations

import fcntl
import hashlib
import os
import re
import shutil
import subprocess
import sys
import sysconfig
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

FOLDER = Path(__file__).parent
ROOT = FOLDER.parents[1]
REQUIREMENTS = FOLDER / "requirements.txt"
INTERFACES = ROOT / "ros2_embedded/src/ros2_embedded/interfaces"
BUILT_HERE = {"tf2_msgs": ("action_msgs", "builtin_interfaces", "geometry_msgs")}
"""Interface packages that the index lacks, and what each depends on."""
INSTALL_S, BUILD_S = 600, 600
"""[s] How long the installation and the build may take."""
COMPLETE = "complete"
"""An empty file in an environment that was installed to its end."""

_PACKAGE_XML = """<package format="3">
  <name>{name}</name><version>0.0.0</version><description>Interfaces of {name}</description>
  <maintainer email="maintainers@openral.dev">openral</maintainer><license>BSD</license>
  <buildtool_depend>ament_cmake</buildtool_depend>
  <buildtool_depend>rosidl_default_generators</buildtool_depend>
  {depends}
  <member_of_group>rosidl_interface_packages</member_of_group>
  <export><build_type>ament_cmake</build_type></export>
</package>
"""
_CMAKE = """cmake_minimum_required(VERSION 3.16)
project({name} LANGUAGES C CXX)
find_package(ament_cmake REQUIRED)
find_package(rosidl_default_generators REQUIRED)
{find}
file(GLOB files RELATIVE ${{CMAKE_CURRENT_SOURCE_DIR}} msg/*.msg srv/*.srv action/*.action)
rosidl_generate_interfaces({name} ${{files}} DEPENDENCIES {depends})
ament_package()
"""
_ROS2 = """#!{python}
import sys

from ros2cli.cli import main

sys.exit(main())
"""


class Unavailable(Exception):
    """The real ROS 2 cannot be had on this machine; the text says why."""


@dataclass(frozen=True)
class RealRos2:
    """The environment, complete.

    Attributes:
        folder: of the virtual environment, which is also the prefix of the ROS packages.
    """

    folder: Path

    @property
    def python(self) -> Path:
        """The interpreter."""
        return self.folder / "bin" / "python"

    @property
    def environment(self) -> dict[str, str]:
        """Variables of a process in which ROS 2 and the installed openral are sourced."""
        prefixes = [self.folder / "workspace/install" / name for name in ("openral", *BUILT_HERE)]
        libraries = [path / "lib" for path in (self.folder, *prefixes)]
        libraries += sorted(self._packages.glob("ros_*.libs"))
        modules = [path / self._packages.relative_to(self.folder) for path in prefixes]
        return {
            **self.bare_environment,
            "AMENT_PREFIX_PATH": _joined([*prefixes, self.folder]),
            "LD_LIBRARY_PATH": _joined(libraries),
            "PYTHONPATH": _joined(modules),
            "ROS_DISTRO": "jazzy",
            "ROS_VERSION": "2",
            "ROS_PYTHON_VERSION": "3",
            "ROS_AUTOMATIC_DISCOVERY_RANGE": "LOCALHOST",
        }

    @property
    def bare_environment(self) -> dict[str, str]:
        """Variables of a process that builds with the wheels, before anything of the workspace exists."""
        kept = {name: value for name, value in os.environ.items() if not name.startswith("PYTEST_")}
        return {
            **kept,
            "PATH": _joined([self.folder / "bin", *os.environ["PATH"].split(os.pathsep)]),
            "AMENT_PREFIX_PATH": str(self.folder),
            "CMAKE_PREFIX_PATH": str(self.folder),
            "LD_LIBRARY_PATH": str(self.folder / "lib"),
            # The wheels start each interpreter a second time to set its library path, unless this is set.
            "_ROS_WHEELS_BOOTSTRAP_COMPLETE": "1",
        }

    @property
    def _packages(self) -> Path:
        return self.folder / "lib" / f"python{sysconfig.get_python_version()}" / "site-packages"

    # -- making it -----------------------------------------------------------------------------------

    def install(self) -> None:
        """Install the wheels, unless that was done."""
        if (self.folder / COMPLETE).is_file():
            return
        shutil.rmtree(self.folder, ignore_errors=True)
        uv = str(Path(sys.executable).with_name("uv"))
        _run([uv, "venv", "--quiet", "--no-config", "--python", sys.executable, str(self.folder)], INSTALL_S)
        # Copied, not linked: files of uv's cache must not change when ours are edited.
        install = [uv, "pip", "install", "--quiet", "--no-config", "--link-mode", "copy"]
        install += ["--python", str(self.python), "--require-hashes", "-r", str(REQUIREMENTS)]
        _run(install, INSTALL_S)
        self._name_this_python()
        self._borrow()
        (self.folder / COMPLETE).touch()

    def _name_this_python(self) -> None:
        """The wheels' CMake files name the interpreter of the machine that made them; put this one in its place."""
        replacements = (
            (r"/opt/python/[^/;\"]+/lib/python[\d.]+/site-packages", str(self._packages)),
            (r"/opt/python/[^/;\"]+/include/python[\d.]+", sysconfig.get_paths()["include"]),
        )
        for path in (self.folder / "share").rglob("*.cmake"):
            text = path.read_text()
            if "/opt/python/" in text:
                for pattern, here in replacements:
                    text = re.sub(pattern, here, text)
                path.write_text(text)

    def _borrow(self) -> None:
        """Other dependencies, and the packages of ROS 2 that are no wheels, come after what is installed here."""
        paths = [sysconfig.get_path("purelib"), str(ROOT / "ros2_embedded/src")]
        (self._packages / "borrowed.pth").write_text("\n".join(paths) + "\n")
        command = self.folder / "bin" / "ros2"
        command.write_text(_ROS2.format(python=self.python))
        command.chmod(0o755)
        # Tests look for the command beside the interpreter.
        (self.folder / "bin" / "openral").symlink_to(self.folder / "workspace/install/openral/bin/openral")

    def build(self) -> None:
        """Build and install openral, and the interface packages that the index lacks, by colcon.

        The second time only what has changed is compiled. A build that fails is a fault of the package, and no reason
        to skip.
        """
        sources = self.folder / "workspace" / "src"
        sources.mkdir(parents=True, exist_ok=True)
        link = sources / "openral"
        if not link.is_symlink():
            link.symlink_to(ROOT)
        for name, depends in BUILT_HERE.items():
            _write_interface_package(sources / name, name, depends)
        shutil.rmtree(self.folder / "workspace/install", ignore_errors=True)
        python = [f"-DPython3_EXECUTABLE={self.python}", f"-DPython3_ROOT_DIR={self.folder}"]
        command = [str(self.python), "-m", "colcon", "build", "--base-paths", "src"]
        command += ["--cmake-args", "-DBUILD_TESTING=OFF", *python]
        try:
            _run(command, BUILD_S, self.bare_environment, self.folder / "workspace")
        except Unavailable as failed:
            raise AssertionError(f"openral does not build on a real ROS 2: {failed}") from failed


def make() -> RealRos2:
    """Return the environment, made once for each state of requirements.txt and each interpreter, with openral as it is.

    Raises:
        Unavailable: it cannot be installed or built here.
    """
    for tool in ("cmake", "g++", "make"):
        if shutil.which(tool) is None:
            raise Unavailable(f"{tool} is not installed: apt-get install cmake g++ make")
    state = hashlib.sha256(REQUIREMENTS.read_bytes() + sys.version.encode())
    folder = Path(sys.prefix) / f".ros2-{state.hexdigest()[:12]}"
    real = RealRos2(folder)
    with folder.with_suffix(".lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        real.install()
        real.build()
    return real


def _write_interface_package(folder: Path, name: str, depends: Sequence[str]) -> None:
    shutil.copytree(INTERFACES / name, folder, dirs_exist_ok=True)
    lines = "\n  ".join(f"<depend>{each}</depend>" for each in depends)
    (folder / "package.xml").write_text(_PACKAGE_XML.format(name=name, depends=lines))
    find = "\n".join(f"find_package({each} REQUIRED)" for each in depends)
    text = _CMAKE.format(name=name, find=find, depends=" ".join(depends))
    if not (folder / "CMakeLists.txt").is_file():  # a newer file would have CMake configure again
        (folder / "CMakeLists.txt").write_text(text)


def _run(
    command: Sequence[str], timeout_s: float, environment: dict[str, str] | None = None, cwd: Path = FOLDER
) -> None:
    try:
        done = subprocess.run(
            command, env=environment, cwd=cwd, capture_output=True, text=True, timeout=timeout_s, check=False
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        raise Unavailable(str(error)) from error
    if done.returncode != 0:
        last = (done.stderr or done.stdout).strip().splitlines()[-15:]
        raise Unavailable(f"{' '.join(command[:5])} …: " + "\n".join(last))


def _joined(paths: Sequence[Path | str]) -> str:
    return os.pathsep.join(str(path) for path in paths)

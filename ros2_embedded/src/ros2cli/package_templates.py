"""The files of a new package, as `ros2 pkg create` writes them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from xml.sax.saxutils import escape, quoteattr

PYTHON, CMAKE = "ament_python", "ament_cmake"
_TESTS = {
    PYTHON: ("ament_copyright", "ament_flake8", "ament_pep257", "python3-pytest"),
    CMAKE: ("ament_lint_auto", "ament_lint_common"),
}


@dataclass(frozen=True)
class NewPackage:
    """What a package is to be."""

    name: str
    build_type: str
    package_format: int
    description: str
    license: str
    maintainer: str
    email: str
    dependencies: Sequence[str]
    node: str = ""
    """Name of its executable; empty: none."""
    library: str = ""
    """Name of its Python module with a class to begin with; empty: none."""


def files_of(package: NewPackage) -> dict[str, str]:
    """Return the text of each file, by its path below the package's folder."""
    made = {"package.xml": _manifest(package)}
    return made | (_python_files(package) if package.build_type == PYTHON else _cmake_files(package))


def _manifest(package: NewPackage) -> str:
    tools = ("ament_cmake",) if package.build_type == CMAKE else ()
    lines = [
        *(f"<buildtool_depend>{name}</buildtool_depend>" for name in tools),
        *(f"<depend>{escape(name)}</depend>" for name in package.dependencies),
        *(f"<test_depend>{name}</test_depend>" for name in _TESTS[package.build_type]),
    ]
    depends = "".join(f"  {line}\n" for line in lines)
    schema = f"http://download.ros.org/schema/package_format{package.package_format}.xsd"
    return f"""<?xml version="1.0"?>
<?xml-model href="{schema}" schematypens="http://www.w3.org/2001/XMLSchema"?>
<package format="{package.package_format}">
  <name>{package.name}</name>
  <version>0.0.0</version>
  <description>{escape(package.description)}</description>
  <maintainer email={quoteattr(package.email)}>{escape(package.maintainer)}</maintainer>
  <license>{escape(package.license)}</license>

{depends}
  <export>
    <build_type>{package.build_type}</build_type>
  </export>
</package>
"""


def _python_files(package: NewPackage) -> dict[str, str]:
    name = package.name
    script = f"            {f'{package.node} = {name}.{package.node}:main'!r},\n" if package.node else ""
    made = {
        f"resource/{name}": "",
        f"{name}/__init__.py": "",
        "setup.cfg": f"[develop]\nscript_dir=$base/lib/{name}\n[install]\ninstall_scripts=$base/lib/{name}\n",
        "setup.py": f"""from setuptools import find_packages, setup

package_name = {name!r}

setup(
    name=package_name,
    version='0.0.0',
    packages=find_packages(exclude=['test']),
    data_files=[
        ('share/ament_index/resource_index/packages',
            ['resource/' + package_name]),
        ('share/' + package_name, ['package.xml']),
    ],
    install_requires=['setuptools'],
    zip_safe=True,
    maintainer={package.maintainer!r},
    maintainer_email={package.email!r},
    description={package.description!r},
    license={package.license!r},
    extras_require={{
        'test': [
            'pytest',
        ],
    }},
    entry_points={{
        'console_scripts': [
{script}        ],
    }},
)
""",
    }
    if package.node:
        made[f"{name}/{package.node}.py"] = (
            f"def main():\n    print('Hi from {name}.')\n\n\nif __name__ == '__main__':\n    main()\n"
        )
    if package.library:
        title = "".join(word.capitalize() for word in package.library.split("_"))
        made[f"{name}/{package.library}/__init__.py"] = f"class {title}:\n    pass\n"
    return made


def _cmake_files(package: NewPackage) -> dict[str, str]:
    name = package.name
    finds = "".join(f"find_package({dependency} REQUIRED)\n" for dependency in package.dependencies)
    executable, made = "", {}
    if package.node:
        needed = " ".join(package.dependencies)
        wanted = f"ament_target_dependencies({package.node} {needed})\n" if needed else ""
        executable = f"""
add_executable({package.node} src/{package.node}.cpp)
target_compile_features({package.node} PUBLIC c_std_99 cxx_std_17)
{wanted}install(TARGETS {package.node}
  DESTINATION lib/${{PROJECT_NAME}})
"""
        made[f"src/{package.node}.cpp"] = f"""#include <cstdio>

int main(int argc, char ** argv)
{{
  (void) argc;
  (void) argv;

  printf("hello world {name} package\\n");
  return 0;
}}
"""
    made["CMakeLists.txt"] = f"""cmake_minimum_required(VERSION 3.8)
project({name})

if(CMAKE_COMPILER_IS_GNUCXX OR CMAKE_CXX_COMPILER_ID MATCHES "Clang")
  add_compile_options(-Wall -Wextra -Wpedantic)
endif()

find_package(ament_cmake REQUIRED)
{finds}{executable}
if(BUILD_TESTING)
  find_package(ament_lint_auto REQUIRED)
  ament_lint_auto_find_test_dependencies()
endif()

ament_package()
"""
    return made

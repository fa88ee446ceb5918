"""Installs the sources of ROS 2 packages without colcon, CMake and a compiler.

    python -m ros2_embedded.install ~/robot_ws/src

Each package below the folder is installed into a prefix, by default that of this interpreter, which is always
searched. Installed are interfaces (`.msg`, `.srv`, `.action`), Python code, programs for `ros2 run`, launch
files and other data. `ament_python` packages are installed by their `setup.py`. For `ament_cmake` packages
the rules of `CMakeLists.txt` that install Python, interfaces, scripts and data are applied. C++ is not built,
but reported.
"""

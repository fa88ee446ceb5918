"""Makes the sources of a ROS 2 package usable without colcon, CMake and a compiler.

    python -m ros2_embedded.install ~/robot_ws/src

Each package below the folder is put into a prefix, by default that of this interpreter, which is searched
without any
set-up: its interfaces (`.msg`, `.srv`, `.action`), its Python code, its programs for `ros2 run`, its launch
files and
other data. `ament_python` packages are installed by their own `setup.py`; of `ament_cmake` packages the rules
of
`CMakeLists.txt` that install Python, interfaces, scripts and data are followed. C++ is left out, and named.
"""

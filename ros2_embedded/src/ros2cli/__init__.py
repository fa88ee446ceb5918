"""The command `ros2`.

`commands.py` lists commands and verbs; each verb is one module `ros2cli.verbs.<command>.<verb>`, imported
only when it is run, with

- `add_arguments(parser)`: adds its arguments,
- `main(args) -> int`: does its work and returns the exit code; it raises `CliError` for what the user can
fix.
"""

"""LIBERO: five suites of tasks with stored initial states for a Franka Panda at tables and on floors.

It needs robosuite 1.4.0, which cannot be imported beside a newer version, so its worlds run in a sidecar process.
"""

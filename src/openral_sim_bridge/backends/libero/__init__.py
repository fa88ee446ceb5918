"""LIBERO: a Franka Panda over tables and floors, five suites of tasks with stored initial states.

It needs robosuite 1.4.0, which no process can hold beside a newer one, so its worlds live in a sidecar.
"""

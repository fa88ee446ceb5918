"""robosuite 1.5: a Franka Panda or a Sawyer that lifts, stacks, sorts, opens and assembles.

It runs in a process of its own, since it requires an older numpy than openral and half a gigabyte of packages.
"""

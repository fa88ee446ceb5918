"""robosuite 1.5: a Franka Panda that lifts, stacks, sorts, opens and assembles.

In a process of its own, since it pins an older numpy than openral runs on and half a gigabyte belongs to it.
"""

"""The skills that are on this machine: their folders, their locks, and where they came from."""

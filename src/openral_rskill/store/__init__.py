"""The skills on this machine: their folders, lock files and repositories."""

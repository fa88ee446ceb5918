"""What a real arm may be asked for: one check a file, each of which slows, stops or passes what it is given."""

"""The console's nodes: one that listens and commands, one that only stops."""

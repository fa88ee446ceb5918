"""The console's state of a deployment: the node's thread writes it, and the pages read it."""

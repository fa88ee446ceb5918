"""Where the nodes of the console are in the graph; the topics that they name are relative to it."""

NAMESPACE = "/openral"

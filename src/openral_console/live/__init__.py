"""What the console knows of a deployment: filled by the node's thread, read by the pages."""

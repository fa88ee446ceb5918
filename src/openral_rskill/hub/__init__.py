"""Skills and weights from a hub: references, download, cache, lock."""

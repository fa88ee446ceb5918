"""Files: documents with line numbers, output folders, the cache, and openral's own data."""

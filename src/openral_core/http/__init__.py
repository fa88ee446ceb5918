"""Parts of the servers of HTTP."""

"""A Model Context Protocol server with the reasoner's tools: nothing is decided here, the reasoner's gates decide."""

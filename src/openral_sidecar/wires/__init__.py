"""Requests and replies as bytes, in the two dialects that servers speak."""

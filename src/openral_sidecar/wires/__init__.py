"""Encoding of requests and replies, in the two dialects of servers."""

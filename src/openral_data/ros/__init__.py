"""The node `recorder`, and what speaks to it or to a bridge for `openral data`."""

"""The node `recorder`, and the clients of the recorder and of a bridge for `openral data`."""

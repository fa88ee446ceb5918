"""MuJoCo arms that answer on the interface of a real one, so that the real client can be tried without an arm."""

"""MuJoCo simulations of arms with the network interfaces of real ones, to use real client libraries without an arm."""

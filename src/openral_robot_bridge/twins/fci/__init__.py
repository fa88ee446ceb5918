"""The controller of a Franka arm as its client sees it: commands over TCP, state and commands over UDP each ms."""

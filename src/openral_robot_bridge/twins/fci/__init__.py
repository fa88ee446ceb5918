"""Twin of a Franka arm's controller: requests over TCP, and states and commands over UDP in each millisecond."""

"""All deployments of a domain together: who is there, what each does, and a stop for one or for all."""

"""One lifecycle node a skill, and the policy families that it can host."""

"""Reinforcement learning, to be read top to bottom.

    settings, config                                  what a run is told
    envs                                              worlds, attempts in them, and the rollout of a policy
    policies                                          what acts: on the state, on what a skill sees, or in words
    algorithm                                         PPO and GRPO, the reduction levels, and what is collected
    workers                                           rollout, worlds and learners in processes of their own
    run, policy_evaluation, metrics_log, videos, page, package   from a cloned base to a better policy

Letters of shapes, everywhere: T decisions of an episode, B episodes, C control steps that one decision is executed
for (the chunk), A numbers of an action, D numbers of an observation, K bins, V values.
"""

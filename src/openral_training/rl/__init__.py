"""Reinforcement learning: PPO and GRPO. The modules in reading order:

    settings, config                                             the config of a run
    envs                                                         vectorised environments, episodes, and rollouts
    policies                                                     policies on a state, on a skill's features, by tokens
    algorithm                                                    PPO and GRPO: batch, advantages, losses, update
    workers                                                      environments, rollouts and learners in processes
    collection, run                                              the experience of an update, and the loop
    policy_evaluation, metrics_log, videos, page, package        what a run writes

Shapes in all of them: T decisions of an episode, B episodes, C control steps of one decision (the chunk), A dimensions
of an action, D dimensions of an observation, K bins, V values of the critic.
"""

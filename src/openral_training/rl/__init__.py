"""Reinforcement learning, to be read top to bottom.

    settings, config                                             the config of a run
    envs                                                         vectorised environments, episodes, and rollouts
    policies                                                     what acts: on a state, on a skill's features, by tokens
    algorithm                                                    PPO and GRPO: batch, advantages, losses, update
    workers                                                      environments, rollouts and learners in processes
    collection, run                                              the experience of an update, and the loop
    policy_evaluation, metrics_log, videos, page, package        what a run writes

Letters of shapes, everywhere: T decisions of an episode, B episodes, C control steps that one decision is executed
for (the chunk), A numbers of an action, D numbers of an observation, K bins, V values.
"""

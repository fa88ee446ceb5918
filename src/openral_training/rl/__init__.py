"""Reinforcement learning, to be read top to bottom.

    masks, advantages, granularity, losses, metrics   what is computed: arrays in, arrays out
    policy, state_mlp, noise                          what acts
    config                                            what a run is told
    attempts, arena, placement, rollout               how experience is made
    demonstrate, update, evaluate, run                from a cloned base to a better policy

Letters of shapes, everywhere: T decisions of an episode, B episodes, C control steps that one decision is executed
for (the chunk), A numbers of an action, D numbers of an observation, K entries of a list of action bins, V values.
"""

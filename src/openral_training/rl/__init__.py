"""Reinforcement learning, to be read top to bottom.

    masks, advantages, granularity, losses, metrics   what is computed: arrays in, arrays out
    policy, heads, state_mlp, noise                   what acts
    settings, config                                  what a run is told
    attempts, senses, arena, simulators, pool         worlds, in this process or in others
    rollout, collection, experience                   how experience is made
    demonstrate, learner, judge, logbook, run         from a cloned base to a better policy

Letters of shapes, everywhere: T decisions of an episode, B episodes, C control steps that one decision is executed
for (the chunk), A numbers of an action, D numbers of an observation, K bins, V values.
"""

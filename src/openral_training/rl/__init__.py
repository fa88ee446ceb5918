"""Reinforcement learning, to be read top to bottom.

    masks, advantages, granularity, losses, metrics   what is computed: arrays in, arrays out
    policy, heads, noise                              what acts:
    state_mlp; mini_actor, mini_skill; token_model, token_actor    on the state; on what a skill sees; in words
    settings, config                                  what a run is told
    lines, packing, process_lines, ray_lines, lasting processes, here or on a cluster, and how a lost one is replaced
    attempts, senses, arena, simulators, pool         worlds, in this process or in others
    rollout, players, collection, experience          how experience is made
    learner, team, learners, placement                how it is learnt from, by one process or by several
    demonstrate, judge, logbook, films, page, run, package from a cloned base to a better policy

Letters of shapes, everywhere: T decisions of an episode, B episodes, C control steps that one decision is executed
for (the chunk), A numbers of an action, D numbers of an observation, K bins, V values.
"""

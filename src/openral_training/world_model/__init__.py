"""A learnt world: frames, states and rewards of a simulator, imagined from images and actions. To be read in order.

rollouts, experience, statistics                       what is learnt from: attempts of a policy, and pieces of them
network, learning, learn_autoencoder, learn_members, learn  what learns it, and how
starts, files, model, open                             a world model on disk, and the interface in front of it
env, simulator                                         imagined worlds where others expect simulators
nearest, measures, evaluate                            how far they can be believed, beside what learns nothing
object_arrays, convert, opensora                       the layout of RLinf's world models
"""

"""A world model: predicts frames, states and rewards of a simulator from images and actions. Modules in reading order:

experience, statistics                    the data: rollouts of a policy, windows of them, and the scale of actions
network, learning, learn_autoencoder,
learn_members, learn_drawing, learn       the networks, and the stages of their training
starts, checkpoint, model, open           a world model on disk, and the interface `WorldModel`
env                                       imagined environments that are reset and stepped
nearest_baseline, video_similarity,
evaluate                                  comparison with the simulator, and with a baseline that learns nothing
pickled_arrays, unpickle_files, opensora  the layout of RLinf's world models
"""

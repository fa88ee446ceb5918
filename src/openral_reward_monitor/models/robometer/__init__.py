"""The `robometer` reward family: Robometer (RBM, arXiv 2603.02115), a Qwen3-VL that scores every frame, in a sidecar.

- sampling.py, decode.py: choice of the frames, and meaning of the logits; both need numpy only
- config.py: the part of `config.yaml` that defines the network
- model.py, spec.py: in openral's process, the reward model that calls the sidecar, and the sidecar's environment
- rbm.py, inputs.py, checkpoint.py, server.py: in the sidecar, the network, its inputs, its weights and the server
- pack.py: a program in the sidecar's interpreter, which packs a checkpoint to NF4
"""

"""The `robometer` reward family: Robometer (RBM, arXiv 2603.02115), a Qwen3-VL that scores every frame, in a sidecar.

- sampling.py, decode.py: which frames are shown, what the logits mean; numpy only
- config.py: the part of `config.yaml` that the graph is built from
- model.py, spec.py: in openral's process, the reward model that asks the sidecar
- rbm.py, inputs.py, checkpoint.py, server.py: in the sidecar, the graph, the tokens, the weights, the service
- pack.py: in the sidecar's interpreter, by hand: packs a checkpoint to NF4
"""

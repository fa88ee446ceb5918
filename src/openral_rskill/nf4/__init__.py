"""NF4 weights for any torch model: packing a checkpoint without building the model, and loading or packing on load.

NF4 is the 4-bit normal-float format of QLoRA (Dettmers et al. 2023, arXiv 2305.14314) as bitsandbytes stores it:
blocks of 64 weights share one scale, and the scales are themselves stored in 8 bits ("double quantisation"). The
modules of this package need torch, safetensors and, inside their functions, bitsandbytes: they run in a sidecar.

- packable_weights.py, rule.py: which matrices are packed, and which linear layers of a module
- quantize.py: one weight matrix and its packed form
- module_surgery.py: replacement and casting of parts of a module tree
- host_embedding.py: an embedding that takes no memory of the accelerator
- metadata.py: `quantization_metadata.json` beside packed weights
- pack.py: `pack_checkpoint` makes one packed file of bf16 files, with one tensor in memory at a time
- load.py: `load_checkpoint` fills a model built on the meta device from packed or plain files, and may pack the latter
"""

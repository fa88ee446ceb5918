"""NF4 weights for any torch model: pack a checkpoint without building the model, load it packed or pack it meanwhile.

NF4 is the 4-bit normal-float format of QLoRA (Dettmers et al. 2023, arXiv 2305.14314) as bitsandbytes stores it:
blocks of 64 weights share one scale, and the scales are themselves stored in 8 bits ("double quantisation"). The
modules of this package need torch, safetensors and, inside their functions, bitsandbytes: they run in a sidecar.

- sizes.py, rule.py: which matrices are worth packing, and which linear layers of a module
- weights.py: one weight matrix and its packed form
- modules.py: a part of a module tree is replaced by another
- host_embedding.py: an embedding that takes no memory of the accelerator
- files.py: which files a checkpoint's weights are in
- writer.py: safetensors written tensor by tensor
- pack.py: `pack_checkpoint` makes one packed file of bf16 files, one tensor in memory at a time
- load.py: `load_checkpoint` fills a model built on the meta device from packed or plain files, and packs the latter
"""

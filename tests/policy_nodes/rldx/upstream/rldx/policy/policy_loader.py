"""One call of AutoModel makes the model, as in upstream's `_load_model`."""

import os
from types import SimpleNamespace


class Model(dict):
    config = SimpleNamespace(_attn_implementation="flash_attention_2")
    backbone = SimpleNamespace(qwen_model=SimpleNamespace(config=config))


class AutoModel:
    """transformers' class, as far as it is called."""

    @staticmethod
    def from_pretrained(folder, *, device_map, torch_dtype):
        if not os.path.isdir(folder) and not folder.startswith("RLWRLD/"):
            raise FileNotFoundError(folder)
        return Model(folder=folder, device=device_map)


def load(folder, device):
    if os.path.isfile(os.path.join(folder, "config.json")):
        from transformers import AutoConfig

        AutoConfig.from_pretrained(folder, trust_remote_code=True)
    return AutoModel.from_pretrained(folder, device_map=device, torch_dtype="bfloat16")

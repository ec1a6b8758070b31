"""Tensors that autograd keeps of small models: data/training/{family,tower}_activations.csv.gz.

torch 2.15 on the CPU, transformers 5.23. Storages that are alive when a forward pass with labels has
ended, each once and whole; parameters, buffers and inputs are left out. A storage counts as alive while
the node of the graph that saved it is.

    python activations.py FAMILY:CLASS 'JSON of the config' sdpa|eager float32|bfloat16|autocast_bf16
"""
import contextlib
import gc
import json
import sys
import weakref

import torch
import transformers


class Saved:
    """A saved tensor; dies with the node that holds it."""

    def __init__(self, tensor):
        self.tensor = tensor.detach()


def saved_bytes(model, inputs, autocast):
    """Bytes, and the storages with dtype and shape."""
    left_out = {t.untyped_storage().data_ptr() for t in
                [*model.parameters(), *model.buffers(), *inputs.values()]}
    alive = []

    def pack(tensor):
        saved = Saved(tensor)
        alive.append(weakref.ref(saved))
        return saved

    casts = torch.autocast("cpu", dtype=torch.bfloat16) if autocast else contextlib.nullcontext()
    with torch.autograd.graph.saved_tensors_hooks(pack, lambda saved: saved.tensor), casts:
        loss = model(**inputs).loss
    gc.collect()
    storages = {}
    for reference in alive:
        saved = reference()
        if saved is None or saved.tensor.numel() == 0:
            continue
        storage = saved.tensor.untyped_storage()
        if storage.data_ptr() not in left_out:
            storages[storage.data_ptr()] = (storage.nbytes(), saved.tensor.dtype, saved.tensor.shape)
    del loss
    return sum(size for size, *_ in storages.values()), list(storages.values())


def main():
    family, text, attention, mode = sys.argv[1:5]
    model_type, class_name = family.split(":")
    config = transformers.AutoConfig.for_model(model_type, **json.loads(text))
    torch.manual_seed(0)
    model = getattr(transformers, class_name)._from_config(config, attn_implementation=attention)
    model.config.use_cache = False
    model.to(torch.bfloat16 if mode == "bfloat16" else torch.float32).train()
    tokens = torch.randint(3, config.get_text_config().vocab_size, (2, 20))
    total, storages = saved_bytes(model, {"input_ids": tokens, "labels": tokens.clone()},
                                  mode == "autocast_bf16")
    for size, dtype, shape in storages:
        print(size, dtype, tuple(shape))
    print(total)


if __name__ == "__main__":
    main()

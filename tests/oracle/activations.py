"""Tensors that autograd keeps of small models: data/training/{family,tower}_activations.csv.gz.

torch 2.15 on the CPU, transformers 5.23. Storages that are alive when a forward pass with labels has
ended, each once and whole; parameters, buffers and inputs are left out. A storage counts as alive while
the node of the graph that saved it is. Kernels of linear attention are replaced by functions that keep
what theirs keep (fla-core 0.6, causal-conv1d 1.7); modules that a checkpoint is read into in fp32 stay so.

    python activations.py FAMILY:CLASS 'JSON of the config' sdpa|eager float32|bfloat16|autocast_bf16
"""
import contextlib
import gc
import json
import re
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


class Convolution(torch.autograd.Function):
    """causal_conv1d_interface.py, CausalConv1dFn: the activation is made again."""

    @staticmethod
    def forward(ctx, x, weight, bias):
        ctx.save_for_backward(x, weight, bias)
        return torch.zeros_like(x)


class DeltaRule(torch.autograd.Function):
    """fla/ops/gated_delta_rule/chunk.py and fla/ops/kda/chunk.py with use_qk_l2norm_in_kernel: queries and
    keys without their lengths, these, values, decays summed up, beta, products in chunks of 64."""

    @staticmethod
    def forward(ctx, query, key, value, decay, beta, by_channel):
        query, key, value, decay, beta = (t.contiguous() for t in (query, key, value, decay, beta))
        roots = [torch.zeros(key.shape[:3]) for _ in range(2)]
        chunks = [torch.zeros(*value.shape[:3], 64, dtype=key.dtype) for _ in range(2 if by_channel else 1)]
        ctx.save_for_backward(torch.zeros_like(query), torch.zeros_like(key), *roots, value,
                              torch.zeros_like(decay, dtype=torch.float32), beta,
                              *([decay] if by_channel else []), *chunks)
        return torch.zeros_like(value)


class Recurrence(torch.autograd.Function):
    """transformers 5.23 models/rwkv, RwkvLinearAttention: decays in fp32, keys, values and the result."""

    @staticmethod
    def forward(ctx, time_decay, time_first, key, value):
        output = torch.zeros_like(key)
        ctx.save_for_backward(-torch.exp(time_decay.float()), time_first, key, value, output)
        return output


class SplitScan(torch.autograd.Function):
    """mamba_ssm/ops/triton/ssd_combined.py, MambaSplitConv1dScanCombinedFn: its input, the scan's result,
    decays in fp32 and a deviation for each group of the norm. The convolution, the norm and the last matrix
    are part of it."""

    @staticmethod
    def forward(ctx, projected, A_log, groups, inner, width):
        rows = projected.shape[:2]
        ctx.save_for_backward(projected, projected.new_zeros(*rows, inner), -torch.exp(A_log.float()),
                              torch.zeros(*rows, groups))
        return projected.new_zeros(*rows, width)


def scanned(mixer, hidden_states, *_, **__):
    groups = mixer.n_groups if hasattr(mixer, "n_groups") else 1
    return SplitScan.apply(mixer.in_proj(hidden_states), mixer.A_log, groups, mixer.out_proj.in_features,
                           mixer.out_proj.out_features)


def without_parts(model):
    """Llama's layers with halves left out or replaced by a matrix, as config.block_configs says."""
    for layer, block in zip(model.model.layers, model.config.block_configs):
        layer.block = block
        width = model.config.hidden_size
        for half, name in (("attention", "self_attn"), ("ffn", "mlp")):
            if block[half].get("replace_with_linear"):
                setattr(layer, name, torch.nn.Linear(width, width, bias=False))

        def forward(x, layer=layer, **kwargs):
            if not layer.block["attention"].get("no_op"):
                y = layer.input_layernorm(x)
                x = x + (layer.self_attn(y) if layer.block["attention"].get("replace_with_linear")
                         else layer.self_attn(hidden_states=y, **kwargs)[0])
            if not layer.block["ffn"].get("no_op"):
                x = x + layer.mlp(layer.post_attention_layernorm(x))
            return x

        layer.forward = forward


def use_kernels(module):
    def convolution(hidden_states, weight, bias=None, **_):
        return Convolution.apply(hidden_states, weight, bias)

    def rule(by_channel):
        return lambda query, key, value, g=None, beta=None, **_: (
            DeltaRule.apply(query, key, value, g, beta, by_channel), None)

    def recurrence(time_decay, time_first, key, value, **_):
        return Recurrence.apply(time_decay, time_first, key, value), None

    if hasattr(module, "Zamba2MambaMixer"):
        module.Zamba2MambaMixer.forward = scanned
    for name, function in (("causal_conv1d_fn", convolution), ("rwkv_linear_attention", recurrence),
                           ("torch_chunk_gated_delta_rule", rule(False)),
                           ("chunk_kimi_delta_attention", rule(True))):
        if hasattr(module, name):
            setattr(module, name, function)


def kept_in_fp32(model):
    names = [name for kind in type(model).__mro__
             for name in kind.__dict__.get("_keep_in_fp32_modules_strict") or []]
    return [p for path, p in model.named_parameters()
            if any(re.search(rf"(^|\.){name}($|\.)", path) for name in names)]


def main():
    family, text, attention, mode = sys.argv[1:5]
    model_type, class_name = family.split(":")
    config = transformers.AutoConfig.for_model(model_type, **json.loads(text))
    torch.manual_seed(0)
    model_class = getattr(transformers, class_name)
    use_kernels(sys.modules[model_class.__module__])
    model = model_class._from_config(config, attn_implementation=attention)
    model.config.use_cache = model.config.get_text_config().use_cache = False
    model.to(torch.bfloat16 if mode == "bfloat16" else torch.float32).train()
    for parameter in kept_in_fp32(model):
        parameter.data = parameter.data.float()
    if hasattr(config, "block_configs"):
        without_parts(model)
    tokens = torch.randint(3, config.get_text_config().vocab_size, (2, 20))
    total, storages = saved_bytes(model, {"input_ids": tokens, "labels": tokens.clone()},
                                  mode == "autocast_bf16")
    for size, dtype, shape in storages:
        print(size, dtype, tuple(shape))
    print(total)


if __name__ == "__main__":
    main()

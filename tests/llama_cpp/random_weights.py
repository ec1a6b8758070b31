"""A GGUF file of random weights with all of a model's layers, from a header that has a few of them.

The archived headers keep the published widths and their first layers. A file for measurements repeats these layers.
Types of tensors are those of llama.cpp's recipes q4_K_M, q8_0, f16 and mxfp4_moe (src/llama-quant.cpp). The values
are small and finite: zeros would be computed faster, and routers would choose the same experts for all tokens.
"""
import re

import numpy

from headers import BLOCKS, Judged, bytes_of, head_of

F32, F16, Q5_0, Q8_0, Q4_K, Q5_K, Q6_K, MXFP4 = 0, 1, 6, 8, 12, 13, 14, 39
POOL = 1 << 20  # blocks of random data that all tensors of a type share
# Byte of a block's first scale, and the number of scales: ggml/src/ggml-common.h.
SCALES = {Q5_0: (0, 1), Q8_0: (0, 1), Q4_K: (0, 2), Q5_K: (0, 2), Q6_K: (208, 1)}


def more_bits(layer, layers):
    """use_more_bits of llama-quant.cpp."""
    return layer < layers // 8 or layer >= 7 * layers // 8 or (layer - layers // 8) % 3 == 2


def type_of(name, shape, recipe, layer, layers, tied):
    """The type of a tensor by the recipe; widths that no block fits take the recipe's second choice."""
    if len(shape) < 2 or not name.endswith(".weight") or re.search(r"norm|gate_inp|ssm_conv1d", name):
        return F32
    if recipe == "f16":
        return F16
    if recipe == "mxfp4_moe":
        return MXFP4 if "_exps" in name else Q8_0
    kind = Q8_0
    if recipe == "q4_K_M":
        kind = Q4_K
        if name == "output.weight" or (tied and name == "token_embd.weight"):
            kind = Q6_K
        elif re.search(r"attn_v|ffn_down", name) and layer is not None and more_bits(layer, layers):
            kind = Q6_K
        elif "attn_qkv" in name:
            kind = Q5_K
    if shape[0] % BLOCKS[kind][0]:
        kind = Q8_0 if kind == Q6_K else Q5_0
    return kind


class Deep:
    """A header with `layers` layers, made of the layers of `data` in the order `pattern(layer)`."""

    def __init__(self, data, layers, pattern, recipe, counts=None, widths=None, dropped=()):
        head = Judged(data)
        self.keys, name = head.keys, head.architecture
        for key in dropped:
            head.drop(f"{name}.{key}")
        for key, value in {"block_count": layers, **(counts or {})}.items():
            head.drop(f"{name}.{key}")
            head.add_count(f"{name}.{key}", value)
        self.keys = head.keys
        tied = not any(each == "output.weight" for each, _, _ in head.tensors)
        self.tensors = []
        for tensor, shape, _ in head.tensors:
            if not tensor.startswith("blk."):
                self.add(tensor, shape, recipe, None, layers, tied, widths)
        for layer in range(layers):
            prefix = f"blk.{pattern(layer)}."
            for tensor, shape, _ in head.tensors:
                if tensor.startswith(prefix):
                    self.add(f"blk.{layer}." + tensor[len(prefix):], shape, recipe, layer, layers, tied, widths)

    def add(self, name, shape, recipe, layer, layers, tied, widths):
        shape = [(widths or {}).get(each, each) for each in shape]
        self.tensors.append((name, shape, type_of(name, shape, recipe, layer, layers, tied)))

    def write(self, path):
        head, _ = head_of(self.keys, self.tensors)
        pools, random = {}, numpy.random.default_rng(1)
        with open(path, "wb") as file:
            file.write(head)
            for name, shape, kind in self.tensors:
                count = bytes_of(shape, kind)
                if kind == F32:
                    file.write(plain(random, name, int(numpy.prod(shape))))
                else:
                    if kind not in pools:
                        pools[kind] = pool(random, kind)
                    for piece in pieces(pools[kind], count, random, BLOCKS[kind][1]):
                        file.write(piece)
                file.write(bytes(-count % 32))


def plain(random, name, count):
    """32-bit values: norms near one, decays below zero, the rest small."""
    values = random.standard_normal(count, dtype=numpy.float32) * 0.02
    if "norm" in name:
        values += 1
    elif name.endswith("ssm_a"):
        values = -1 - numpy.abs(values)
    return values.tobytes()


def pool(random, kind):
    """Random blocks whose scales are small."""
    size = BLOCKS[kind][1]
    if kind == F16:
        return (random.standard_normal(POOL, dtype=numpy.float32) * 0.02).astype(numpy.float16).view(numpy.uint8)
    blocks = numpy.frombuffer(random.bytes(POOL // 8 * size), numpy.uint8).reshape(-1, size).copy()
    if kind == MXFP4:
        blocks[:, 0] = 120  # an exponent: 2^-7
    else:
        at, many = SCALES[kind]
        scale = numpy.array([1e-4] * many, numpy.float16) * (1 if many == 2 else 3)
        blocks[:, at:at + 2 * many] = scale.view(numpy.uint8)
        if many == 2:  # the minimum takes the mean away
            blocks[:, at + 2:at + 4] = numpy.array([7.5e-4], numpy.float16).view(numpy.uint8)
    return blocks.reshape(-1)


def pieces(data, count, random, size):
    """`count` bytes of `data`, from a random block on and round."""
    at = int(random.integers(len(data) // size // 2)) * size
    while count:
        step = min(count, len(data) - at)
        yield data[at:at + step].data
        count, at = count - step, 0

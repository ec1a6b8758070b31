#!/usr/bin/env python3
"""Makes references for the readers of tensors: checkpoints as transformers saves them, GGUF headers as
llama.cpp's own converter writes them.

usage: make_checkpoints.py small OUT_FOLDER              tiny whole checkpoints (tests/cli/data/checkpoints)
       make_checkpoints.py names OUT_FILE CONFIG.json …  names and shapes (data/checkpoints/names.jsonl.gz)
       make_checkpoints.py gguf  OUT_FOLDER CONFIG.json …  headers (data/gguf)

Run with transformers 5.23.0, torch 2.15.0, safetensors 0.8.0. `gguf` needs LLAMA_CPP to name a source tree of
llama.cpp; the files here were made with the one inside the source distribution of llama-cpp-python 0.3.36.
Models are built on the meta device: weights are never made. A GGUF file is its header alone. NAME.json has the
bytes of data that would follow, and the config. Layers are cut to four (eight where kinds of layers repeat less
often); widths, heads, experts and vocabularies are the published ones.
"""
import gzip, json, math, os, sys, tempfile
from pathlib import Path

import torch
import transformers
from transformers.core_model_loading import revert_weight_conversion

LAYERS = ("num_hidden_layers", "n_layer", "n_layers", "num_layers", "decoder_layers", "encoder_layers",
          "num_decoder_layers")
CLASSES = {"Qwen2_5OmniModel": "Qwen2_5OmniForConditionalGeneration"}  # names in files that transformers does not have


def cut(config, layers):
    """The config with fewer layers, lists of one entry a layer cut too, unquantised."""
    for key in LAYERS:
        old = config.get(key)
        if not isinstance(old, int):
            continue
        config[key] = min(old, layers)
        for other, value in config.items():
            if isinstance(value, (list, str)) and len(value) == old and other != "model_type":
                config[other] = value[: config[key]]
    config.pop("quantization_config", None)
    for value in config.values():
        if isinstance(value, dict):
            cut(value, layers)
    return config


def checkpoint(config):
    """Names and meta tensors as save_pretrained writes them."""
    name = config["architectures"][0]
    cls = getattr(transformers, CLASSES.get(name, name))
    with tempfile.TemporaryDirectory() as folder:
        Path(folder, "config.json").write_text(json.dumps(config))
        own = cls.config_class.from_pretrained(folder)
    with torch.device("meta"):
        model = cls(own)
    tied = set(getattr(model, "all_tied_weights_keys", None) or {})
    return revert_weight_conversion(model, {k: v for k, v in model.state_dict().items() if k not in tied})


def read(path, layers=4):
    return Path(path).stem, cut(json.loads(Path(path).read_text()), layers)


def finite(value):
    """Infinity and NaN, which JSON has not, as strings."""
    if isinstance(value, dict):
        return {k: finite(v) for k, v in value.items()}
    if isinstance(value, list):
        return [finite(v) for v in value]
    return value if not isinstance(value, float) or math.isfinite(value) else str(json.dumps(value))


def names(out, paths):
    rows = []
    for path in paths:
        name, config = read(path)
        tensors = {k: list(v.shape) for k, v in checkpoint(config).items()}
        config["torch_dtype"] = "bfloat16"
        if len(tensors) <= 900:
            rows.append(json.dumps({"name": name, "config": finite(config), "tensors": tensors}, separators=(",", ":"), allow_nan=False))
    with gzip.GzipFile(out, "wb", 9, mtime=0) as file:
        file.write("\n".join(rows).encode())


def gguf(out, paths):
    root = os.environ["LLAMA_CPP"]
    sys.path[:0] = [root + "/gguf-py", root]
    import gguf as format
    from conversion import LazyTorchTensor, ModelBase, ModelType, get_model_class
    from conversion.base import get_model_architecture

    def lazy(tensor):
        dtype = torch.bfloat16 if tensor.is_floating_point() else tensor.dtype
        meta = torch.empty(tensor.shape, dtype=dtype, device="meta")
        return LazyTorchTensor(meta=meta, args=(), func=lambda: torch.zeros(tensor.shape, dtype=dtype))

    def no_vocabulary(self):
        self.gguf_writer.add_tokenizer_model("gpt2")
        self.gguf_writer.add_token_list(["a", "b"])

    load = ModelBase.load_hparams
    for path in paths:
        name, config = read(path)
        tensors = checkpoint(config)
        folder = tempfile.mkdtemp()
        Path(folder, "config.json").write_text(json.dumps(config))
        size = config.get("vocab_size") or config.get("text_config", {}).get("vocab_size") or 0
        Path(folder, "tokenizer.json").write_text(
            json.dumps({"model": {"vocab": {f"t{i}": i for i in range(size)}}, "added_tokens": []}))

        def hparams(where, is_mistral_format=False):  # keys that transformers 5 moved, where they were
            return {**config, "rotary_pct": config.get("partial_rotary_factor", 1.0),
                    **load(where, is_mistral_format)}

        def index(self, remote_hf_model_id=None):
            found = [self.filter_tensors((k, lambda v=v: lazy(v))) for k, v in tensors.items()]
            return dict(item for item in found if item is not None)

        ModelBase.load_hparams, ModelBase.index_tensors = staticmethod(hparams), index
        cls = get_model_class(get_model_architecture(hparams(Path(folder)), ModelType.TEXT))
        for each in cls.__mro__:
            if "set_vocab" in each.__dict__:
                each.set_vocab = no_vocabulary
        raw = Path(out, name + ".gguf")
        with torch.inference_mode():
            model = cls(Path(folder), format.LlamaFileType.MOSTLY_F16, raw, eager=False)
            model.prepare_tensors()
            model.prepare_metadata(vocab_only=False)
            writer = model.gguf_writer
            writer.write_header_to_file(path=raw)
            writer.write_kv_data_to_file()
            writer.write_ti_data_to_file()
            for file in writer.fout:
                file.close()
        data = sum(writer.ggml_pad(t.nbytes, writer.data_alignment) for s in writer.tensors for t in s.values())
        with gzip.GzipFile(str(raw) + ".gz", "wb", 9, mtime=0) as file:
            file.write(raw.read_bytes())
        raw.unlink()
        Path(out, name + ".json").write_text(json.dumps({"data": data, "config": config}, separators=(",", ":")))


def small(out):
    def save(name, cls, config, dtype, shard="1GB"):
        torch.manual_seed(0)
        model = getattr(transformers, cls)(config).to(dtype)
        model.config.dtype = dtype
        model.save_pretrained(Path(out, name), max_shard_size=shard)
        Path(out, name, "generation_config.json").unlink(missing_ok=True)

    sizes = dict(num_hidden_layers=2, max_position_embeddings=32)
    save("llama-sharded", "LlamaForCausalLM",
         transformers.LlamaConfig(vocab_size=64, hidden_size=16, intermediate_size=24, num_attention_heads=4,
                                  num_key_value_heads=2, **sizes), torch.bfloat16, "3KB")
    save("mixtral", "MixtralForCausalLM",
         transformers.MixtralConfig(vocab_size=32, hidden_size=8, intermediate_size=12, num_attention_heads=2,
                                    num_key_value_heads=1, num_local_experts=4, num_experts_per_tok=2, **sizes),
         torch.bfloat16)
    save("gpt2-tied", "GPT2LMHeadModel",
         transformers.GPT2Config(vocab_size=32, n_embd=8, n_layer=2, n_head=2, n_positions=16), torch.float32)


if __name__ == "__main__":
    {"small": small, "names": names, "gguf": gguf}[sys.argv[1]](sys.argv[2], *([sys.argv[3:]] if sys.argv[3:] else []))

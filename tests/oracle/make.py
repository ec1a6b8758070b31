#!/usr/bin/env python3
"""Makes references for tests/oracle: what transformers builds on the meta device.

usage: make.py OUT_FOLDER [CONFIG.json ... | default:MODEL_CLASS[:NAME[:{"key": value, ...}]] ...]

Writes counts.json, configs/NAME.json and tensors/NAME.json.gz below OUT_FOLDER (pack.py makes data/NAME.tar.gz of it), adding to what is
there. A config is published or composed; `default:` takes the class's own defaults, changed by the
JSON object. The class is the first of `architectures`. Run with transformers 5.24.0, torch 2.11.0.
Most references were made with transformers 5.23.0, torch 2.15.0. Names, shapes, ties and classes of all that transformers has
were compared with 5.24.0, and those that had changed were made again.

`measured_cache` is the cache after one forward pass of 8 tokens on the meta device, per sequence. It has elements per
token (keys and values as transformers keeps them), those by the sliding window of their layer (0: none), and elements
of fixed-size state. Small models whose pass depends on data run it with random weights; it is null where no
pass can run. `moe_active` follows from the config's top-k where there is one list of experts, and is counted by running
small models where there are several.
"""
import copy, gzip, json, os, re, sys, warnings

warnings.filterwarnings("ignore")
import torch
import transformers

transformers.logging.set_verbosity_error()
TOKENS = 8


def tensors_of(model):
    seen, params, groups, buffers = {}, [], {}, []
    for name, p in model.named_parameters(remove_duplicate=False):
        if id(p) in seen:
            groups.setdefault(seen[id(p)], [seen[id(p)]]).append(name)
        else:
            seen[id(p)] = name
            params.append([name, list(p.shape), str(p.dtype)[6:]])
    for path, module in model.named_modules():
        for leaf, b in module._buffers.items():
            if b is not None:
                kind = "non_persistent" if leaf in module._non_persistent_buffers_set else "persistent"
                buffers.append([(path + "." if path else "") + leaf, list(b.shape), str(b.dtype)[6:], kind])
    modules = [[n, type(m).__name__] for n, m in model.named_modules(remove_duplicate=False)]
    ties = [sorted(g) for g in groups.values()]
    return {"params": params, "tied": sorted(n for o, g in groups.items() for n in g if n != o),
            "buffers": buffers, "tied_groups": ties, "modules": modules}


def layer_lists_of(model):
    lists = {}
    for name, m in model.named_modules():
        if isinstance(m, torch.nn.ModuleList) and len(m) and not re.search(r"\.\d+\.", name + "."):
            runs = []
            for child in m:
                n = sum(p.numel() for p in child.parameters())
                if runs and runs[-1][0] == n:
                    runs[-1][1] += 1
                else:
                    runs.append([n, 1])
            lists[name] = {"n": len(m), "params": runs}
    return lists


def path_of(model, module):
    return next((n for n, m in model.named_modules() if m is module), None) if module is not None else None


def routed_elements(model, config):
    """Elements of routed experts, and how many of how many a token uses; None without experts, "unclear" where
    they are not stacked or lists of several lengths have no number of their own."""
    text = config.get_text_config()
    get = lambda *names: next((getattr(text, n) for n in names if getattr(text, n, None) is not None), None)
    used = get("num_experts_per_tok", "moe_topk", "moe_k", "top_k_experts", "num_experts_per_token")
    total, lengths = 0, set()
    for m in model.modules():
        if re.search(r"Experts?(GLU)?$", type(m).__name__):
            stacked = [p for p in m.parameters(recurse=False) if p.dim() >= 2]
            total += sum(p.numel() for p in m.parameters(recurse=False))
            lengths |= {p.shape[0] for p in stacked if p.dim() == 3} or {None}
    if not lengths:
        return None
    experts = lengths.pop()
    return (total, experts, used) if total and experts and used and not lengths else "unclear"


MOST_COUNTED = 50_000_000  # elements of a model that is built with weights, to count by running it


def counted_active(cls, config):
    """Counts the parameters that one token can use. The model with random weights puts out a random sum, and an expert
    without a gradient was not used. "unclear" where the model is too large for it, or cannot run on text alone."""
    model = with_weights(cls, config)
    ids = torch.full((1, 1), 5)
    out = model(input_ids=ids, use_cache=False, **({"decoder_input_ids": ids} if config.is_encoder_decoder and cls.main_input_name == "input_ids"
                                                   and "Encoder" not in cls.__name__ else {}))
    out = out.logits if getattr(out, "logits", None) is not None else out.last_hidden_state
    (out * torch.randn_like(out)).sum().backward()
    moved = lambda parameters: any(p.grad is not None and bool(p.grad.abs().sum() > 0) for p in parameters)
    unused = 0
    for m in model.modules():
        if not re.search(r"Experts?(GLU)?$", type(m).__name__):
            continue
        children = [c for c in m.children() if any(True for _ in c.parameters())]
        for child in children:
            unused += 0 if moved(child.parameters()) else sum(p.numel() for p in child.parameters())
        stacked = [p for p in m.parameters(recurse=False) if p.dim() == 3]
        for i in range(stacked[0].shape[0] if stacked else 0):
            used = any(p.grad is not None and bool(p.grad[i].abs().sum() > 0) for p in stacked)
            unused += 0 if used else sum(p[i].numel() for p in m.parameters(recurse=False) if p.shape[0] == stacked[0].shape[0])
    return sum(p.numel() for p in model.parameters()) - unused


def active(model, cls, config, total):
    routed = routed_elements(model, config)
    if routed is None:
        return None
    if routed != "unclear":
        return total - routed[0] + routed[0] // routed[1] * routed[2]
    try:
        return counted_active(cls, config) if total <= MOST_COUNTED else "unclear"
    except Exception as e:
        print("   active parameters not counted:", type(e).__name__, str(e)[:150].replace("\n", " "))
        return "unclear"


def elements(x):
    if torch.is_tensor(x):
        return x.numel()
    if isinstance(x, dict):
        return sum(elements(v) for v in x.values())
    return sum(elements(v) for v in x) if isinstance(x, (list, tuple)) else 0


def kept(model, n, device):
    """The content of the cache after a pass over `n` tokens: elements, and those of keys and values by their layer's
    window."""
    ids = torch.full((1, n), 7, device=device)
    with torch.no_grad():
        out = model.eval()(input_ids=ids, use_cache=True)
    cache = next((out[k] for k in ("cache", "past_key_values", "cache_params", "state") if out.get(k) is not None), None)
    if isinstance(cache, (list, tuple)):
        return elements(cache), {}
    parts = [[getattr(l, a, None) for a in ("keys", "values", "conv_states", "recurrent_states", "idx_keys", "indexer_keys")]
             for l in getattr(cache, "layers", [])]
    if any(hasattr(l, "compressed_kv") for l in getattr(cache, "layers", [])):
        raise ValueError("compressed entries do not grow token by token")
    extra = getattr(cache, "linear_cache", None) or getattr(cache, "rnn_state", None)
    windows = {}
    for layer in getattr(cache, "layers", []):
        window = str(getattr(layer, "sliding_window", None) or 0)
        windows[window] = windows.get(window, 0) + elements([getattr(layer, a, None) for a in ("keys", "values")])
    return elements(parts) + elements(extra), windows


def measured_cache(model, quiet=False, device="meta"):
    model.set_attn_implementation("eager")  # the others look at the mask's values
    try:
        (short, by_window), (long, by_window_long) = (kept(model, n, device) for n in (TOKENS, 2 * TOKENS))
        per_token, rest = divmod(long - short, TOKENS)
        if rest:
            return None
        if not long:  # kept inside the modules
            return None
        windows = {w: (by_window_long[w] - n) // TOKENS for w, n in by_window.items()}
        return {"per_token": per_token, "per_sequence": short - TOKENS * per_token,
                "by_window": {w: n for w, n in windows.items() if n}}
    except Exception as e:  # data-dependent control flow cannot run without data
        if not quiet:
            print("   no cache measured:", type(e).__name__, str(e)[:150].replace("\n", " "))
        return None


def with_weights(cls, config):
    torch.manual_seed(0)
    model = cls(copy.deepcopy(config)).float().eval()
    model.tie_weights()
    for p in model.parameters():
        torch.nn.init.normal_(p, std=0.05)
    return model


def reference(config, cls, source):
    config._attn_implementation = "eager"  # some classes have another name otherwise
    with torch.device("meta"):
        model = cls(config)
    model.tie_weights()
    model = model.float()
    head, embed = model.get_output_embeddings(), None
    try:
        embed = model.get_input_embeddings()
    except NotImplementedError:  # a whole of several models has none of its own
        pass
    head_name = path_of(model, head)
    embed_name = path_of(model, embed)
    tensors = tensors_of(model)
    # among equal lists only the first is named, so that a tied stack is not counted twice
    lists = layer_lists_of(model)
    main = max(lists, key=lambda k: sum(a * b for a, b in lists[k]["params"]), default=None)
    total = sum(p.numel() for p in model.parameters())
    untied = sum(p.numel() for _, p in model.named_parameters(remove_duplicate=False))
    own = lambda m: sum(p.numel() for p in m.parameters()) if m is not None else 0
    no_split = model._no_split_modules
    cache = measured_cache(model, quiet=True)
    if cache is None:  # products of stacked experts want 16 bits
        cache = measured_cache(model.bfloat16())
        model = model.float()
    if cache is None and total <= MOST_COUNTED:
        cache = measured_cache(with_weights(cls, config), device="cpu")
    counts = {"architecture": type(model).__name__, "model_type": config.model_type, "source": source,
              "total": total, "untied_total": untied,
              "embedding": own(embed) if embed is not None else None, "embedding_name": embed_name, "lm_head": own(head), "lm_head_name": head_name,
              "no_split": sorted(no_split or []), "layers_path": main, "layer_lists": lists, "moe_active": active(model, cls, config, total),
              "kv_kind": "UNCHECKED formula: see measured_cache", "kv_bytes_per_token_fp16": None,
              "measured_cache": cache}
    return counts, tensors


def write(out, name, text, counts, tensors):
    """Adds one reference to a folder."""
    for folder in ("configs", "tensors"):
        os.makedirs(f"{out}/{folder}", exist_ok=True)
    path = f"{out}/counts.json"
    all_counts = json.load(open(path)) if os.path.exists(path) else {}
    all_counts[name] = counts
    json.dump(text, open(f"{out}/configs/{name}.json", "w"), indent=1)
    with gzip.GzipFile(f"{out}/tensors/{name}.json.gz", "wb", mtime=0) as f:
        f.write(json.dumps(tensors).encode())
    json.dump(dict(sorted(all_counts.items())), open(path, "w"), indent=1)


def main():
    out, wanted = sys.argv[1], sys.argv[2:]
    for item in wanted:
        if item.startswith("default:"):
            name_of_class, _, rest = item[len("default:"):].partition(":")
            name, _, change = rest.partition(":")
            cls = getattr(transformers, name_of_class)
            config = cls.config_class(**json.loads(change or "{}"))
            config.architectures = [name_of_class]
            text = json.loads(config.to_json_string(use_diff=False))
            name = name or f"default__{config.model_type}"
            source = "class defaults" + (f" with {change}" if change else "")
        else:
            text = json.load(open(item))
            name = os.path.basename(item)[: -len(".json")]
            cls = getattr(transformers, text["architectures"][0])
            kind = text.get("model_type")  # a class may build configs of several types
            config = (transformers.CONFIG_MAPPING[kind] if kind in transformers.CONFIG_MAPPING else cls.config_class).from_dict(dict(text))
            source = "config file"
        print(name)
        try:
            counts, tensors = reference(config, cls, source)
        except Exception as e:
            print("   FAILED", type(e).__name__, str(e)[:300])
            continue
        print("   total", counts["total"], "active", counts["moe_active"], "cache", counts["measured_cache"])
        write(out, name, text, counts, tensors)


if __name__ == "__main__":
    main()

"""The variations of a config that vary.py tries: one key left out, null or another value, then several at once."""
import copy, dataclasses, json, re, sys

from transformers.configuration_utils import PreTrainedConfig

LAYERS = 6
MOST, TOGETHER = 250, 30  # variations of a class at most; draws of several changes at once
LAYER_KEYS = re.compile(r"^(num_(hidden_)?layers|n_layers?|num_\w*(encoder|decoder|hidden)_layers|(encoder|decoder)_layers|depth"
                        r"|num_layers_per_stack|num_decoder_layers|num_global_layers)$")
# keys that no shape depends on
IDLE = re.compile(r"(_token_id|_token_index|_token_ids|_eps|epsilon|_loss|dropout|_prob|_std|_range|initializer|init_factor|_coef|temperature"
                  r"|theta|^use_cache|softcap|_clip(?!ped_linears)|gamma|alpha|beta|^max_length|label2id|id2label|^output_(hidden|attent|router)|^return_|jitter|_pdrop|tokenizer|_token$"
                  r"|layerdrop|mask_time|mask_feature|ctc_|seconds|sampling_rate|scaling_factor|(?<!channel)_multiplier$|^embedding_scale|dtype|transformers_version"
                  r"|problem_type|_chunk_size_feed|^chunk_size_feed_forward|logits_to_keep|^is_encoder_decoder$|_weight$|norm_topk_prob|scoring_func|logit_scale)")
STATED = {"vocab_size", "hidden_size", "num_hidden_layers", "num_attention_heads", "intermediate_size", "layers_block_type"}
SECTIONS = {f.name for f in dataclasses.fields(PreTrainedConfig)}


def fields_of(cls):
    out = {}
    for f in dataclasses.fields(cls):
        if f.name in SECTIONS or f.name.startswith("_") or IDLE.search(f.name):
            continue
        value = f.default
        if value is dataclasses.MISSING:
            value = f.default_factory() if f.default_factory is not dataclasses.MISSING else None
        out[f.name] = value
    return out


def said(config, name):
    """The value of a key in a config; None where it says so of single layers alone."""
    try:
        return getattr(config, name, None)
    except Exception:  # transformers' AmbiguousGlobalPerLayerAttributeError has no public name
        return None


def plain(value):
    try:
        return json.loads(json.dumps(value, allow_nan=False))
    except (TypeError, ValueError):
        return None


def base_of(config):
    """The config's JSON with every key of its class before derivation, few layers, and sections alike."""
    cls, text = type(config), {}
    for name, value in fields_of(cls).items():
        section = said(config, name)
        if isinstance(section, PreTrainedConfig):
            text[name] = base_of(section)
        elif plain(value) is not None:
            text[name] = plain(value)
            if LAYER_KEYS.match(name) and isinstance(value, int) and value > LAYERS:
                text[name] = LAYERS
    if config.model_type:
        text["model_type"] = config.model_type
    return text


def strings_for(cls, key):
    """Values that the sources compare this key with."""
    found = set()
    for c in {cls, cls.config_class}:
        path = sys.modules[c.__module__].__file__
        for line in open(path):
            if re.search(rf"\b{key}\b", line):
                found |= set(re.findall(r"""["']([\w\-./]+)["']""", line))
    return sorted(found - {key, "config"})[:6]


def values_for(cls, key, value, derived):
    """Other values to try for a key; `derived`: what the built config says."""
    value = derived if value is None and not isinstance(derived, PreTrainedConfig) else value
    if key in ("rope_parameters", "rope_scaling"):
        return []
    if isinstance(value, bool):
        return [not value, None]
    if isinstance(value, int):
        tried = [2 * value, None]
        if value % 2 == 0 and value > 1:
            tried.append(value // 2)
        if value <= 8:
            tried += [value + 1, 0, 1]
        if "kv_heads" in key or "key_value" in key or "head_dim" in key:
            tried += [1, 3 * value // 2]
        if LAYER_KEYS.match(key):
            tried = [3, 7]
        return tried
    if isinstance(value, float):
        return [value / 2, 1.0, 2 * value, None]
    if isinstance(value, str):
        if "act" in key:
            return ["gelu", "relu", "silu", "gelu_pytorch_tanh", "quick_gelu"]
        return strings_for(cls, key)
    if isinstance(value, (list, tuple)) and value:
        value = list(value)
        tried = [value[::-1], None, []]
        if all(isinstance(v, str) for v in value):
            tried += [[v] * len(value) for v in sorted(set(value))] + [value[1:] + value[:1]]
        elif all(isinstance(v, int) for v in value):
            tried += [value[:1], [2 * v for v in value]]
        return tried
    if value in (None, [], ()):
        return [2, 4, 64, [1], [0, 2], True, 0.5] + strings_for(cls, key)[:2]
    return []


def legacy_keys(config_class):
    """Keys that the class takes from files of before its own names."""
    source = open(sys.modules[config_class.__module__].__file__).read()
    return sorted(k for k in set(re.findall(r"""kwargs\.(?:pop|get)\(\s*["'](\w+)["']""", source))
                  if not IDLE.search(k) and not k.endswith(("_config", "_dict")) and k not in fields_of(config_class)
                  and k not in ("model_type", "token", "revision", "trust_remote_code", "local_files_only", "num_labels",
                                "backbone_kwargs", "rope_scaling", "torch_dtype", "per_layer_config"))


LEGACY_VALUES = [1, 2, 3, True, False, 0.5, 32, [0, 1] * (LAYERS // 2), [1] * LAYERS, [0, 2], "FS" * (LAYERS // 2), "M*-" * (LAYERS // 3), "LG"]

ROPES = [{"rope_type": "linear", "factor": 2.0}, {"rope_type": "dynamic", "factor": 2.0, "original_max_position_embeddings": 128},
         {"rope_type": "yarn", "factor": 4.0, "original_max_position_embeddings": 128},
         {"rope_type": "llama3", "factor": 8.0, "low_freq_factor": 1.0, "high_freq_factor": 4.0, "original_max_position_embeddings": 128},
         {"rope_type": "default", "partial_rotary_factor": 0.5}, {"rope_type": "yarn", "factor": 4.0, "original_max_position_embeddings": 128, "partial_rotary_factor": 0.5},
         {"rope_type": "proportional", "partial_rotary_factor": 0.25}]


def no_model(change, base):
    """True if a change asks for values that no file has. headroom refuses them in words, though the reference makes
    tensors of them.
    Examples are a token that uses no expert or more than there are, no heads, and a convolution or a merge of nothing.
    Others are a head whose odd dimensions cannot be rotated, and a boolean or a fraction instead of a whole number, or
    the reverse."""
    keys = {k.split(".")[-1]: v for k, v in change.items() if k != "-"}
    zero = lambda v: v == 0 and not isinstance(v, bool)
    experts, used = (keys.get(k, base.get(k)) for k in ("num_local_experts", "num_experts_per_tok"))
    return (any(zero(v) and re.search(r"experts_per_tok|moe_k$|heads|key_value|conv|merge|patch|kernel|channels", k) for k, v in keys.items())
            or (isinstance(experts, int) and experts > 0 and (used is None and "num_experts_per_tok" in keys or isinstance(used, int) and used > experts))
            or any(isinstance(v, (bool, float)) and re.search(r"pattern$|interval$|freq$|offset$|every_n_layers$", k) for k, v in keys.items())
            or any(isinstance(v, (bool, float)) and re.search(r"_dim$", k) or isinstance(v, bool) and re.search(r"_pct$|_factor$", k) for k, v in keys.items())
            or any(not isinstance(v, (bool, type(None))) and k.startswith("tie_") for k, v in keys.items())
            or any(isinstance(v, int) and v % 2 for k, v in keys.items() if re.search(r"head_dim$|rotary_dim$", k)))


def rope_changes(config, prefix):
    if not hasattr(config, "rope_parameters"):
        return
    current = config.rope_parameters or {}
    kinds = [k for k, v in current.items() if isinstance(v, dict)]
    for rope in ROPES:
        rope = dict(rope, rope_theta=10000.0)
        yield {prefix + "rope_parameters": {k: dict(rope) for k in kinds} if kinds else rope}
    if not kinds:
        yield {prefix + "rope_scaling": {"type": "linear", "factor": 2.0}}
        yield {prefix + "rope_scaling": {"type": "yarn", "factor": 4.0, "original_max_position_embeddings": 128}, prefix + "partial_rotary_factor": 0.5}
        yield {prefix + "partial_rotary_factor": 0.5, prefix + "rope_theta": 5000.0}
        yield {prefix + "partial_rotary_factor": 0.25, prefix + "rope_scaling": None}


def changes(cls, config, base, prefix=""):
    """All variations: {dotted key: value}, and {"-": [dotted keys]} for keys left out."""
    sections = []
    aliases = type(config).attribute_map
    stated = STATED | {aliases[k] for k in STATED if k in aliases}
    droppable = [prefix + k for k in base if not LAYER_KEYS.match(k) and k not in ("model_type", "architectures")
                 and not isinstance(base[k], dict)]
    yield {"-": [k for k in droppable if prefix or k not in stated]}
    for key, value in fields_of(type(config)).items():
        derived = said(config, key)
        if isinstance(derived, PreTrainedConfig):
            sections.append((key, derived))
            continue
        if key in base and not LAYER_KEYS.match(key) and (prefix or key not in stated):
            yield {"-": [prefix + key]}
        seen = [base.get(key)]
        for other in values_for(cls, key, base.get(key), derived):
            if key in STATED and not other:
                continue
            if other not in seen or any(type(other) is not type(s) for s in seen if s == other):
                seen.append(other)
                yield {prefix + key: plain(other)}
    for alias, key in aliases.items():
        if isinstance(base.get(key), int) and not isinstance(base.get(key), bool):
            yield {"-": [prefix + key], prefix + alias: base[key] if LAYER_KEYS.match(key) else 2 * base[key]}
    for key in legacy_keys(type(config)):
        for value in LEGACY_VALUES:
            yield {prefix + key: value}
    yield from rope_changes(config, prefix)
    for key, section in sections:
        yield {"-": [prefix + key]}
        yield from changes(cls, section, base[key], prefix + key + ".")


def changed(base, change):
    text = copy.deepcopy(base)
    for path, value in change.items():
        for one in value if path == "-" else [path]:
            *scope, leaf = one.split(".")
            at = text
            for name in scope:
                at = at.setdefault(name, {})
            if path == "-":
                at.pop(leaf, None)
            else:
                at[leaf] = value
    return text


def completed(config, base):
    """A base with the width of a head stated, and lists by layer as long as there are layers."""
    text = copy.deepcopy(base)
    if "head_dim" in fields_of(type(config)) and text.get("head_dim") is None:
        text["head_dim"] = config.hidden_size // config.num_attention_heads
    for key, value in text.items():
        if isinstance(value, list) and len(value) == getattr(config, "num_hidden_layers", None):
            text[key] = value[:LAYERS]
    return text

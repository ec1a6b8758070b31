#!/usr/bin/env python3
"""Varies the keys of an architecture's config and records what transformers builds of each.

usage: vary.py OUT_FOLDER MODEL_CLASS[:MODEL_TYPE] ...    writes OUT_FOLDER/MODEL_CLASS.json.gz
       vary.py --show FILE.json.gz NUMBER OUT_FOLDER      the whole reference of one variation, as make.py writes it

The base is the class with few layers, with every key written out as the config class has it before it
derives anything. A second base states only the sizes that every config states. Then one key at a time
is left out, null, or another value. Then a few of these change at once. Variations that transformers
refuses to build, or builds and cannot run, are left out, and so is `no_model`. Each variation is
recorded as its change of the base and a checksum of what tests/oracle/variants_test.cpp compares. Run
with the versions that make.py names.
"""
import copy, gzip, json, os, random, sys, warnings, zlib

warnings.filterwarnings("ignore")
import torch
import transformers

import make
from variations import MOST, TOGETHER, base_of, changed, changes, completed, fields_of, no_model, said

def checksum(lines):
    return zlib.crc32("\n".join(lines).encode())


def lines_of(tensors, no_split):
    row = lambda r: f"{r[0]} [{','.join(map(str, r[1]))}] {r[2]}"
    return {"parameters": [row(r) for r in tensors["params"]],
            "buffers": [row(r) + " " + r[3] for r in tensors["buffers"]],
            "modules": [f"{a} {b}" for a, b in tensors["modules"]],
            "ties": sorted(" = ".join(g) for g in tensors["tied_groups"]),
            "no_split": sorted(no_split)}


def built(cls, text):
    config = cls.config_class.from_dict(copy.deepcopy(text))
    with torch.device("meta"):
        model = cls(config)
    model.tie_weights()
    return model.float()


def runs(model):
    """True if the reference itself can run the model that it has built."""
    ids = torch.zeros((1, make.TOKENS), dtype=torch.long, device="meta")
    model.set_attn_implementation("eager")
    try:
        with torch.no_grad():
            model.eval()(input_ids=ids, **({"decoder_input_ids": ids} if model.config.is_encoder_decoder else {}))
    except Exception:  # noqa: whatever it says
        return False
    return True


def shortest_window(config):
    """The fewest tokens that a layer remembers."""
    text = config.get_text_config()
    return min([w for k in ("sliding_window", "attention_chunk_size", "window_size")
                if isinstance(w := said(text, k), int) and w > 0] or [2 * make.TOKENS])


def outcome(cls, text):
    """The compared figures, and if the reference can run the model that it has built."""
    model = built(cls, text)
    can_run = runs(model)
    result = {k: checksum(v) for k, v in lines_of(make.tensors_of(model), model._no_split_modules or []).items()}
    result["total"] = sum(p.numel() for p in model.parameters())
    routed = make.routed_elements(model, model.config)
    result["active"] = None if routed in (None, "unclear") else result["total"] - routed[0] + routed[0] // routed[1] * routed[2]
    # a pass over 8 and 16 tokens cannot tell windows below them
    result["cache"] = make.measured_cache(model, quiet=True) if shortest_window(model.config) >= 2 * make.TOKENS else None
    return result, can_run


def vary(out, name):
    name, _, model_type = name.partition(":")
    cls = getattr(transformers, name)
    config_class = transformers.CONFIG_MAPPING[model_type] if model_type else cls.config_class
    config = config_class()
    base = base_of(config)
    base["architectures"] = [name]
    if "num_experts_per_tok" in fields_of(config_class) and "num_experts_per_tok" not in base:
        base["num_experts_per_tok"] = 2  # a class that leaves it open
    if "layers_block_type" in fields_of(config_class) and "layers_block_type" not in base:
        base["layers_block_type"] = said(config, "layers_block_type")
    try:
        first, base_runs = outcome(cls, base)
    except Exception:  # a class that cannot be built of what it assumes itself
        base = completed(config, base)
        first, base_runs = outcome(cls, base)
    variants, seen = [], set()

    def record(change):
        key = json.dumps(change, sort_keys=True)
        if key in seen or len(variants) > MOST or no_model(change, base):
            return
        seen.add(key)
        try:
            result, can_run = outcome(cls, changed(base, change))
        except Exception:
            return
        if base_runs and not can_run:
            return
        variants.append([change, {k: v for k, v in result.items() if v != first[k]}])

    for change in changes(cls, cls.config_class.from_dict(copy.deepcopy(base)), base):
        record(change)
    single = [v for v in variants[1:] if list(v[0]) != ["-"]]
    draw = random.Random(name)
    for _ in range(TOGETHER if len(single) > 3 else 0):
        together = {}
        for one in draw.sample(single, draw.randint(2, 4)):
            together.update(one[0])
        record(together)
    os.makedirs(out, exist_ok=True)
    with gzip.GzipFile(f"{out}/{name}.json.gz", "wb", mtime=0) as f:
        f.write(json.dumps({"base": base, "outcome": first, "variants": variants}).encode())
    print(name, len(variants), "variations,", sum(1 for v in variants if v[1]), "differ from the base", "" if base_runs else "(never runs)", flush=True)


def show(path, number, out):
    file = json.load(gzip.open(path))
    number = int(number)
    text = file["base"] if number < 0 else changed(file["base"], file["variants"][number][0])
    cls = getattr(transformers, text["architectures"][0])
    counts, tensors = make.reference(cls.config_class.from_dict(copy.deepcopy(text)), cls, "variation")
    make.write(out, os.path.basename(path)[:-len(".json.gz")] + f"__{number}", text, counts, tensors)


if __name__ == "__main__":
    if sys.argv[1] == "--show":
        show(*sys.argv[2:])
    else:
        for one in sys.argv[2:]:
            try:
                vary(sys.argv[1], one)
            except Exception as e:
                print(one, "FAILED", type(e).__name__, str(e)[:300], flush=True)

"""The scripts that `headroom launch` writes for transformers, started on the CPU with small models of random weights."""
import json
import subprocess
from pathlib import Path

import packages

HERE = Path(__file__).resolve().parent
MACHINE = ["--machine", "cpu @ desktop-ddr5-64gb", "--runtime", "transformers", "--precision", "bf16", "--context", "512",
           "--prompt-tokens", "8", "--output-tokens", "4"]
WIDE = {"hidden_size": 1024, "num_hidden_layers": 8, "intermediate_size": 4096, "num_attention_heads": 8, "num_key_value_heads": 2,
        "head_dim": 128, "vocab_size": 8192, "max_position_embeddings": 4096}
EXPERTS = {**WIDE, "num_experts": 8, "num_experts_per_tok": 2, "moe_intermediate_size": 1024}
LATENT = {**WIDE, "num_key_value_heads": 8, "num_hidden_layers": 6, "q_lora_rank": 256, "kv_lora_rank": 128, "qk_rope_head_dim": 32,
          "qk_nope_head_dim": 64, "v_head_dim": 64, "n_routed_experts": 8, "n_group": 1, "topk_group": 1, "num_experts_per_tok": 2,
          "moe_intermediate_size": 1024, "first_k_dense_replace": 1}
del LATENT["head_dim"]
# model_type, its configuration, RAM that the process may use: all of it, or a budget that leaves layers on disk.
CASES = [("qwen3", {**WIDE, "tie_word_embeddings": False}, ""), ("qwen3", {**WIDE, "tie_word_embeddings": False}, "1200MB"),
         ("llama", {**WIDE, "tie_word_embeddings": True}, "1200MB"), ("gemma3_text", WIDE, "1230MB"),
         ("qwen3_moe", EXPERTS, "1300MB"), ("deepseek_v3", LATENT, "1250MB")]


class Placed:
    """One case: headroom's devices and what ran; `wrong` says what differs."""

    def __init__(self, name, budget):
        self.name, self.budget, self.wrong = name, budget or "all", []
        self.own, self.real = {}, {}


def layers_of(text):
    """[0, 1, 2, 5] of "0-2, 5"."""
    parts = [each.split("-") for each in text.replace(" ", "").split(",") if each]
    return [layer for part in parts for layer in range(int(part[0]), int(part[-1]) + 1)]


def judged_case(headroom, model_type, config, budget):
    case = Placed(model_type, budget)
    folder = packages.FOLDER / "models" / model_type
    words = ["./" + model_type, *MACHINE, *(["--ram-budget", budget] if budget else [])]
    if not (folder / "tokenizer.json").exists():
        subprocess.run([packages.PYTHON, "-B", HERE / "small_model.py", model_type, json.dumps(config), folder], check=True,
                       capture_output=True)
    script = folder / "load.py"
    written = subprocess.run([headroom, "launch", *words], cwd=folder.parent, capture_output=True, text=True)
    estimate = subprocess.run([headroom, "estimate", *words, "--format", "json"], cwd=folder.parent, capture_output=True, text=True)
    if written.returncode or not estimate.stdout:
        case.wrong.append(f"{model_type}, {case.budget}: {written.stderr or estimate.stderr}")
        return case
    script.write_text(written.stdout)
    case.own = {each["kind"]: each for each in json.loads(estimate.stdout)["devices"]}
    ran = subprocess.run([packages.PYTHON, "-B", HERE / "run_script.py", script], cwd=folder.parent, capture_output=True, text=True)
    if ran.returncode:
        case.wrong.append(f"{model_type}, {case.budget}: the script fails: {ran.stderr.strip().splitlines()[-1]}")
        return case
    case.real = json.loads(ran.stdout.splitlines()[-1])
    for device, own in case.own.items():
        real = case.real["layers"].get(device, [])
        if layers_of(own["layers"]) != real:
            case.wrong.append(f"{model_type}, {case.budget}: on {device} layers {own['layers'] or 'none'}, transformers {real}")
    return case


def judged(headroom):
    return [judged_case(headroom, *case) for case in CASES]

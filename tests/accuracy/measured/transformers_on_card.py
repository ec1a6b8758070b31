#!/usr/bin/env python3
"""Measures transformers on this computer's card with models of random weights; one row of CSV a case.

usage: transformers_on_card.py CONFIGS OUT.csv [--seconds 200]

CONFIGS is a folder of config.json files, named owner__model.json. Weights are made on the card, nothing is loaded.
Every case begins with an empty cache of the allocator. Cases that no time is left for are not in the file. The loop
of `torch` keeps logits and labels until the backward pass ends; `trainer` is transformers' own.
"""
import argparse
import csv
import gc
import pathlib
import statistics
import subprocess
import tempfile
import time

import torch
import transformers

COLUMNS = ("model task loop recipe optimizer checkpointing attention rank batch tokens output state parameters allocated_bytes "
           "reserved_bytes used_mib ttft_s total_s step_s").split()

# Model, attention, and (batch, prompt, output) of generation.
GENERATION = [
    ("Qwen/Qwen3-8B", "sdpa", [(1, 512, 64), (8, 512, 64), (32, 512, 32), (1, 8192, 16)]),
    ("meta-llama/Llama-3.2-3B", "sdpa", [(1, 512, 64), (16, 2048, 32)]),
    ("google/gemma-3-12b-it", "sdpa", [(1, 512, 32), (8, 2048, 16)]),
    ("Qwen/Qwen3-30B-A3B", "sdpa", [(1, 512, 32), (8, 512, 16)]),
    ("openai/gpt-oss-20b", "eager", [(1, 512, 32), (8, 512, 16)]),
    ("EleutherAI/gpt-neox-20b", "sdpa", [(1, 512, 32)]),
    ("meta-llama/Llama-3.2-3B", "eager", [(1, 512, 32), (16, 2048, 16)]),
]

# Model, loop, recipe, optimizer, checkpointing, attention, rank of LoRA (0: all weights), batch, tokens.
TRAINING = [
    ("Qwen/Qwen3-1.7B", "trainer", "mixed-bf16", "adamw", False, "sdpa", 0, 4, 1024),
    ("Qwen/Qwen3-1.7B", "trainer", "mixed-bf16", "adamw", True, "sdpa", 0, 8, 2048),
    ("meta-llama/Llama-3.1-8B", "trainer", "pure-bf16", "adamw", True, "sdpa", 16, 4, 2048),
    ("meta-llama/Llama-3.1-8B", "trainer", "pure-bf16", "adamw", False, "sdpa", 16, 2, 1024),
    ("meta-llama/Llama-3.2-3B", "torch", "pure-bf16", "adamw", True, "sdpa", 0, 2, 4096),
    ("meta-llama/Llama-3.2-3B", "torch", "pure-bf16", "adamw", False, "sdpa", 0, 2, 1024),
    ("meta-llama/Llama-3.2-1B", "torch", "pure-bf16", "adamw", False, "eager", 0, 4, 1024),
    ("meta-llama/Llama-3.2-1B", "torch", "mixed-bf16", "adamw", False, "sdpa", 0, 4, 2048),
    ("meta-llama/Llama-3.2-1B", "torch", "mixed-bf16", "sgd", False, "sdpa", 0, 4, 2048),
    ("Qwen/Qwen3-8B", "torch", "pure-bf16", "adamw", True, "sdpa", 64, 8, 2048),
    ("Qwen/Qwen3-8B", "torch", "pure-bf16", "adamw", False, "sdpa", 64, 1, 2048),
    ("google/gemma-3-1b-it", "trainer", "mixed-bf16", "adamw", False, "sdpa", 0, 4, 1024),
    ("google/gemma-3-1b-it", "trainer", "pure-bf16", "adafactor", True, "sdpa", 0, 8, 2048),
    ("allenai/OLMoE-1B-7B-0924", "torch", "pure-bf16", "sgd", True, "sdpa", 0, 4, 1024),
    ("meta-llama/Llama-3.1-8B", "trainer", "pure-bf16", "adafactor", True, "sdpa", 0, 1, 2048),
    ("Qwen/Qwen3-0.6B", "trainer", "mixed-bf16", "adamw", False, "sdpa", 0, 16, 512),
]


def used_mib():
    said = subprocess.run(["nvidia-smi", "--query-gpu=memory.used", "--format=csv,noheader,nounits"], capture_output=True, text=True)
    return int(said.stdout.split()[0]) if said.stdout else ""


def made(configs, name, dtype, attention, layers):
    config = transformers.AutoConfig.from_pretrained(configs / (name.replace("/", "__") + ".json"))
    config = config.get_text_config()
    if getattr(config, "quantization_config", None) is not None:
        del config.quantization_config
    if layers:
        config.num_hidden_layers = layers
        if getattr(config, "layer_types", None):
            config.layer_types = config.layer_types[:layers]
    torch.manual_seed(0)
    with torch.device(DEVICE):
        model = transformers.AutoModelForCausalLM.from_config(config, attn_implementation=attention, dtype=dtype)
    return model.to(dtype)


def figures():
    if DEVICE == "cpu":
        return {}
    return {"allocated_bytes": torch.cuda.max_memory_allocated(), "reserved_bytes": torch.cuda.max_memory_reserved(),
            "used_mib": used_mib()}


def fresh():
    gc.collect()
    if DEVICE != "cpu":
        torch.cuda.empty_cache()
        torch.cuda.reset_peak_memory_stats()


def clock(work):
    start = time.perf_counter()
    work()
    if DEVICE != "cpu":
        torch.cuda.synchronize()
    return time.perf_counter() - start


def generated(model, batch, prompt, output):
    vocabulary = model.config.vocab_size
    tokens = torch.randint(10, vocabulary - 10, (batch, prompt), device=DEVICE)
    mask = torch.ones_like(tokens)

    def generate(count):
        with torch.inference_mode():
            model.generate(tokens, attention_mask=mask, min_new_tokens=count, max_new_tokens=count, do_sample=False, pad_token_id=0,
                           eos_token_id=vocabulary - 1)

    generate(4)
    fresh()
    first = statistics.median(clock(lambda: generate(1)) for _ in range(2))
    whole = clock(lambda: generate(output))
    return {"ttft_s": first, "total_s": whole, "step_s": (whole - first) / (output - 1)}


class Random(torch.utils.data.Dataset):
    def __init__(self, vocabulary, tokens):
        self.vocabulary, self.tokens = vocabulary, tokens

    def __len__(self):
        return 100000

    def __getitem__(self, _):
        tokens = torch.randint(10, self.vocabulary - 10, (self.tokens,))
        return {"input_ids": tokens, "labels": tokens}


class Clock(transformers.TrainerCallback):
    def __init__(self):
        self.at = []

    def on_step_end(self, *_, **__):
        if DEVICE != "cpu":
            torch.cuda.synchronize()
        self.at.append(time.perf_counter())


def adapted(model, rank):
    if not rank:
        return model
    import peft

    return peft.get_peft_model(model, peft.LoraConfig(r=rank, lora_alpha=rank, task_type="CAUSAL_LM", target_modules="all-linear"))


def trained(model, loop, recipe, optimizer, checkpointing, rank, batch, tokens):
    vocabulary = model.config.vocab_size
    model = adapted(model, rank)
    if loop == "trainer":
        clocked = Clock()
        given = transformers.TrainingArguments(
            output_dir=tempfile.mkdtemp(), per_device_train_batch_size=batch, max_steps=5, bf16=recipe == "mixed-bf16", save_strategy="no",
            optim={"adamw": "adamw_torch", "sgd": "sgd", "adafactor": "adafactor"}[optimizer], gradient_checkpointing=checkpointing,
            gradient_checkpointing_kwargs={"use_reentrant": False}, report_to=[], disable_tqdm=True, use_cpu=DEVICE == "cpu",
            logging_strategy="no")
        transformers.Trainer(model, given, train_dataset=Random(vocabulary, tokens), callbacks=[clocked]).train()
        return {"step_s": statistics.median(b - a for a, b in zip(clocked.at[1:], clocked.at[2:]))}
    model.config.use_cache = False
    if checkpointing:
        if rank:
            model.enable_input_require_grads()
        model.gradient_checkpointing_enable(gradient_checkpointing_kwargs={"use_reentrant": False})
    model.train()
    weights = [p for p in model.parameters() if p.requires_grad]
    made_of = {"adamw": torch.optim.AdamW, "sgd": torch.optim.SGD, "adafactor": torch.optim.Adafactor}[optimizer]
    step_of = made_of(weights, lr=1e-5)
    ids = torch.randint(10, vocabulary - 10, (batch, tokens), device=DEVICE)

    def step():
        with torch.autocast(DEVICE, torch.bfloat16, enabled=recipe == "mixed-bf16"):
            output = model(input_ids=ids, labels=ids)
        output.loss.backward()
        step_of.step()
        step_of.zero_grad()

    step()
    step()
    return {"step_s": statistics.median(clock(step) for _ in range(3))}


def main():
    global DEVICE
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("configs", type=pathlib.Path)
    parser.add_argument("out")
    parser.add_argument("--seconds", type=float, default=200)
    parser.add_argument("--device", choices=["cuda", "cpu"], default="cuda")
    parser.add_argument("--layers", type=int, help="at most so many layers of each model, for a trial")
    parser.add_argument("--task", choices=["inference", "training"], required=True)
    args = parser.parse_args()
    DEVICE = args.device
    transformers.logging.set_verbosity_error()
    end = time.monotonic() + args.seconds
    with open(args.out, "w", newline="") as out:
        rows = csv.DictWriter(out, COLUMNS)
        rows.writeheader()

        def run(row, work):
            if time.monotonic() > end:
                return
            try:
                row |= work() | {"state": "measured"}
            except Exception as error:  # whatever ends a case is its result
                row["state"] = f"{type(error).__name__}: {error}".splitlines()[0][:200].replace(",", ";")
            row |= figures()
            rows.writerow(row)
            out.flush()
            print(*row.values(), flush=True)

        if args.task == "inference":
            for name, attention, cases in GENERATION:
                if time.monotonic() > end:
                    break
                fresh()
                model = None
                model = made(args.configs, name, torch.bfloat16, attention, args.layers).eval()
                weights = sum(p.numel() for p in model.parameters())
                for batch, prompt, output in cases:
                    row = {"model": name, "task": "inference", "recipe": "bf16", "attention": attention, "batch": batch, "tokens": prompt,
                           "output": output, "parameters": weights}
                    run(row, lambda: generated(model, batch, prompt, output))
                del model
        else:
            for name, loop, recipe, optimizer, checkpointing, attention, rank, batch, tokens in TRAINING:
                row = {"model": name, "task": "training", "loop": loop, "recipe": recipe, "optimizer": optimizer, "attention": attention,
                       "checkpointing": "full" if checkpointing else "none", "rank": rank, "batch": batch, "tokens": tokens}

                def work():
                    fresh()
                    dtype = torch.float32 if recipe == "mixed-bf16" else torch.bfloat16
                    model = made(args.configs, name, dtype, attention, args.layers)
                    row["parameters"] = sum(p.numel() for p in model.parameters())
                    return trained(model, loop, recipe, optimizer, checkpointing, rank, batch, tokens)

                run(row, work)
                fresh()


if __name__ == "__main__":
    main()

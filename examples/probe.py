#!/usr/bin/env python3
"""Measures a training step on a GPU and lays headroom's estimate beside it.

usage: probe.py MODEL [--batch N] [--seq N] [--checkpointing full] [--attention sdpa|eager]
                [--lora-rank N] [--warmup-steps 3] [--probe-steps 6]

The model is initialised at random from its config: nothing but config.json is read. Needs torch with
CUDA and transformers (for --lora-rank also peft). Prints estimate, allocated, reserved and the
differences. The loop is the runtime `torch` of headroom: logits stay alive during backward.
"""
import argparse
import json
import os
import subprocess
import sys


def arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("model")
    parser.add_argument("--batch", type=int, default=1)
    parser.add_argument("--seq", type=int, default=2048)
    parser.add_argument("--checkpointing", choices=["none", "full"], default="none")
    parser.add_argument("--attention", choices=["sdpa", "flash_attention_2", "eager", "flash"],
                        default="sdpa")
    parser.add_argument("--lora-rank", type=int, default=0)
    parser.add_argument("--warmup-steps", type=int, default=3)
    parser.add_argument("--probe-steps", type=int, default=6)
    return parser.parse_args()


def estimate(given):
    command = [os.environ.get("HEADROOM", "headroom"), "estimate", given.model, "--task", "training",
               "--runtime", "torch", "--recipe", "pure-16bit", "--batch", str(given.batch), "--seq",
               str(given.seq), "--checkpointing", given.checkpointing, "--attention", given.attention,
               "--json"]
    if given.lora_rank:
        command += ["--lora-rank", str(given.lora_rank)]
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode:
        sys.exit(done.stderr)
    return json.loads(done.stdout)


def measure(given):
    import torch
    import transformers

    config = transformers.AutoConfig.from_pretrained(given.model)
    kernel = "sdpa" if given.attention == "flash" else given.attention
    with torch.device("cuda"):
        torch.set_default_dtype(torch.bfloat16)
        model = transformers.AutoModelForCausalLM.from_config(config, attn_implementation=kernel)
        torch.set_default_dtype(torch.float32)
    model.config.use_cache = False
    if given.lora_rank:
        import peft

        model = peft.get_peft_model(model, peft.LoraConfig(r=given.lora_rank, task_type="CAUSAL_LM"))
    if given.checkpointing == "full":
        model.enable_input_require_grads()
        model.gradient_checkpointing_enable(gradient_checkpointing_kwargs={"use_reentrant": False})
    model.train()
    optimizer = torch.optim.AdamW([p for p in model.parameters() if p.requires_grad], lr=1e-5)
    tokens = torch.randint(0, config.get_text_config().vocab_size, (given.batch, given.seq), device="cuda")
    for step in range(given.warmup_steps + given.probe_steps):
        if step == given.warmup_steps:
            torch.cuda.reset_peak_memory_stats()
        output = model(input_ids=tokens, labels=tokens)
        output.loss.backward()
        optimizer.step()
        optimizer.zero_grad()
        del output
    return torch.cuda.max_memory_allocated(), torch.cuda.max_memory_reserved()


if __name__ == "__main__":
    given = arguments()
    expected = estimate(given)
    allocated, reserved = measure(given)
    gib = 2**30
    print(f"estimate             : {expected['allocated_bytes'] / gib:.2f} GiB allocated, "
          f"{expected['reserved_bytes'] / gib:.2f} GiB reserved")
    print(f"max_memory_allocated : {allocated / gib:.2f} GiB")
    print(f"max_memory_reserved  : {reserved / gib:.2f} GiB")
    print(f"Diff (estimate - allocated): {(expected['allocated_bytes'] - allocated) / gib:+.2f} GiB")
    print(f"Diff (estimate - reserved): {(expected['reserved_bytes'] - reserved) / gib:+.2f} GiB")

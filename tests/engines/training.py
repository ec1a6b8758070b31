"""Files of `headroom launch --task training`, given to the classes that read them, and started on the CPU with a small model."""
import json
import subprocess
from dataclasses import dataclass, field
from pathlib import Path

import packages

HERE = Path(__file__).resolve().parent
CATALOGUE = HERE.parent.parent / "model" / "describe" / "catalogue"
PROGRAMS = [("llamafactory", "0.9.5"), ("axolotl", "0.19.0")]
# Kind, model, machine, options.
POINTS = """
trainer | meta-llama/Meta-Llama-3-8B | h100-sxm-80gb | --lora --seq 4096
trainer | meta-llama/Meta-Llama-3-8B | h100-sxm-80gb | --lora-rank 32 --lora-alpha 64 --lora-targets q_proj,o_proj --modules-to-save lm_head
trainer | meta-llama/Meta-Llama-3-8B | h100-sxm-80gb | --lora-targets all-linear --dora --liger
trainer | meta-llama/Meta-Llama-3-8B | rtx-4090 | --qlora --lora-targets all-linear --batch 2 --grad-accum 8 --checkpointing full --seq 1024
trainer | meta-llama/Meta-Llama-3-8B | h100-sxm-80gb | --recipe pure-16bit --optimizer sgd
trainer | Qwen/Qwen3-0.6B | h100-sxm-80gb | --attention eager --token-budget 1M
trainer | Qwen/Qwen3-0.6B | h100-sxm-80gb | --precision fp32 --fused-loss
trainer | Qwen/Qwen3-0.6B | h100-sxm-80gb | --precision fp16
trainer | Qwen/Qwen3-0.6B | 8x h100-sxm-80gb | --dp 8 --checkpointing full
trainer | meta-llama/Meta-Llama-3-8B | 8x h100-sxm-80gb | --dp 8 --zero 1
trainer | meta-llama/Meta-Llama-3-8B | 8x h100-sxm-80gb | --dp 8 --zero 2 --grad-accum 4
trainer | meta-llama/Meta-Llama-3-8B | 8x h100-sxm-80gb | --dp 8 --zero 3 --checkpointing full
trainer | meta-llama/Meta-Llama-3-8B | 8x h100-sxm-80gb | --dp 8 --zero 3 --lora
trainer | meta-llama/Meta-Llama-3-8B | 8x h100-sxm-80gb | --runtime deepspeed --dp 8 --zero 2 --offload-optimizer cpu
trainer | meta-llama/Meta-Llama-3-8B | 8x h100-sxm-80gb | --runtime deepspeed --dp 8 --zero 3 --offload-optimizer nvme --offload-params nvme
trainer | meta-llama/Meta-Llama-3-8B | 8x h100-sxm-80gb | --runtime deepspeed --dp 8 --zero 3 --optimizer adamw-8bit --precision fp16
trainer | meta-llama/Meta-Llama-3-8B | 8x h100-sxm-80gb | --runtime deepspeed --dp 8 --zero 1 --recipe fp32-gradients
trainer | meta-llama/Meta-Llama-3-8B | 8x h100-sxm-80gb | --runtime fsdp2 --dp 8 --checkpointing full
trainer | meta-llama/Meta-Llama-3-8B | 8x h100-sxm-80gb | --runtime fsdp2 --dp 8 --offload-params cpu --offload-optimizer cpu --compile
trainer | meta-llama/Meta-Llama-3-8B | 8x h100-sxm-80gb | --runtime fsdp --dp 8
deepspeed | meta-llama/Meta-Llama-3-8B | 8x h100-sxm-80gb | --dp 8 --zero 2 --batch 2
deepspeed | meta-llama/Meta-Llama-3-8B | 8x h100-sxm-80gb | --runtime deepspeed --dp 8 --zero 3 --offload-optimizer cpu --offload-params cpu
llama-factory | meta-llama/Meta-Llama-3-8B | h100-sxm-80gb | --lora --seq 4096 --checkpointing full
llama-factory | meta-llama/Meta-Llama-3-8B | rtx-4090 | --qlora --lora-targets all-linear --batch 2 --grad-accum 8 --checkpointing full --seq 1024
llama-factory | meta-llama/Meta-Llama-3-8B | h100-sxm-80gb | --lora-rank 32 --lora-alpha 64 --dora --modules-to-save lm_head --liger
llama-factory | meta-llama/Meta-Llama-3-8B | h100-sxm-80gb | --recipe pure-16bit --optimizer sgd-momentum
llama-factory | Qwen/Qwen3-0.6B | h100-sxm-80gb | --attention eager --token-budget 1M
llama-factory | Qwen/Qwen3-0.6B | h100-sxm-80gb | --precision fp16
llama-factory | Qwen/Qwen3-0.6B | h100-sxm-80gb | --checkpointing none
llama-factory | meta-llama/Meta-Llama-3-8B | 8x h100-sxm-80gb | --dp 8 --zero 3 --offload-optimizer cpu --offload-params cpu
axolotl | meta-llama/Meta-Llama-3-8B | h100-sxm-80gb | --lora --seq 4096 --checkpointing full
axolotl | meta-llama/Meta-Llama-3-8B | rtx-4090 | --qlora --lora-targets all-linear --batch 2 --grad-accum 8 --checkpointing full --seq 1024
axolotl | meta-llama/Meta-Llama-3-8B | h100-sxm-80gb | --lora-rank 32 --lora-alpha 64 --dora --modules-to-save lm_head --liger
axolotl | meta-llama/Meta-Llama-3-8B | h100-sxm-80gb | --recipe pure-16bit --optimizer sgd-momentum
axolotl | Qwen/Qwen3-0.6B | h100-sxm-80gb | --precision fp32 --attention eager --token-budget 1M --fused-loss
axolotl | meta-llama/Meta-Llama-3-8B | 8x h100-sxm-80gb | --dp 8 --zero 2 --optimizer adamw-8bit
axolotl | meta-llama/Meta-Llama-3-8B | 8x h100-sxm-80gb | --runtime fsdp2 --dp 8 --checkpointing full --compile
axolotl | meta-llama/Meta-Llama-3-8B | 8x h100-sxm-80gb | --runtime fsdp --dp 8 --offload-params cpu --offload-optimizer cpu
accelerate | Qwen/Qwen3-0.6B | h100-sxm-80gb | --precision fp16
accelerate | Qwen/Qwen3-0.6B | 8x h100-sxm-80gb | --dp 8 --precision fp32
accelerate | meta-llama/Meta-Llama-3-8B | 8x h100-sxm-80gb | --runtime deepspeed --dp 8 --zero 3 --offload-optimizer cpu
accelerate | meta-llama/Meta-Llama-3-8B | 8x h100-sxm-80gb | --runtime fsdp2 --dp 8 --checkpointing full
accelerate | meta-llama/Meta-Llama-3-8B | 8x h100-sxm-80gb | --runtime fsdp --dp 8 --offload-params cpu --offload-optimizer cpu
"""
OPTIMIZERS = ("adamw sgd sgd-momentum nesterov adagrad rmsprop rmsprop-centered rmsprop-momentum rmsprop-momentum-centered adafactor "
              "adamw-8bit paged-adamw-8bit paged-adamw ademamix ademamix-8bit paged-ademamix paged-ademamix-8bit lion-32bit lion-8bit "
              "paged-lion paged-lion-8bit rmsprop-32bit rmsprop-8bit adamw-torch-8bit schedule-free schedule-free-sgd galore "
              "galore-adafactor apollo").split()


# Name, configuration, options. Each takes one step on the CPU.
SMALL = {"hidden_size": 128, "num_hidden_layers": 2, "intermediate_size": 256, "num_attention_heads": 4, "num_key_value_heads": 2,
         "head_dim": 32, "vocab_size": 8192, "max_position_embeddings": 512}
STEP = "--seq 64 --token-budget 64"
STARTED = [("llama", STEP, False), ("qwen3", f"{STEP} --checkpointing full --attention eager", True),
           ("qwen3", "--seq 32 --token-budget 256 --batch 2 --grad-accum 4 --lora-targets all-linear --checkpointing full", True),
           ("llama", f"{STEP} --recipe pure-16bit --optimizer adafactor", False),
           ("llama", f"{STEP} --lora --dora --modules-to-save lm_head --precision fp32", False)]


@dataclass
class Judged:
    """One file: its line, the estimate as JSON, and what the classes make of it."""

    line: tuple
    own: dict = field(default_factory=dict)
    facts: dict = field(default_factory=dict)
    wrong: list = field(default_factory=list)

    @property
    def kind(self):
        return self.line[0]

    def option(self, name, fallback=""):
        words = self.line[3].split()
        return words[words.index(name) + 1] if name in words else fallback

    def given(self, name):
        return name in self.line[3].split()


def points():
    lines = [tuple(part.strip() for part in line.split("|")) for line in POINTS.strip().split("\n")]
    return lines + [("trainer", "Qwen/Qwen3-0.6B", "h100-sxm-80gb", f"--optimizer {each}") for each in OPTIMIZERS]


def expected_of_deepspeed(case):
    fp16 = case.option("--precision") == "fp16"
    full = case.own["recipe"] != "fp32"
    return {"stage": int(case.option("--zero", "0")), "batch": int(case.option("--batch", "1")),
            "passes": int(case.option("--grad-accum", "1")), "optimizer_on": case.option("--offload-optimizer"),
            "params_on": case.option("--offload-params"), "bf16": full and not fp16, "fp16": full and fp16}


def runtime_of(case):
    return case.option("--runtime", "llama-factory" if case.kind == "llama-factory" else "trainer")


def expected(case):
    """Facts that a file must have, by the words of the command line and of the estimate."""
    if case.kind == "deepspeed":
        return expected_of_deepspeed(case)
    runtime, adapters = runtime_of(case), case.own["trained_parameters"] != case.own["parameters"]
    fsdp = {"fsdp": 1, "fsdp2": 2}.get(runtime, 0)
    pure = case.own["recipe"] == "fp32" or (case.own["recipe"] == "pure-16bit" and not adapters)
    fp16 = case.option("--precision") == "fp16"
    wide = case.own["recipe"] in ("autocast", "sharded-fp32", "fp32")
    common = {"batch": int(case.option("--batch", "1")), "passes": int(case.option("--grad-accum", "1")),
            "sequence": int(case.option("--seq", "2048")), "recomputes": case.own["recomputed_bytes"] > 0,
            "bf16": not pure and not fp16, "fp16": not pure and fp16, "model": case.line[1], "quantised": case.given("--qlora"),
            "attention": case.option("--attention") or "sdpa",
            "steps": 1_000_000 // 2048 + 1 if case.given("--token-budget") else -1,
            "liger": case.given("--liger") or case.given("--fused-loss")}
    around = {"fsdp": fsdp, "fsdp_offloads": bool(fsdp and case.option("--offload-params")), "compiled": case.given("--compile")}
    if case.kind == "accelerate":
        offload = {"optimizer_on": case.option("--offload-optimizer"), "params_on": case.option("--offload-params")}
        return {"cards": int(case.option("--dp", "1")), "bf16": common["bf16"], "fp16": common["fp16"], "fsdp": fsdp,
                "stage": int(case.option("--zero", "0")), "fsdp_offloads": around["fsdp_offloads"],
                **(dict.fromkeys(offload, "") if fsdp else offload)}
    asked = case.option("--lora-targets", "q_proj,v_proj")
    words = {"rank": int(case.option("--lora-rank", "8")) if adapters else 0, "dora": case.given("--dora"),
             "alpha": int(case.option("--lora-alpha", "16")) if adapters else 0,
             "copies": [each for each in [case.option("--modules-to-save")] if each], "pure": pure and case.own["recipe"] != "fp32",
             "targets": [] if not adapters else ["all"] if asked == "all-linear" else asked.split(",")}
    if case.kind == "trainer":
        return {**common, **around, "dtype": "float32" if wide else "float16" if fp16 else "bfloat16"}
    return {**common, **words, **(around if case.kind == "axolotl" else {})}


def differences(case):
    for key, value in expected(case).items():
        if case.facts.get(key) != value:
            yield f"{key} is {case.facts.get(key)!r}, the estimate has {value!r}"
    if case.kind in ("deepspeed", "accelerate"):
        return
    if case.kind == "trainer" and case.own["trained_parameters"] != case.facts["trained"]:
        yield f"{case.facts['trained']} parameters are trained, the estimate has {case.own['trained_parameters']}"
    shared = case.facts.get("deepspeed", {})
    of_deepspeed = expected_of_deepspeed(case) if shared else {}
    for key, value in of_deepspeed.items():
        if shared[key] != value:
            yield f"DeepSpeed's {key} is {shared[key]!r}, the estimate has {value!r}"
    if bool(shared) != (case.option("--zero") not in ("", "0") and not case.facts.get("fsdp")):
        yield "DeepSpeed works without a ZeRO stage, or does not with one"


def asked(requests):
    done = subprocess.run([packages.PYTHON, "-B", HERE / "training_parse.py", *(packages.wheel(*each) for each in PROGRAMS)], capture_output=True, text=True,
                          input="".join(json.dumps(each) + "\n" for each in requests))
    answers = [json.loads(line) for line in done.stdout.splitlines()]
    return answers + [{"wrong": done.stderr[-500:]}] * (len(requests) - len(answers))


def judged(headroom):
    cases, requests = [Judged(line) for line in points()], []
    for case in cases:
        _, model, machine, options = case.line
        words = [model, "--machine", machine, "--task", "training", *options.split()]
        words += [] if case.given("--runtime") else ["--runtime", runtime_of(case)]
        estimate = subprocess.run([headroom, "estimate", *words, "--json"], capture_output=True, text=True)
        written = subprocess.run([headroom, "launch", *words, "--kind", case.kind], capture_output=True, text=True)
        if written.returncode or not estimate.stdout:
            case.wrong.append(written.stderr.strip() or estimate.stderr.strip())
            continue
        case.own = json.loads(estimate.stdout)
        config = json.loads((CATALOGUE / f"{model.replace('/', '__')}.json").read_text())
        requests.append((case, {"kind": case.kind, "text": written.stdout, "config": config}))
    for (case, _), facts in zip(requests, asked([each for _, each in requests]), strict=True):
        case.facts = facts
        case.wrong += [facts["wrong"]] if "wrong" in facts else differences(case)
    return cases


def started(headroom):
    """Runs each of STARTED for its step, on random tokens or on a file."""
    for name, options, with_file in STARTED:
        case = Judged(("started", name, "rtx-4090", options))
        folder = packages.FOLDER / "models" / f"small-{name}"
        if not (folder / "tokenizer.json").exists():
            subprocess.run([packages.PYTHON, "-B", HERE / "small_model.py", name, json.dumps(SMALL), folder], check=True, capture_output=True)
        words = ["./" + folder.name, "--machine", "rtx-4090", "--task", "training", *options.split()]
        estimate = subprocess.run([headroom, "estimate", *words, "--json"], cwd=folder.parent, capture_output=True, text=True)
        written = subprocess.run([headroom, "launch", *words], cwd=folder.parent, capture_output=True, text=True)
        (folder / "train.py").write_text(written.stdout)
        (folder / "text").write_text("one two three four " * 400)
        ran = subprocess.run([packages.PYTHON, "-B", HERE / "run_training.py", folder / "train.py", *([folder / "text"] if with_file else [])],
                             cwd=folder.parent, capture_output=True, text=True)
        if written.returncode or not estimate.stdout or ran.returncode:
            case.wrong.append((written.stderr or estimate.stderr or ran.stderr).strip().splitlines()[-1])
        else:
            case.own, case.facts = json.loads(estimate.stdout), json.loads(ran.stdout.splitlines()[-1])
            wanted = {"steps": 1, "trained": case.own["trained_parameters"]}
            if not case.given("--modules-to-save"):  # the estimate gives copies the adapters' average
                wanted["state_bytes"] = case.own["optimizer_bytes"]
            case.wrong += [f"{key} is {case.facts[key]}, the estimate has {value}" for key, value in wanted.items()
                           if case.facts[key] != value]
        yield case

"""Commands of the scripts that `headroom launch` writes for many points, as the shell splits them, and its JSON files."""
import json
import os
import subprocess
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

# Model, machine, options. Each is asked of every engine; an engine that has no such thing refuses, which is counted.
SERVED = """
Qwen/Qwen3-32B | 2x a100-sxm-40gb @ dual-epyc-120gb |
Qwen/Qwen3-32B | h100-sxm-80gb | --precision fp8
Qwen/Qwen3-32B | h100-sxm-80gb | --precision fp8-block
Qwen/Qwen3-32B | h100-sxm-80gb | --precision fp8-channel
Qwen/Qwen3-32B | h100-sxm-80gb | --precision awq-int4
llama3-8b | rtx-4090 | --precision nf4
Qwen/Qwen3-32B-AWQ | rtx-4090 |
Qwen/Qwen3-32B-FP8 | h100-sxm-80gb | --kv-precision fp8
nvidia/Qwen3-32B-NVFP4 | b200-sxm-180gb | --kv-precision fp16
Qwen/Qwen3-30B-A3B | 8x h100-sxm-80gb | --tp 4 --ep 4
Qwen/Qwen3-30B-A3B | 8x h100-sxm-80gb | --tp 4 --ep 8 --dp 2
Qwen/Qwen3-30B-A3B | rtx-4070 @ desktop-ddr5-64gb | --precision q4_K_M
Qwen/Qwen3-30B-A3B | rtx-4070 @ desktop-ddr5-64gb | --precision q4_K_M -ngl 99 --n-cpu-moe 40 -nkvo
Qwen/Qwen3-30B-A3B | rtx-4070 @ desktop-ddr5-64gb | --precision q4_K_M -ngl 99 --cpu-moe
gpt-oss-120b | 8x b200-sxm-180gb |
gpt-oss-120b | rtx-4090 |
gpt-oss-20b | 2x rtx-4090 | --batch 16
deepseek-ai/DeepSeek-V3 | 8x b200-sxm-180gb | --context 32k
moonshotai/Kimi-K2-Instruct | 16x h200-sxm-141gb | --tp 8 --pp 2
zai-org/GLM-4.5-Air | 4x h100-sxm-80gb |
Qwen/Qwen3-Next-80B-A3B-Instruct | 4x a100-sxm-80gb |
Llama-3.3-70B-Instruct | 8x b200-sxm-180gb | --batch 300
Llama-3.3-70B-Instruct | 4x mi300x | --kv-precision fp8
Llama-3.3-70B-Instruct | 2x rtx-4090 | --precision q4_K_M
Llama-3.3-70B-Instruct | 2x rtx-4090 | --precision q4_K_M --tensor-split 3,1 --split-mode row
Llama-3.3-70B-Instruct | 8x h100-sxm-80gb | --tp 2 --dp 4
Llama-3.3-70B-Instruct | 8x h100-sxm-80gb | --tp 4 --pp 2 --enforce-eager
llama3-8b | rtx-4090 | --precision q4_K_M --context 4096 --batch 2
llama3-8b | rtx-4090 | --precision q4_K_M --kv-precision q8_0
llama3-8b | rtx-4090 | --precision q4_K_M --kv-precision q4_0
llama3-8b | rtx-4090 | --precision q8_0 --kv-precision bf16
llama3-8b | rtx-4090 | --precision q4_K_M --backend vulkan --flash-attn off --threads 6
llama3-8b | rtx-4090 | --precision q4_K_M -ngl 20
llama3-8b | rtx-4090 | --precision q4_K_M -ngl 99 -ot ffn_down=CPU
llama3-8b | 2x rtx-4090 | --precision q4_K_M --split-mode none --main-gpu 1
llama3-8b | cpu @ desktop-ddr5-64gb | --precision q4_K_M --threads 8
llama3-8b | rtx-4060-laptop-8gb | --precision q4_K_M
llama3-8b | a100-sxm-80gb | --gpu-memory-utilization 0.8 --precision fp16 --kv-precision fp8_e5m2
llama3-8b | a100-sxm-80gb | --precision fp32 --kv-precision fp32
llama3-8b | a100-sxm-80gb | --lora-rank 16 --lora-adapters 2
llama3-8b | a100-sxm-80gb | --precision q8_0 --lora-rank 16 --lora-adapters 2
llama3-8b | a100-sxm-80gb | --cpu-offload-gb 4
llama3-8b | a100-sxm-80gb | --draft-model Llama-3.2-1B --acceptance 0.7
llama3-8b | a100-sxm-80gb | --precision q4_K_M --draft-model Llama-3.2-1B --draft-precision q8_0 --acceptance 0.7
llama3-8b | a100-sxm-80gb | --speculate ngram:4@0.5
llama3-8b | a100-sxm-80gb | --precision q8_0 --speculate ngram:4@0.5
Qwen/Qwen3.5-27B | h100-sxm-80gb | --speculate mtp:2 --text-only
Qwen/Qwen3.5-27B | rtx-5090 | --precision q4_K_M --kv-precision q4_0 --speculate mtp:4 --text-only
Qwen/Qwen2.5-VL-7B-Instruct | rtx-4090 | --images 2 --image-size 640x480
gemma-3-27b-it | 2x rtx-4090 | --precision q8_0
gemma-3-27b-it | 2x a100-sxm-40gb |
gpt2 | rtx-4090 | --precision fp16 --batch 64
microsoft/phi-4 | m2-max-64gb | --precision mlx-4bit
llama3-8b | m2-max-64gb | --precision mlx-4bit --kv-precision int8_g64
llama3-8b | m2-max-64gb | --precision mlx-mxfp4
Qwen/Qwen3-30B-A3B | m2-max-64gb | --precision mlx-8bit --batch 4
llama3-8b | m2-max-64gb |
unsloth/Qwen3-8B-GGUF:Q4_K_M | rtx-4090 |
facebook/opt-30b | rtx-3090 @ desktop-ddr5-64gb | --precision bf16
facebook/opt-30b | rtx-3090 @ desktop-ddr5-64gb | --precision fp16 --ram-budget 32GB --disk 500GB
"""
# Points that an engine is asked besides.
OWN = {"tensorrt-llm": [("Qwen/Qwen3-30B-A3B", "8x h100-sxm-80gb", "--tp 4 --ep 4 --enforce-eager --precision fp16 --kv-precision fp8 "
                         "--prompt-tokens 20000")]}
COMMANDS = ["vllm", "python3", "llama-server", "mlx_lm.server", "mlx_lm.convert", "trtllm-serve"]
RECORDER = '#!/bin/sh\nprintf "%s\\0" "${0##*/}" "$@" >>"$RECORD"\nprintf "\\036" >>"$RECORD"\n'


class Launch:
    """One point for one engine: `commands` are lists of words, `refused` headroom's own reason."""

    def __init__(self, runtime, line):
        self.runtime, self.line = runtime, line
        self.commands, self.refused = [], ""


def lines():
    return [tuple(part.strip() for part in line.split("|")) for line in SERVED.strip().split("\n")]


def commands_of(script, folder):
    """Runs a script where each command only writes down its words. A file that the script writes is given by its text."""
    (folder / "script").write_text(script)
    record = folder / "record"
    path = f"{folder.parent / 'bin'}{os.pathsep}{os.environ['PATH']}"
    subprocess.run(["sh", "script"], cwd=folder, check=True, env={**os.environ, "PATH": path, "RECORD": str(record),
                                                                  "CHECKPOINT": "org/name"})
    written = {each.name: each.read_text() for each in folder.iterdir() if each not in (record, folder / "script")}
    return [[written.get(word, word) for word in each.split("\0")[:-1]] for each in record.read_text().split("\x1e")[:-1]]


def launched(headroom, runtime, line, scratch):
    launch, (model, machine, options) = Launch(runtime, line), line
    done = subprocess.run([headroom, "launch", model, "--machine", machine, "--runtime", runtime, *options.split()],
                          capture_output=True, text=True)
    if done.returncode != 0:
        launch.refused = done.stderr.strip() or f"ended with {done.returncode}"
    elif done.stdout.startswith("{"):
        launch.commands = [[runtime, done.stdout]]
    else:
        launch.commands = commands_of(done.stdout, Path(tempfile.mkdtemp(dir=scratch)))
    return launch


def launches(headroom, runtimes):
    """Every line for every runtime."""
    with tempfile.TemporaryDirectory() as scratch, ThreadPoolExecutor() as pool:
        (Path(scratch) / "bin").mkdir()
        for name in COMMANDS:
            file = Path(scratch) / "bin" / name
            file.write_text(RECORDER)
            file.chmod(0o755)
        points = [(runtime, line) for runtime in runtimes for line in lines() + OWN.get(runtime, [])]
        return list(pool.map(lambda each: launched(headroom, *each, scratch), points))

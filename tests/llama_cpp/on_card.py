#!/usr/bin/env python3
"""Measures llama.cpp on this computer's card with models of random weights; one row of CSV a case.

usage: on_card.py ON_CARD OUT.csv [--folder /dev/shm] [--seconds 240]

ON_CARD is on_card.cpp, built with llama.cpp's CUDA back end. The next model's file is written while one is measured.
Files lie in memory, so load times are those of a warm page cache. Cases with weights in host memory come last, when
no file is written beside them. Cases that no time is left for are not in the file.
"""
import argparse
import csv
import multiprocessing
import pathlib
import subprocess
import time

from headers import archived
from random_weights import Deep

COLUMNS = ("model recipe context sequences ubatch flash kv layers cpu_experts prompt output state card_weights_bytes card_cache_bytes "
           "card_compute_bytes host_weights_bytes host_cache_bytes host_compute_bytes used_before_mib used_idle_mib used_end_mib "
           "load_s prefill_s decode_step_s").split()
ALL = 999
USUAL = [(4096, 1, 512, 1, "f16", ALL, 0, 512, 128), (16384, 1, 512, 1, "f16", ALL, 0, 8192, 64), (2048, 8, 512, 1, "f16", ALL, 0, 512, 64)]
FURTHER = [(4096, 1, 2048, 1, "f16", ALL, 0, 2048, 64), (4096, 1, 512, 0, "f16", ALL, 0, 512, 64), (4096, 1, 512, 1, "q8_0", ALL, 0, 512, 64),
           (2048, 32, 512, 1, "f16", ALL, 0, 512, 32)]


def parts(layers):
    """A part of the layers on the card, down to none."""
    return [(4096, 1, 512, 1, "f16", layers * i // 4, 0, 512, 16) for i in (3, 2, 1, 0)]


def experts(layers):
    """The experts of a part of the layers in host memory."""
    return [(4096, 1, 512, 1, "f16", ALL, layers * i // 2, 512, 16) for i in (1, 2)]


# Name, layers, the header's layer that each repeats, recipe, changes of the header, cases, cases with weights on the host.
MODELS = [
    ("mistralai/Mistral-7B-v0.1", 32, lambda i: i % 4, "q4_K_M", {}, USUAL + FURTHER, parts(32)),
    ("openai/gpt-oss-20b", 24, lambda i: i % 4, "mxfp4_moe",
     {"head": "openai__gpt-oss-120b", "counts": {"expert_count": 32}, "widths": {128: 32}}, USUAL + FURTHER, experts(24) + parts(24)[1:2]),
    ("Qwen/Qwen3.5-27B", 64, lambda i: i % 4, "q4_K_M",
     {"counts": {"nextn_predict_layers": 0}, "dropped": ["attention.recurrent_layers"]}, USUAL + FURTHER[:2], parts(64)[1:3]),
    ("mistralai/Mistral-7B-v0.1", 32, lambda i: i % 4, "q8_0", {}, USUAL, []),
    ("zai-org/GLM-4.7-Flash", 47, lambda i: min(i, 1), "q4_K_M", {}, USUAL + FURTHER[:2], []),
    ("mistralai/Mistral-7B-v0.1", 32, lambda i: i % 4, "f16", {}, USUAL, []),
    ("google/gemma-2-27b", 46, lambda i: i % 4, "q4_K_M", {}, USUAL + FURTHER[1:2], []),
    ("allenai/OLMoE-1B-7B-0924", 16, lambda i: i % 4, "q4_K_M", {}, [each for each in USUAL if each[0] <= 4096], experts(16)[1:]),
    ("Qwen/Qwen3-0.6B", 28, lambda i: i % 4, "q8_0", {}, USUAL, []),
    ("01-ai/Yi-34B", 60, lambda i: i % 4, "q4_K_M", {}, USUAL[:1] + USUAL[2:], []),
]


def write(number, path, limit):
    name, layers, pattern, recipe, more, _, _ = MODELS[number]
    head = more.get("head", name.replace("/", "__"))
    data = next(data for _, each, data in archived() if each == head)
    deep = Deep(data, min(layers, limit or layers), pattern, recipe, more.get("counts"), more.get("widths"), more.get("dropped", ()))
    deep.write(path)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("program")
    parser.add_argument("out")
    parser.add_argument("--folder", default="/dev/shm")
    parser.add_argument("--seconds", type=float, default=240)
    parser.add_argument("--host-seconds", type=float, default=60, help="of these, for cases with weights on the host")
    parser.add_argument("--layers", type=int, help="at most so many layers of each model, for a trial")
    parser.add_argument("--models", type=int, nargs="+", default=range(len(MODELS)), help="by their place in MODELS")
    args = parser.parse_args()
    end = time.monotonic() + args.seconds
    paths = {i: pathlib.Path(args.folder) / f"model-{i}.gguf" for i in args.models}
    order, writers = list(paths), {}

    def begin(at):
        if at < len(order):
            writers[order[at]] = multiprocessing.Process(target=write, args=(order[at], paths[order[at]], args.layers))
            writers[order[at]].start()

    begin(0)
    begin(1)
    with open(args.out, "w", newline="") as out:
        rows = csv.writer(out)
        rows.writerow(COLUMNS)

        def measure(number, cases, until):
            for case in cases:
                if time.monotonic() < until:
                    text = ":".join(map(str, case))
                    done = subprocess.run([args.program, paths[number], text], capture_output=True, text=True)
                    said = (done.stdout.splitlines() or [f"refused,exit {done.returncode}"])[0].split(",")
                    rows.writerow([MODELS[number][0], MODELS[number][3], *case, *said])
                    out.flush()
                    print(MODELS[number][0], MODELS[number][3], text, *said, flush=True)

        for at, number in enumerate(order):
            writers[number].join()
            begin(at + 2)
            measure(number, MODELS[number][5], end - args.host_seconds)
            if not MODELS[number][6]:
                paths[number].unlink()
        for number in order:
            measure(number, MODELS[number][6], end)
            paths[number].unlink(missing_ok=True)


if __name__ == "__main__":
    main()

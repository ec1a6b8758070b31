#!/usr/bin/env python3
"""Appends what was measured on a card to the tables of held_out/, in the words of sources.

usage: rows.py FOLDER

FOLDER holds machine.json and the files of on_card.py, transformers_on_card.py and the probe. Every case is a row, but:
  * load times are of the first case of a model, and none is of a virtual disk;
  * prompts of several sequences are left out, since they go through one after the other;
  * sizes of weights are left out, since the files are our own; so is the memory of models in `other_memory`;
  * the bandwidth of a host with layers is that of the run's threads, which are half of its cores.
One source is one engine on one machine. All rows go to held_out/, and no constant is fitted to them. They are appended
before any estimate is looked at.
"""
import csv
import json
import pathlib
import re
import sys

HERE = pathlib.Path(__file__).resolve().parent.parent
COLUMNS = ("id category model params_b precision task gpu gpu_count cpu ram_gb batch prompt_len output_len settings quantity unit value "
           "stat grade source notes").split()
RECIPES = {"q4_K_M": "Q4_K_M", "q8_0": "Q8_0", "f16": "F16", "mxfp4_moe": "mxfp4-moe"}
SHORT = {"decode_speed": "des", "inference_memory": "inm", "offload_speed": "ofs", "training_memory": "trm", "training_speed": "trs"}
MIB = 1 << 20


class Tables:
    """Rows by table, with the numbers that follow those already there."""

    def __init__(self, machine):
        self.machine, self.rows = machine, {}

    def add(self, category, engine, model, quantity, unit, value, **more):
        source = f"headroom measurement: {engine}, {self.machine['title']}, {self.machine['date']}"
        row = {"category": category, "model": model, "gpu": self.machine["gpu"], "gpu_count": 1, "cpu": self.machine["cpu"],
               "ram_gb": self.machine["ram_gb"], "quantity": quantity, "unit": unit, "value": f"{value:.9g}", "grade": "A", "source": source,
               "stat": ""} | more
        self.rows.setdefault(category, []).append(row)

    def write(self):
        for category, rows in self.rows.items():
            path = HERE / "held_out" / f"{category}.csv"
            with open(path, newline="") as file:
                last = list(csv.DictReader(file))[-1]["id"]
            number = int(re.search(r"\d+$", last)[0])
            with open(path, "a", newline="") as file:
                table = csv.DictWriter(file, COLUMNS, restval="", lineterminator="\n")
                for row in rows:
                    number += 1
                    table.writerow(row | {"id": f"held-out-{SHORT[category]}-{number:04d}"})


def read(path):
    if not path.exists():
        return []
    with open(path, newline="") as file:
        return [row for row in csv.DictReader(file) if row.get("state", row.get("status")) in ("measured", "ok")]


def llama_cpp(tables, folder, engine):
    loaded = set()
    for row in read(folder / "llama_cpp.csv"):
        sequences, prompt, output = int(row["sequences"]), int(row["prompt"]), int(row["output"])
        layers, experts = int(row["layers"]), int(row["cpu_experts"])
        host = layers < 999 or experts > 0
        settings = f"framework={engine};ngl={layers};fa={row['flash']};n_ubatch={row['ubatch']};ctx={row['context']}"
        settings += f";n_cpu_moe={experts}" if experts else ""
        settings += f";threads={tables.machine['threads']}" if host else ""
        settings += ";q8_0 kv" if row["kv"] == "q8_0" else ""
        what = {"precision": RECIPES[row["recipe"]], "batch": sequences, "settings": settings, "task": "inference",
                "cpu": tables.machine["cpu"] + "; measured " + tables.machine["ram_gbs"][str(tables.machine["threads"])] + " GB/s",
                "notes": "random weights"}
        lengths = {"prompt_len": prompt, "output_len": output}
        used = float(row["used_end_mib"]) - float(row["used_before_mib"])
        if row["model"] not in tables.machine["other_memory"]:
            tables.add("inference_memory", engine, row["model"], "vram_used", "MiB", used, **what, **lengths)
        speed = "offload_speed" if host else "decode_speed"
        what["task"] = "decode"
        tables.add(speed, engine, row["model"], "decode_speed", "tokens/s", sequences / float(row["decode_step_s"]), **what, **lengths)
        if sequences == 1:
            what["task"] = "prefill"
            tables.add(speed, engine, row["model"], "prefill_speed", "tokens/s", prompt / float(row["prefill_s"]), **what, prompt_len=prompt,
                       output_len=0)
        if not host and (row["model"], row["recipe"]) not in loaded:
            loaded.add((row["model"], row["recipe"]))
            what["settings"] += ";page_cache=warm"
            tables.add("offload_speed", engine, row["model"], "model_load_time", "s", float(row["load_s"]), **what, **lengths)


def generation(tables, rows, engine, remark):
    for row in rows:
        eager = row["attention"] == "eager" and row["model"] not in tables.machine["eager_alone"]
        settings = f"framework={engine};{'eager attention' if eager else 'usual attention' + remark}"
        what = {"precision": "bf16", "batch": row["batch"], "prompt_len": row["tokens"], "settings": settings,
                "notes": "random weights; generate() with greedy search"}
        model = row["model"]
        tables.add("inference_memory", engine, model, "max_memory_allocated_total", "bytes", int(row["allocated_bytes"]), **what,
                   task="inference", output_len=row["output"])
        tables.add("decode_speed", engine, model, "decode_speed", "tokens/s", int(row["batch"]) / float(row["step_s"]), **what, task="decode",
                   output_len=row["output"])
        tables.add("decode_speed", engine, model, "prefill_time", "s", float(row["ttft_s"]), **what, task="prefill", output_len=1)


def training(tables, folder, versions):
    for row in read(folder / "training.csv"):
        engine = f"HF Trainer {versions}" if row["loop"] == "trainer" else f"torch loop {versions}"
        pure = row["recipe"] == "pure-bf16"
        settings = f"framework={engine};optimizer={row['optimizer']};attention={row['attention']}"
        settings += ";gradient_checkpointing" if row["checkpointing"] == "full" else ""
        settings += f";rank={row['rank']};targets=all-linear" if row["rank"] != "0" else ""
        what = {"precision": "bf16-true" if pure else "bf16 mixed", "task": "LoRA" if row["rank"] != "0" else "full finetune",
                "batch": row["batch"], "prompt_len": row["tokens"], "settings": settings, "notes": "random weights"}
        for quantity, unit, value in (("peak_allocated_per_gpu", "bytes", row["allocated_bytes"]),
                                      ("max_memory_reserved", "bytes", row["reserved_bytes"]), ("gpu_memory_nvml", "MiB", row["used_mib"])):
            tables.add("training_memory", engine, row["model"], quantity, unit, int(value), **what)
        tables.add("training_speed", engine, row["model"], "step_time", "s", float(row["step_s"]), **what)


def streamed(tables, folder, versions):
    """Layers that accelerate copies to the card for every token; rows with layers on the disk are left out."""
    engine = f"transformers {versions}"
    for row in read(folder / "probe.csv"):
        on_card, on_host, on_disk = (int(row[f"layers_{each}"]) for each in ("gpu", "cpu", "disk"))
        if on_disk or not row["device_map"].count('"0"'):
            continue
        what = {"precision": row["precision"], "batch": row["batch"], "prompt_len": row["prompt_tokens"], "notes": "random weights",
                "settings": f"framework={engine};gpu_layers={on_card};max_memory={row['allocation_bytes']} bytes;cuDNN"}
        tables.add("offload_speed", engine, row["model"], "decode_speed", "tokens/s", float(row["tokens_s"]), **what, task="decode",
                   output_len=row["output_tokens"])
        tables.add("offload_speed", engine, row["model"], "prefill_time", "s", float(row["ttft_s"]), **what, task="prefill", output_len=1)


def main():
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    folder = pathlib.Path(sys.argv[1])
    machine = json.loads((folder / "machine.json").read_text())
    tables = Tables(machine)
    llama_cpp(tables, folder, machine["llama_cpp"])
    whole = read(folder / "inference.csv")
    versions = f"{machine['transformers']} torch {machine['torch']}"
    generation(tables, [row for row in whole if row["attention"] == "sdpa"], f"transformers {versions}", " (cuDNN)")
    generation(tables, [row for row in whole if row["attention"] == "eager"], f"transformers {versions}", "")
    generation(tables, read(folder / "inference_without_cudnn.csv"), f"transformers {versions}", "")
    training(tables, folder, versions)
    streamed(tables, folder, versions)
    tables.write()


if __name__ == "__main__":
    main()

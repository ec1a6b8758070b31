"""ENGINES.md: what the engines say to the commands of `headroom launch`."""
from dataclasses import dataclass
from pathlib import Path

FILE = Path(__file__).resolve().with_name("ENGINES.md")
MEASURED = "## Memory of the recorded run"
HEAD = """# Commands of `headroom launch`, judged by the engines

Written by `tests/engines/judge.py HEADROOM --record`; `tests/run.sh --long` compares it and fails where an engine refuses an option.
Each engine's own parser of arguments, or class of its configuration, reads what the scripts say. No card is used.

| runtime | judged by | points | not written | commands | options | refused | deprecated |
|---|---|---:|---:|---:|---:|---:|---:|
"""
LEFT_OUT = """
A point is a line of [launches.py](launches.py). `not written`: headroom says that the engine cannot run it.
Rows of engines stand for several versions; the judge is one of them, the last where that is published.
Packages that an engine imports but that parsing does not need are stood in for ([missing.py](missing.py)).

Not judged:

* vLLM before 0.10 and SGLang before 0.4.9, which need torch, triton and transformers of their day
* llama.cpp b6325 to b9775, and its Vulkan rows before b9776
* ollama, whose parser is in Go, and LM Studio, which has no package
* transformers before 5, and bitsandbytes, which needs a card

TensorRT-LLM is judged where `build/engines/tensorrt_llm-1.3.0rc3/` has its source: registries have an installer alone, which fetches
the wheel from elsewhere. Without it the options are held against the list below. Its parser and `LlmArgs` are its own; files that
these import are stood in for ([tensorrt_parser.py](tensorrt_parser.py)).

[slurm.sh](../slurm.sh) starts Slurm's job.
"""
TRAINED = """
## Files for training

Each file of `headroom launch --task training` is read by the classes of its program:

* transformers' `TrainingArguments` and its choice of an optimizer, PEFT's `LoraConfig`, DeepSpeed's `DeepSpeedConfig`
* the parser of LLaMA-Factory 0.9.5, the schema of axolotl 0.19.0, the arguments of `accelerate launch`

They must read what the options say: batch, passes, sequence, types, recomputation, stage, offload, adapters. PEFT must train as many
parameters as the estimate has. An optimizer whose package is not installed is judged by its name alone.

Not started: DeepSpeed, FSDP and bitsandbytes, which need cards; LLaMA-Factory and axolotl, whose packages are not installed.

| file | options | differs | optimizer |
|---|---|---:|---|
"""
RUN = """
Scripts of the Trainer, started on the CPU for one step of a small model. Trained parameters and bytes of optimizer states are equal to
those of the estimate. For modules trained beside adapters it takes the adapters' average of states.

| model | options | trained | states, bytes | estimate, bytes |
|---|---|---:|---:|---:|
"""
PLACED = """
## Scripts of transformers, started

Models of random weights, on the CPU, within a budget of RAM. Layers must be where the estimate has them; bytes are those of the
parameters and buffers that `hf_device_map` puts there.

| model | RAM | device | layers | headroom, bytes | transformers, bytes |
|---|---|---|---|---:|---:|
"""


@dataclass
class Row:
    runtime: str
    package: str
    points: list
    commands: list  # lists of words
    said: list  # (point, message)

    def refused(self):
        return [each for each in self.said if not each[1].startswith("deprecated")]

    def options(self):
        return sorted({word for words in self.commands for word in words if word.startswith("--")})


def of_engines(rows):
    for row in rows:
        cells = [row.runtime, row.package, len(row.points), sum(1 for each in row.points if each.refused), len(row.commands),
                 len(row.options()), len(row.refused()), len(row.said) - len(row.refused())]
        yield f"| {' | '.join(map(str, cells))} |\n"


def of_options(rows):
    yield "\nOptions that were tried:\n\n"
    for row in rows:
        if row.options():
            yield f"* {row.runtime}: {', '.join(f'`{each}`' for each in row.options())}\n"


def options_tried(page, runtime):
    """The options of a runtime's line of `of_options`."""
    lines = [line.split("`")[1::2] for line in page.splitlines() if line.startswith(f"* {runtime}: ")]
    return lines[0] if lines else []


def of_devices(placed):
    for case in placed:
        for device, own in case.own.items():
            real = case.real.get("bytes", {}).get(device, "")
            yield f"| {case.name} | {case.budget} | {device} | {own['layers'] or 'none'} | {own['weights_bytes']} | {real} |\n"


def of_memory(placed):
    yield f"\n{MEASURED}\n\nNot compared. The estimate has the process of a machine with cards, whose libraries are larger.\n\n"
    yield "| model | RAM | tensors held, MiB | peak resident, MiB | estimate, MiB |\n|---|---|---:|---:|---:|\n"
    for case in placed:
        if case.real:
            cells = [case.real["held_bytes"], case.real["peak_bytes"], case.own["cpu"]["total_bytes"]]
            yield f"| {case.name} | {case.budget} | {' | '.join(str(round(each / 2**20)) for each in cells)} |\n"


def of_training(files, started):
    yield TRAINED
    for case in files:
        optimizer = case.facts.get("class") or case.facts.get("optim") or case.facts.get("optimizer", "")
        yield f"| {case.kind} | `{case.line[1]}`, {case.line[2]} `{case.line[3]}` | {len(case.wrong)} | {optimizer} |\n"
    yield RUN
    for case in started:
        cells = [case.facts.get("trained", ""), case.facts.get("state_bytes", ""), case.own.get("optimizer_bytes", "")]
        yield f"| {case.line[1]} | `{case.line[3]}` | {' | '.join(map(str, cells))} |\n"


def text(rows, placed, files, started):
    return "".join([HEAD, *of_engines(rows), LEFT_OUT, *of_options(rows), *of_training(files, started), PLACED, *of_devices(placed),
                    *of_memory(placed)])


def compared(page):
    """The part that must not change: without what was measured."""
    return page.split(MEASURED)[0]

#!/usr/bin/env python3
"""Holds what `headroom launch` writes against the engines' own parsers of arguments and classes of configurations.

usage: judge.py HEADROOM            installs the engines' packages below build/engines, asks them, compares ENGINES.md
       judge.py HEADROOM --record   also writes tests/engines/ENGINES.md

Fails where an engine refuses an option, and where a generated script of transformers does not run on the CPU. Also where that
script places a layer elsewhere than headroom, and where a file for training says something else than the estimate. Needs a network once, g++ and 15 GB of disk. Uses no card.
"""
import json
import subprocess
import sys
from pathlib import Path

import launches
import llama_parser
import packages
import page
import placements
import training

HERE = Path(__file__).resolve().parent
# headroom's engine, its package and version. A row of engines that is not here is not judged.
VLLM = {"vllm": "0.33.0", "vllm-0.32": "0.32.0", "vllm-0.27": "0.27.1", "vllm-0.25": "0.25.1", "vllm-0.19": "0.19.1", "vllm-0.15": "0.15.1", "vllm-0.13": "0.13.0", "vllm-0.10": "0.10.2"}
SGLANG = {"sglang": "0.5.23", "sglang-0.5.2": "0.5.2"}
LLAMA_CPP = {"llama.cpp": ("llama-cpp-python", "0.3.36", "llama.cpp"), "llama.cpp-b6324": ("llama-cpp-python", "0.3.16", "llama.cpp"),
             "llama.cpp-b3120": ("llama-cpp-python", "0.2.78", "llama.cpp"), "ik_llama.cpp": ("ik-llama-cpp-python", "0.1.5", "ik_llama.cpp")}
LLAMA_CPP["llama.cpp-vulkan"] = LLAMA_CPP["llama.cpp-tensor"] = LLAMA_CPP["llama.cpp"]
LLAMA_CPP["ik_llama.cpp-graph"] = LLAMA_CPP["ik_llama.cpp"]
# Registries have an installer alone, which fetches the wheel from elsewhere: whoever has the source puts it into this folder.
TENSORRT = packages.FOLDER / "tensorrt_llm-1.3.0rc3"
DEEPSPEED = ["deepspeed-inference", "zero-inference"]


def asked(engine, folder, commands):
    """The answers of parse.py, in one process."""
    done = subprocess.run([packages.PYTHON, "-B", HERE / "parse.py", engine, folder], capture_output=True, text=True,
                          input="".join(json.dumps(each) + "\n" for each in commands))
    if done.returncode != 0:
        sys.exit(f"{engine} in {folder}: {done.stderr[-2000:]}")
    return [json.loads(line) for line in done.stdout.splitlines()]


def tensorrt(commands):
    """Asks the source where it is at hand. Elsewhere only options that it was seen to take are taken."""
    if TENSORRT.is_dir():
        return asked("tensorrt_llm", TENSORRT, commands)
    tried = page.options_tried(page.FILE.read_text(), "tensorrt-llm")
    return [[f"{word} was not tried" for word in words if word.startswith("--") and word not in tried] for words in commands]


def judges():
    """(runtime, package, version, function from commands to answers) of each engine."""
    for runtime, version in VLLM.items():
        yield runtime, "vllm", version, lambda commands, at=version: asked("vllm", packages.wheel("vllm", at), commands)
    for runtime, version in SGLANG.items():
        yield runtime, "sglang", version, lambda commands, at=version: asked("sglang", packages.wheel("sglang", at), commands)
    for runtime, (package, version, vendor) in LLAMA_CPP.items():
        yield runtime, package, version, lambda commands, of=(package, version, vendor): llama_parser.answers(
            llama_parser.program(packages.source(*of), f"parser-{of[0]}-{of[1]}"), [words[1:] for words in commands])
    yield "mlx-lm", "mlx-lm", "0.32.2", lambda commands: asked("mlx_lm", packages.wheel("mlx-lm", "0.32.2"), commands)
    yield "tensorrt-llm", *TENSORRT.name.split("-"), tensorrt
    for runtime in DEEPSPEED:
        yield runtime, *packages.DEEPSPEED.split("=="), lambda commands: asked("deepspeed", packages.FOLDER, commands)


def main(headroom, record):
    packages.install()
    rows, wrong = [], []
    for runtime, package, version, answers_of in judges():
        points = launches.launches(headroom, [runtime])
        commands = [(point, words) for point in points for words in point.commands]
        answers = answers_of([words for _, words in commands])
        refused = [(point, each) for (point, _), said in zip(commands, answers, strict=True) for each in said]
        rows.append(page.Row(runtime, f"{package} {version}", points, [words for _, words in commands], refused))
        wrong += [f"{runtime}: {' | '.join(point.line)}: {each}" for point, each in rows[-1].refused()]
    written = {point.line for row in rows for point in row.points if point.commands}
    wrong += [f"no engine has a command for {' | '.join(line)}" for line in launches.lines() if line not in written]
    placed = placements.judged(headroom)
    wrong += [each for case in placed for each in case.wrong]
    files, started = training.judged(headroom), list(training.started(headroom))
    wrong += [f"{' | '.join(case.line)}: {each}" for case in [*files, *started] for each in case.wrong]
    text = page.text(rows, placed, files, started)
    if record:
        page.FILE.write_text(text)
    elif page.compared(page.FILE.read_text()) != page.compared(text):
        wrong.append(f"{page.FILE.name} is another: look at the difference after judge.py --record")
    print(*wrong, f"{len(rows)} engines, {sum(len(row.commands) for row in rows)} commands, {len(files)} files, {len(wrong)} wrong", sep="\n")
    return 1 if wrong else 0


if __name__ == "__main__":
    if len(sys.argv) not in (2, 3) or sys.argv[2:] not in ([], ["--record"]):
        sys.exit(__doc__)
    sys.exit(main(Path(sys.argv[1]).resolve(), len(sys.argv) == 3))

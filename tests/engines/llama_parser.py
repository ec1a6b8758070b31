"""llama_args.cpp with the parser of a source tree of llama.cpp or ik_llama.cpp: minutes of one core, without the library.

Functions that parsing never calls are left unresolved. A call to one ends the program, which counts as a refusal.
"""
import subprocess
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import packages

OWN = Path(__file__).with_name("llama_args.cpp")
FILES = ["arg.cpp", "common.cpp", "log.cpp", "preset.cpp", "sampling.cpp", "speculative.cpp"]


def compile_one(file, into, flags):
    out = into / f"{file.stem}.o"
    if not out.exists() or out.stat().st_mtime < file.stat().st_mtime:
        compiler = ["gcc", "-D_GNU_SOURCE"] if file.suffix == ".c" else ["g++", "-std=c++20"]
        subprocess.run([*compiler, "-O0", "-w", *flags, "-c", file, "-o", out], check=True)
    return out


def program(tree, name):
    """The program for the files of `tree`, below build/engines/NAME."""
    into = packages.FOLDER / name
    into.mkdir(parents=True, exist_ok=True)
    (into / "ggml-version.h").write_text("")  # made by cmake
    flags = ['-DGGML_VERSION=""', '-DGGML_COMMIT=""']
    flags += [f"-I{each}" for each in (into, tree, *(tree / part for part in ("common", "include", "ggml/include", "vendor", "src", "ggml/src")))]
    ggml = tree / "ggml/src/ggml.c"
    files = [OWN, ggml if ggml.exists() else tree / "ggml.c", *(tree / "common" / each for each in FILES if (tree / "common" / each).exists())]
    with ThreadPoolExecutor() as pool:
        objects = list(pool.map(lambda file: compile_one(file, into, flags), files))
    subprocess.run(["g++", *objects, "-o", into / "args", "-no-pie", "-pthread", "-Wl,--unresolved-symbols=ignore-all"], check=True)
    return into / "args"


def answers(program, commands):
    """For each command [] where the parser takes it, else its message. Each has a process of its own: state is global."""
    def one(words):
        done = subprocess.run([program], input="\t".join(words) + "\n", capture_output=True, text=True)
        if done.stdout.endswith("taken\n") or "built without CURL" in done.stderr:  # before 2026 parsing downloads --hf-repo
            return []
        return [next((line for line in done.stderr.split("\n") if "error" in line), f"ended with {done.returncode}")]

    with ThreadPoolExecutor() as pool:
        return list(pool.map(one, commands))

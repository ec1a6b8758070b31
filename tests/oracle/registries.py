#!/usr/bin/env python3
"""Brings tests/oracle/data/registries.csv up to date: the class names that vLLM and SGLang know.

usage: registries.py names VLLM SGLANG
       registries.py states TEST_PROGRAM

VLLM and SGLANG are wheels, or folders that hold the unpacked packages. `names` reads the lists of
names and keeps what the table says of each. `states` asks test_oracle which classes the program
describes (Registries.StatesAreTheProgramsOwn records them) and fills the column `state`. It keeps
the reason of a refused class, and clears that of a described one.
"""
import ast
import csv
import fnmatch
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import zipfile

TABLE = pathlib.Path(__file__).parent / "data" / "registries.csv"
EMBEDDED = pathlib.Path(__file__).parents[2] / "model/describe/catalogue/engine_classes.tsv"
COLUMNS = ["registry", "group", "class", "state", "of", "reason"]
UNDESCRIBED = "no description"

# vLLM's lists in vllm/model_executor/models/registry.py. A name of several lists has the first one's group.
VLLM_LISTS = {
    "_TEXT_GENERATION_MODELS": "text generation",
    "_MULTIMODAL_MODELS": "multimodal",
    "_TRANSFORMERS_SUPPORTED_MODELS": "text generation",
    "_EMBEDDING_MODELS": "embedding",
    "_LATE_INTERACTION_MODELS": "late interaction",
    "_REWARD_MODELS": "reward",
    "_TOKEN_CLASSIFICATION_MODELS": "token classification",
    "_SEQUENCE_CLASSIFICATION_MODELS": "sequence classification",
    "_SPECULATIVE_DECODING_MODELS": "speculative decoding",
    "_TRANSFORMERS_BACKEND_MODELS": "no model",
}

# Names that stand for a way to run a model, not for a model. They are left out of the shares.
NO_MODEL = [
    (r"Transformers\w*|MindSpore\w+", "runs the class that the checkpoint names, with another library's code"),
    (r"TorchNative\w+|QuantMixtralForCausalLM", "a second implementation of a class that the checkpoint names otherwise"),
    (r"Terratorch", "loads a model of another library from the checkpoint's own description"),
    (r"ExtractHiddenStatesModel", "has no weights: it stores hidden states of the model that it runs with"),
]

# SGLang has one list. The first pattern that the name fits gives its group; else the module says whether the class
# takes images or sound.
SGLANG_GROUPS = [
    ("speculative decoding", r"\w*(NextN|MTP|Eagle\d?|DFlash\w*|DSpark\w*|LiLiCorr\w*|Assistant\w*)|(Eagle|DFlash|DSpark|LiLiCorr|MiniMaxDFlash|LingDSpark|Lfm2DSpark|Qwen3DSpark)\w*|\w+AssistantModel"),
    ("reward", r"\w+RewardModel|\w+WithNormal_Weights"),
    ("sequence classification", r"\w+(ForSequenceClassification|ForClassification)"),
    ("embedding", r"\w*Embedding\w*|Contriever|(Bert|XLMRoberta|Mistral|Lfm2Bidirectional|CLIP|Gemma3Text)Model"),
]


def files_of(path, pattern):
    """(name, text) of the files of a wheel or a folder that fit the pattern."""
    if zipfile.is_zipfile(path):
        with zipfile.ZipFile(path) as archive:
            for name in sorted(archive.namelist()):
                if fnmatch.fnmatch(name, pattern):
                    yield name, archive.read(name).decode()
        return
    for file in sorted(pathlib.Path(path).rglob("*.py")):
        name = file.relative_to(path).as_posix()
        if fnmatch.fnmatch(name, pattern):
            yield name, file.read_text()


def vllm_names(path):
    found = {}
    for _, text in files_of(path, "vllm/model_executor/models/registry.py"):
        lists = {}
        for node in ast.parse(text).body:
            target = node.targets[0] if isinstance(node, ast.Assign) else getattr(node, "target", None)
            if isinstance(target, ast.Name) and target.id in VLLM_LISTS and isinstance(node.value, ast.Dict):
                lists[target.id] = node.value
        for name, group in VLLM_LISTS.items():
            for key, value in zip(lists[name].keys, lists[name].values):
                if key is None:  # a list taken over from another
                    continue
                images = "MultiModal" in ast.unparse(value)  # the class that runs it says so
                found.setdefault(key.value, "multimodal" if images and group == "text generation" else group)
    return found


def sglang_names(path, like):
    """`like`: groups of vLLM's names, which apply to the same names here."""
    found = {}
    for _, text in files_of(path, "sglang/srt/models/*.py"):
        multimodal = "def pad_input_ids" in text
        for node in ast.parse(text).body:
            if not isinstance(node, ast.Assign) or getattr(node.targets[0], "id", "") != "EntryClass":
                continue
            for each in node.value.elts if isinstance(node.value, (ast.List, ast.Tuple)) else [node.value]:
                group = next((g for g, p in SGLANG_GROUPS if re.fullmatch(p, each.id)), None)
                found[each.id] = like.get(each.id) or group or ("multimodal" if multimodal else "text generation")
    return found


def read():
    if not TABLE.exists():
        return {}
    with open(TABLE, newline="") as file:
        return {(row["registry"], row["class"]): row for row in csv.DictReader(file)}


def write(rows):
    with open(TABLE, "w", newline="") as file:
        writer = csv.DictWriter(file, COLUMNS, lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)
    write_embedded(rows)


def write_embedded(rows):
    """The names for the program's messages: a sorted table of classes and the engines that load them."""
    engines = {}
    for row in rows:
        if row["group"] != "no model":
            engines.setdefault(row["class"], set()).add({"vllm": "vLLM", "sglang": "SGLang"}[row["registry"]])
    text = ("# Classes that vLLM 0.33.0 and SGLang 0.5.23 load, from their registries; "
            "written by tests/oracle/registries.py.\n")
    text += "".join(f"{name}\t{' and '.join(sorted(engines[name], reverse=True))}\n" for name in sorted(engines))
    EMBEDDED.write_text(text)


def names(vllm, sglang):
    known = read()
    groups = vllm_names(vllm)
    rows = []
    for registry, all_names in (("vllm", groups), ("sglang", sglang_names(sglang, groups))):
        for name, group in sorted(all_names.items(), key=lambda each: (each[1], each[0].lower(), each[0])):
            why = next((reason for pattern, reason in NO_MODEL if re.fullmatch(pattern, name)), "")
            row = known.get((registry, name), {"state": "refused", "of": "", "reason": why or UNDESCRIBED})
            rows.append(row | {"registry": registry, "group": "no model" if why else group, "class": name})
    write(rows)
    print(len(rows), "rows")


def described(program):
    """Class -> the first class with the same description; main classes with described predictors."""
    with tempfile.TemporaryDirectory() as folder:
        out = os.path.join(folder, "out.json")
        subprocess.run([program, "--gtest_filter=Registries.StatesAreTheProgramsOwn", f"--gtest_output=json:{out}"],
                       stdout=subprocess.DEVNULL, check=False)
        with open(out) as file:
            test = json.load(file)["testsuites"][0]["testsuite"][0]
    return dict(each.split("=") for each in test["classes"].split()), set(test["predictors"].split())


def states(program):
    owners, predictors = described(program)
    rows = list(read().values())
    for row in rows:
        if row["class"] in owners:
            owner = owners[row["class"]]
            row.update(state="described" if owner == row["class"] else "alias", reason="")
            row["of"] = "" if row["state"] == "described" else owner
        elif row["of"] in predictors:
            row.update(state="alias", reason="")
        else:
            row.update(state="refused", reason=row["reason"] or UNDESCRIBED)
    write(rows)
    print({state: sum(row["state"] == state for row in rows) for state in ("described", "alias", "refused")})


if __name__ == "__main__":
    modes = {"names": (names, 2), "states": (states, 1)}
    mode, count = modes.get(sys.argv[1] if len(sys.argv) > 1 else "", (None, 0))
    if mode is None or len(sys.argv) != count + 2:
        sys.exit(__doc__)
    mode(*sys.argv[2:])

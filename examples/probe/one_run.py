"""One measured run, in a process of its own (probe.py starts it)."""

import contextlib
import json
import os
import pathlib
import statistics
import time


def forget(folder):
    """Takes a folder's files out of the page cache, so that they are read from the disk."""
    for file in pathlib.Path(folder).rglob("*"):
        if file.is_file():
            with open(file, "rb") as f:
                os.fsync(f.fileno())
                os.posix_fadvise(f.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)


def make_random(config_file, folder, dtype, device):
    """A checkpoint of random weights, once for all runs; a card makes them in seconds."""
    import torch
    import transformers

    if (pathlib.Path(folder) / "config.json").exists():
        return
    config = transformers.AutoConfig.from_pretrained(config_file)
    torch.manual_seed(0)
    usual = torch.get_default_dtype()
    torch.set_default_dtype(dtype)
    with torch.device(device) if device == "cuda" else contextlib.nullcontext():  # torch from 2.0
        model = transformers.AutoModelForCausalLM.from_config(config).to(dtype)
    torch.set_default_dtype(usual)
    model.save_pretrained(folder)
    del model
    if device == "cuda":
        torch.cuda.empty_cache()


def device_of(name, device_map):
    """The device of a module: that of its nearest parent in the map."""
    while name not in device_map:
        if not name:
            return "cpu"
        name = name.rpartition(".")[0]
    return device_map[name]


def measure(task):
    import torch
    import transformers

    dtype = {"bf16": torch.bfloat16, "fp16": torch.float16, "fp32": torch.float32}[task["precision"]]
    if task["weights"] == "random":
        make_random(task["config"], task["folder"], dtype, task["device"])
    gpus = torch.cuda.device_count() if task["device"] == "cuda" else 0
    named = "dtype" if int(transformers.__version__.split(".")[0]) >= 5 else "torch_dtype"
    options = {named: dtype}
    if gpus:
        import accelerate  # noqa: F401 (device_map needs it)

        memory = {i: task["allocation_bytes"] for i in range(gpus)}
        memory["cpu"] = task["cpu_bytes"]
        options |= {"device_map": "sequential", "max_memory": memory, "offload_folder": task["offload"]}
    forget(task["folder"])
    start = time.perf_counter()
    model = transformers.AutoModelForCausalLM.from_pretrained(task["folder"], **options)
    load = time.perf_counter() - start
    model.eval()
    whole = {"": str(next(model.parameters()).device.index) if gpus else "cpu"}  # newer versions have no map then
    device_map = getattr(model, "hf_device_map", whole)
    blocks = set(model._no_split_modules or ())
    places = [str(device_of(n, device_map)) for n, m in model.named_modules() if type(m).__name__ in blocks]
    row = {
        "load_s": load,
        "layers_gpu": sum(p not in ("cpu", "disk") for p in places),
        "layers_cpu": places.count("cpu"),
        "layers_disk": places.count("disk"),
        "device_map": json.dumps({k: str(v) for k, v in device_map.items()}),
    }
    for i in range(gpus):
        torch.cuda.reset_peak_memory_stats(i)
    timed = training_step if task["task"] == "training" else generation
    row |= timed(torch, model, task, gpus)
    if gpus:
        row["allocated_bytes"] = sum(torch.cuda.max_memory_allocated(i) for i in range(gpus))
        row["reserved_bytes"] = sum(torch.cuda.max_memory_reserved(i) for i in range(gpus))
    return row


def clock(torch, gpus, work):
    if gpus:
        torch.cuda.synchronize()
    start = time.perf_counter()
    work()
    if gpus:
        torch.cuda.synchronize()
    return time.perf_counter() - start


def generation(torch, model, task, gpus):
    device = "cuda:0" if gpus else "cpu"
    shape = (task["batch"], task["prompt_tokens"])
    prompt = torch.randint(10, model.config.get_text_config().vocab_size - 10, shape, device=device)
    mask = torch.ones_like(prompt)

    def generate(count):
        with torch.inference_mode():
            model.generate(prompt, attention_mask=mask, min_new_tokens=count, max_new_tokens=count,
                           do_sample=False, pad_token_id=0)

    for _ in range(task["warmup"]):
        generate(2)
    first = statistics.median(clock(torch, gpus, lambda: generate(1)) for _ in range(task["repeats"]))
    whole = statistics.median(
        clock(torch, gpus, lambda: generate(task["output_tokens"])) for _ in range(task["repeats"]))
    rest = max(whole - first, 1e-9)
    return {"ttft_s": first, "total_s": whole, "tokens_s": task["batch"] * (task["output_tokens"] - 1) / rest}


def training_step(torch, model, task, gpus):
    device = "cuda:0" if gpus else "cpu"
    model.train()
    optimizer = torch.optim.AdamW(model.parameters())
    tokens = torch.randint(10, model.config.get_text_config().vocab_size - 10,
                           (task["batch"], task["prompt_tokens"]), device=device)

    def step():
        model(input_ids=tokens, labels=tokens).loss.backward()
        optimizer.step()
        optimizer.zero_grad()

    for _ in range(task["warmup"]):
        step()
    return {"total_s": statistics.median(clock(torch, gpus, step) for _ in range(task["repeats"]))}


def run_one(text):
    """Prints the row's figures as JSON; runs out of memory by a word of its own."""
    task = json.loads(text)
    try:
        print("PROBE " + json.dumps({"status": "ok"} | measure(task)))
    except ImportError:
        raise
    except Exception as error:  # whatever ends this run is a result
        kind = type(error).__name__
        memory = "OutOfMemory" in kind or isinstance(error, MemoryError) or "out of memory" in str(error)
        print("PROBE " + json.dumps({"status": "oom" if memory else "error",
                                     "error": f"{kind}: {error}".splitlines()[0][:200]}))

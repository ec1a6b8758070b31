"""usage: run_script.py SCRIPT   runs a script of `headroom launch` to its end; the last line is JSON about its `model`

map: hf_device_map. layers, bytes: by device, of parameters and buffers as the map places them. held_bytes: of tensors in memory
after the run, none of which is on the meta device. peak_bytes: the most resident memory of the process.
"""
import json
import resource
import runpy
import sys

import torch

model = runpy.run_path(sys.argv[1], run_name="__main__")["model"]
# transformers 5 sets no map where all is on one device.
placed = getattr(model, "hf_device_map", None) or {"": model.device.type}
layers = next(name for name, part in model.named_modules() if isinstance(part, torch.nn.ModuleList))
tensors = [*model.named_parameters(), *model.named_buffers()]


def device_of(name):
    """The device of the longest module of the map that holds `name`."""
    fitting = [each for each in placed if not each or (name + ".").startswith(each + ".")]
    return str(placed[max(fitting, key=len)])


of_layers, of_bytes = {}, {}
for i in range(len(model.get_submodule(layers))):
    of_layers.setdefault(device_of(f"{layers}.{i}"), []).append(i)
for name, tensor in tensors:
    of_bytes[device_of(name)] = of_bytes.get(device_of(name), 0) + tensor.numel() * tensor.element_size()
held = sum(tensor.numel() * tensor.element_size() for _, tensor in tensors if tensor.device.type != "meta")
print(json.dumps({"map": placed, "layers": of_layers, "bytes": of_bytes, "held_bytes": held,
                  "peak_bytes": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024}))

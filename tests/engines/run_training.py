"""usage: run_training.py SCRIPT [DATA]   runs a training script of `headroom launch`; the last line is JSON about its `trainer`

steps: that were taken. trained: parameters with a gradient. state_bytes: of the optimizer's tensors. loss: after the last step.
"""
import json
import runpy
import sys

import torch

sys.argv = sys.argv[1:]
trainer = runpy.run_path(sys.argv[0], run_name="__main__")["trainer"]
optimizer = getattr(trainer.optimizer, "optimizer", trainer.optimizer)
states = [each for state in optimizer.state.values() for each in state.values() if torch.is_tensor(each)]
print(json.dumps({"steps": trainer.state.global_step, "loss": trainer.state.log_history[0]["loss"],
                  "trained": sum(each.numel() for each in trainer.model.parameters() if each.requires_grad),
                  "state_bytes": sum(each.numel() * each.element_size() for each in states)}))

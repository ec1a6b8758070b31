#!/usr/bin/env python3
"""Before a training run starts: how much memory it takes, from Python.

usage: preflight.py MODEL MACHINE [flags of headroom estimate --task training]
Exit codes are headroom's: 3 where it does not fit.
"""
import json
import os
import subprocess
import sys


def estimate(model, machine, *flags):
    """The estimate as a dictionary; its "fits" is true or false. Raises ValueError with headroom's words."""
    command = [os.environ.get("HEADROOM", "headroom"), "estimate", model, "--task", "training",
               "--machine", machine, "--json", *flags]
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode not in (0, 3):
        raise ValueError(done.stderr.strip())
    return json.loads(done.stdout)


if __name__ == "__main__":
    if len(sys.argv) < 3:
        sys.exit(__doc__)
    try:
        found = estimate(*sys.argv[1:])
    except ValueError as error:
        print(error, file=sys.stderr)
        sys.exit(2)
    gib = 2**30
    print(f"{found['model']}: peak {found['peak_bytes'] / gib:.2f} GiB at {found['peak_at']}")
    if found["fits"]:
        print(f"fits; batch {found['largest_batch']} at most")
        print("watch it with: nvidia-smi -l 1")
        sys.exit(0)
    print("does not fit; these changes save most:")
    for change in found["changes"]:
        print(f"  {change['flags']}: {change['peak_bytes'] / gib:.2f} GiB" +
              (" (fits)" if change["fits"] else ""))
    sys.exit(3)

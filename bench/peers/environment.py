"""A Python that has what a comparison needs."""

import os
import pathlib
import subprocess
import sys
import venv

ROOT = pathlib.Path(__file__).resolve().parents[2]


def again_with(name, packages):
    """Runs the calling script again where `packages` are: in PEERS_PYTHON, or in an environment made under build/peers/NAME."""
    python = os.environ.get("PEERS_PYTHON")
    if not python:
        folder = ROOT / "build" / "peers" / name
        python = folder / "bin" / "python"
        if not python.exists():
            venv.create(folder, with_pip=True)
        subprocess.run([python, "-m", "pip", "install", "-q", *packages], check=True)
    environment = dict(os.environ, HEADROOM_PEERS_READY="1")
    return subprocess.run([python, *sys.argv], env=environment).returncode

"""A Python or a Go program that a comparison needs."""

import os
import pathlib
import subprocess
import venv

ROOT = pathlib.Path(__file__).resolve().parents[2]


def python_with(name, packages):
    """Python of an environment under build/peers/NAME with `packages` from PyPI; PEERS_PYTHON_NAME (PEERS_PYTHON_GENZ) names one that has them."""
    given = os.environ.get("PEERS_PYTHON_" + name.upper().replace("-", "_"))
    if given:
        return pathlib.Path(given)
    folder = ROOT / "build" / "peers" / name
    python = folder / "bin" / "python"
    if not python.exists():
        venv.create(folder, with_pip=True)
    subprocess.run([python, "-m", "pip", "install", "-q", *packages], check=True)
    return python


def go_program(name):
    """The program of bench/peers/NAME, built with the modules that its go.sum names."""
    folder = ROOT / "build" / "peers"
    source = pathlib.Path(__file__).resolve().parent / name
    environment = os.environ | {"GOPATH": str(folder / "go"), "GOFLAGS": "-modcacherw"}
    subprocess.run(["go", "build", "-o", folder / f"{name}.program", "."], cwd=source, env=environment, check=True)
    return folder / f"{name}.program"

"""The engines' packages, below build/engines: one Python with libraries, and each engine's source unpacked beside it.

An engine's own dependencies (kernels for cards, several GB each) are not installed: see missing.py.
"""
import subprocess
import sys
import tarfile
import venv
import zipfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent
FOLDER = ROOT / "build" / "engines"
PYTHON = FOLDER / "python" / "bin" / "python"
LIBRARIES = ["torch==2.11.0", "torchvision==0.26.0", "transformers==5.17.0", "accelerate==1.15.0", "peft==0.19.1", "safetensors", "numpy", "setuptools",
             "wheel", "psutil", "pydantic", "fastapi", "openai", "openai-harmony", "cachetools", "pillow", "requests", "aiohttp",
             "cloudpickle", "pyzmq", "prometheus_client", "py-cpuinfo", "blake3", "tiktoken", "msgspec", "regex", "hjson",
             "msgpack", "ninja", "einops", "trl==1.16.0", "datasets", "omegaconf", "click", "PyYAML",
             "bitsandbytes==0.50.2"]
DEEPSPEED = "deepspeed==0.19.8"  # its setup.py imports torch


def pip(*words):
    subprocess.run([PYTHON, "-m", "pip", *words], check=True)


def install():
    """A Python of its own, made again where the libraries of this file are others."""
    done, wanted = FOLDER / "python" / "installed", "\n".join([*LIBRARIES, DEEPSPEED])
    if done.exists() and done.read_text() == wanted:
        return
    FOLDER.mkdir(parents=True, exist_ok=True)
    venv.create(FOLDER / "python", with_pip=True)
    pip("install", "-q", *LIBRARIES)
    pip("install", "-q", "--no-deps", "--no-build-isolation", DEEPSPEED)
    done.write_text(wanted)


def wheel(package, version):
    """The folder with the Python files of a wheel; the rest, compiled code above all, is not kept."""
    into = FOLDER / f"{package}-{version}"
    if not into.is_dir():
        downloads = FOLDER / "downloads"
        pip("download", "-q", "--no-deps", "-d", str(downloads), f"{package}=={version}")
        (archive,) = downloads.glob(f"{package.replace('-', '_')}-{version}-*.whl")
        with zipfile.ZipFile(archive) as files:
            files.extractall(into, [each for each in files.namelist() if each.endswith((".py", ".json", "METADATA"))])
        archive.unlink()
    return into


def source(package, version, vendor):
    """The folder of llama.cpp's source inside a source distribution."""
    name = package.replace("-", "_")
    tree = FOLDER / f"{name}-{version}" / "vendor" / vendor
    if not tree.is_dir():
        subprocess.run([sys.executable, "-m", "pip", "download", "-q", "--no-deps", "--no-binary", ":all:", "-d",
                        FOLDER / "downloads", f"{package}=={version}"], check=True)
        with tarfile.open(FOLDER / "downloads" / f"{name}-{version}.tar.gz") as files:
            files.extractall(FOLDER)
    return tree

"""GGUF headers of the oracle's archives as files that llama.cpp loads: with sizes but without data or tokens."""
import struct
import sys
import tarfile
from pathlib import Path

ORACLE = Path(__file__).resolve().parent.parent / "oracle"
sys.path.append(str(ORACLE))
from make_loaded import Header

# Block elements and bytes by ggml type: ggml/src/ggml.c, type_traits.
BLOCKS = {0: (1, 4), 1: (1, 2), 2: (32, 18), 6: (32, 22), 8: (32, 34), 12: (256, 144), 13: (256, 176), 14: (256, 210), 26: (1, 4),
          27: (1, 8), 30: (1, 2), 39: (32, 17)}
TEXT, COUNT = 8, 4  # types of values in GGUF


def text(value):
    return struct.pack("<Q", len(value)) + value.encode()


def bytes_of(shape, kind):
    elements, size = BLOCKS[kind]
    for each in shape:
        size *= each
    return size // elements


def head_of(keys, tensors):
    """The bytes of a file before its data, and those of its data; tensors begin at multiples of 32."""
    head = b"GGUF" + struct.pack("<IQQ", 3, len(tensors), len(keys)) + b"".join(keys)
    offset = 0
    for name, shape, kind in tensors:
        head += text(name) + struct.pack(f"<I{len(shape)}Q", len(shape), *shape) + struct.pack("<IQ", kind, offset)
        offset += -(-bytes_of(shape, kind) // 32) * 32
    return head + bytes(-len(head) % 32), offset


class Judged:
    """A header that names no tokens: the vocabulary is as large as its embedding has rows."""

    def __init__(self, data):
        header = Header(data)
        self.architecture, self.tensors, self.keys = header.architecture, header.tensors, list(header.keys)
        shapes = {name: shape for name, shape, _ in self.tensors}
        embedding = shapes.get("token_embd.weight") or shapes.get("output.weight")
        self.drop(f"{self.architecture}.vocab_size")
        self.add_text("tokenizer.ggml.model", "none")
        if embedding:
            self.add_count(f"{self.architecture}.vocab_size", embedding[1])
        if "token_types.weight" in shapes:
            self.add_count("tokenizer.ggml.token_type_count", shapes["token_types.weight"][1])

    def drop(self, name):
        self.keys = [each for each in self.keys if not each.startswith(text(name))]

    def add_text(self, name, value):
        self.keys.append(text(name) + struct.pack("<I", TEXT) + text(value))

    def add_count(self, name, value):
        self.keys.append(text(name) + struct.pack("<II", COUNT, value))

    def padding(self):
        """Bytes between tensors: a buffer begins each at a multiple of 32 (ggml-cpu: TENSOR_ALIGNMENT)."""
        return sum(-bytes_of(shape, kind) % 32 for _, shape, kind in self.tensors)

    def write(self, path):
        """A sparse file: the data are a hole of the right length."""
        head, data = head_of(self.keys, self.tensors)
        with open(path, "wb") as file:
            file.write(head)
            file.truncate(len(head) + data)


def archived():
    """(archive, name, header) of every GGUF header of the oracle."""
    for archive in ("gguf", "gguf_loaded"):
        with tarfile.open(ORACLE / "data" / f"{archive}.tar.gz") as files:
            for member in files.getmembers():
                if member.name.endswith(".gguf"):
                    yield archive, member.name[:-5], files.extractfile(member).read()

"""Packs a folder of references into one archive, the same bytes for the same files.

usage: pack.py FOLDER ARCHIVE.tar.gz     e.g. output of make.py, into data/more.tar.gz
       tar tzf ARCHIVE.tar.gz            lists an archive; tar xzf unpacks it

Files that end in .gz are unpacked first and lose that ending: the archive is compressed as a whole.
"""

import gzip
import io
import sys
import tarfile
from pathlib import Path


def pack(folder, archive):
    files = sorted(path for path in Path(folder).rglob("*") if path.is_file())
    with open(archive, "wb") as out, gzip.GzipFile("", "wb", 9, out, mtime=0) as packed:
        with tarfile.open(fileobj=packed, mode="w", format=tarfile.USTAR_FORMAT) as tar:
            for path in files:
                content = path.read_bytes()
                name = str(path.relative_to(folder))
                if name.endswith(".gz"):
                    content, name = gzip.decompress(content), name[: -len(".gz")]
                entry = tarfile.TarInfo(name)
                entry.size = len(content)
                tar.addfile(entry, io.BytesIO(content))


if __name__ == "__main__":
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    pack(sys.argv[1], sys.argv[2])

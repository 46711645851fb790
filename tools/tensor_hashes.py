"""SHA-256 of the tensors in a safetensors file, whatever its metadata says."""

import hashlib
import json


def tensor_hashes(path):
    """The hash of each tensor under its name: of its type, shape and bytes."""
    content = path.read_bytes()
    start = 8 + int.from_bytes(content[:8], "little")
    header = json.loads(content[8:start])
    header.pop("__metadata__", None)
    hashes = {}
    for name, tensor in header.items():
        begin, end = tensor["data_offsets"]
        kind = json.dumps([tensor["dtype"], tensor["shape"]]).encode()
        data = content[start + begin : start + end]
        hashes[name] = hashlib.sha256(kind + data).hexdigest()
    return hashes

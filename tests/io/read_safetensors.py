"""Prints a safetensors file as the format's description reads it.

Eight bytes of header length (little endian), the header (JSON), the data. Each
tensor must start where the one before it ends, the last one at the file's end.
"""

import json
import struct
import sys

CODES = {"F64": "d", "F32": "f", "I64": "q", "I32": "i", "U8": "B"}

with open(sys.argv[1], "rb") as file:
    content = file.read()
(length,) = struct.unpack("<Q", content[:8])
assert length % 8 == 0 and content[8:9] == b"{"
header = json.loads(content[8 : 8 + length].decode("utf-8"))
data = content[8 + length :]

for key, text in sorted(header.pop("__metadata__").items()):
    if key != "radir.crc32":
        print(key, text)
covered = 0
for tensor in sorted(header.values(), key=lambda t: t["data_offsets"]):
    assert tensor["data_offsets"][0] == covered
    covered = tensor["data_offsets"][1]
assert covered == len(data)

for name, tensor in sorted(header.items()):
    begin, end = tensor["data_offsets"]
    count = 1
    for size in tensor["shape"]:
        count *= size
    values = struct.unpack(f"<{count}{CODES[tensor['dtype']]}", data[begin:end])
    if tensor["dtype"] == "F32":
        values = tuple(float(f"{value:.7g}") for value in values)
    print(name, tensor["dtype"], tensor["shape"], values)

#!/usr/bin/env python3
"""No kernel of the build keeps anything on the stack: what ptxas spills goes there.

    tests/gpu/check_frames.py BUILD_DIR

Reads the machine code itself (ELF, section .nv.info: the frame of each kernel), so that no other tool is needed."""
import struct
import sys
from pathlib import Path

FRAME_SIZE = 0x11  # EIATTR_FRAME_SIZE: symbol, bytes
SIZED = 0x04       # a value of its own size follows


def sections(data):
    offset, = struct.unpack_from("<Q", data, 0x28)
    size, count, names = struct.unpack_from("<HHH", data, 0x3A)
    headers = [struct.unpack_from("<IIQQQQIIQQ", data, offset + k * size) for k in range(count)]
    text = headers[names][4]
    for header in headers:
        end = data.index(b"\0", text + header[0])
        yield data[text + header[0]:end].decode(), data[header[4]:header[4] + header[5]] if header[1] != 8 else b""


def frames(data):
    """{kernel: bytes on the stack}"""
    found = dict(sections(data))
    symbols, strings = found[".symtab"], found[".strtab"]

    def name(index):
        start, = struct.unpack_from("<I", symbols, 24 * index)
        return strings[start:strings.index(b"\0", start)].decode()

    result, info, at = {}, found[".nv.info"], 0
    while at + 4 <= len(info):
        form, attribute, size = struct.unpack_from("<BBH", info, at)
        if form == SIZED and attribute == FRAME_SIZE:
            symbol, frame = struct.unpack_from("<II", info, at + 4)
            result[name(symbol)] = frame
        at += 4 + (size if form == SIZED else 0)
    return result


def main():
    files = sorted(Path(sys.argv[1]).glob("src/kernels/*.cubin"))
    kernels, wrong = 0, 0
    for file in files:
        found = frames(file.read_bytes())
        kernels += len(found)
        for kernel, frame in found.items():
            if frame:
                wrong += 1
                print(f"{file.name}: {kernel} keeps {frame} bytes on the stack")
    print(f"{len(files)} files of machine code, {kernels} kernels, {wrong} with something on the stack")
    return 1 if wrong or kernels == 0 else 0


if __name__ == "__main__":
    sys.exit(main())

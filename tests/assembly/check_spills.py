#!/usr/bin/env python3
"""Fails when an inner loop of the shipped AVX-512 or AVX2 kernels keeps a vector on the stack.

Usage: check_spills.py LIBRARY (or --self-test). Needs objdump. An inner loop is a backward jump with no other inside; a hot one has at
least eight multiply-adds. The register tiles are chosen to fill the registers and no more: a vector that is stored to or loaded
from the stack in such a loop means that a compiler did not keep to that.
"""
import re
import shutil
import subprocess
import sys

# The loops that passes spend their time in, for each instruction set: all of them must be found, so that none is lost to a new name.
SETS = ("N_AVX2", "N_AVX3", "N_AVX3_DL")
LOOPS = ("exponents", "exp2_tile", "few_columns", "some_columns", "both_products", "panel_product", "multiply_adds")
KERNEL = re.compile(rf"\b({'|'.join(SETS)})::({'|'.join(LOOPS)})\b")
MULTIPLY_ADD = re.compile(r"^(vfmadd|vfnmadd|vpmaddwd|vpdpwssd)")
STACK_VECTOR = re.compile(r"(%[xyz]mm\d+\S*,\s*-?(0x[0-9a-f]+)?\(%r[sb]p\))|(-?(0x[0-9a-f]+)?\(%r[sb]p\)\S*,\s*%[xyz]mm)")
LEAST_FMAS = 8


def functions(listing):
    name, body = None, []
    for line in listing.splitlines():
        head = re.match(r"^[0-9a-f]+ <(.*)>:$", line)
        if head:
            if name:
                yield name, body
            name, body = head.group(1), []
            continue
        code = re.match(r"^\s*([0-9a-f]+):\s+(.*)$", line)
        if code and name:
            body.append((int(code.group(1), 16), code.group(2)))
    if name:
        yield name, body


def inner_loops(body):
    loops = []
    for at, text in body:
        jump = re.match(r"j\w+\s+([0-9a-f]+)\b", text)
        if jump and int(jump.group(1), 16) <= at and int(jump.group(1), 16) >= body[0][0]:
            loops.append((int(jump.group(1), 16), at))
    return [a for a in loops if not any(b != a and a[0] <= b[0] and b[1] <= a[1] for b in loops)]


def spills(listing):
    """(function, instruction) for every stack vector in a hot inner loop, and the set and name of every hot loop seen."""
    found, hot = [], []
    for name, body in functions(listing):
        kernel = KERNEL.search(name)
        if not kernel:
            continue
        for first, last in inner_loops(body):
            inside = [text for at, text in body if first <= at <= last]
            if sum(bool(MULTIPLY_ADD.match(text)) for text in inside) < LEAST_FMAS:
                continue
            hot.append(kernel.groups())
            found += [(name, text) for text in inside if STACK_VECTOR.search(text)]
    return found, hot


def self_test():
    loop = "\n".join(f"  {i:x}:\tvfmadd231ps %ymm1,%ymm2,%ymm{i}" for i in range(1, 10))
    clean = f"0000000000000000 <N_AVX2::panel_product>:\n{loop}\n  a:\tjne    1 <x>\n"
    dirty = clean.replace("  5:\tvfmadd231ps %ymm1,%ymm2,%ymm5", "  5:\tvmovaps %ymm5,0x20(%rsp)")
    seen = [("N_AVX2", "panel_product")]
    assert spills(clean) == ([], seen), spills(clean)
    assert len(spills(dirty)[0]) == 1, spills(dirty)
    reload = clean.replace("%ymm1,%ymm2,%ymm5", "0x40(%rsp),%ymm2,%ymm5")
    assert len(spills(reload)[0]) == 1, spills(reload)
    outside = clean + "  b:\tvmovaps %ymm5,0x20(%rsp)\n"
    assert spills(outside) == ([], seen), spills(outside)
    print("self-test passed")


def main():
    if sys.argv[1] == "--self-test":
        return self_test()
    if shutil.which("objdump") is None:
        print("skipped: no objdump (package binutils)")
        sys.exit(77)
    listing = subprocess.run(["objdump", "-d", "-C", "--no-show-raw-insn", sys.argv[1]], capture_output=True, text=True, check=True).stdout
    found, hot = spills(listing)
    for name, text in found:
        print(f"{name[:100]}: {text}")
    lost = [f"{one}::{loop}" for one in SETS for loop in LOOPS if (one, loop) not in hot]
    if lost:
        print(f"no hot loop of {', '.join(lost)} was found: has the naming of the kernels changed?")
    print(f"{len(hot)} hot inner loops, {len(found)} stack vectors in them")
    sys.exit(1 if found or lost else 0)


main()

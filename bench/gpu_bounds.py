#!/usr/bin/env python3
"""What a GPU could do at most with the fused kernel as it is shipped: a bound from instruction counts, never a measurement.

    bench/gpu_bounds.py [BUILD_DIR] [--model a100|h100|b200|rtxpro6000]
    bench/gpu_bounds.py --serve BUILD_DIR     for flashdiffusion-bench xgemm --backend cuda: the bounds of the very device that it measures

Tensor-core, MUFU and shared-memory work a pair follow from the shape of the kernel (src/backends/cuda/kernels); instructions to issue, registers and
spills are read from the machine code (nvdisasm and cuobjdump: `tools/cuda BUILD_DIR inspect`). `pipes` is the bound by tensor cores, MUFU and shared
memory alone; `issued` counts every instruction of the loops too, also code for rows alone and for low parts that does not run in most tiles, so the truth
may be better. Latency, loads from memory and the last wave of blocks are left out. `rough` is the same for bf16's one product of coordinates, entries and
weights. Several GPUs are modelled as docs/gpu.md says. Nothing here has run on hardware."""
import argparse
import collections
import json
import re
import shutil
import signal
import subprocess
import sys
from pathlib import Path

# Multiprocessors, GHz; a clock and multiprocessor: products of 16-bit floats by mma.sync, MUFU lanes, bytes of shared memory, warp instructions issued;
# shared memory (KiB) and chip. Rates of mma.sync: A100 data sheet; H100 65 % of wgmma (arXiv 2501.12084); B200 a guess from a kernel without tcgen05; RTX PRO
# 6000 measured by others. MUFU on it: assumed.
Model = collections.namedtuple("Model", "name multiprocessors ghz products mufu shared_bytes issue shared_kib chip")
MODELS = {
    "a100": Model("A100", 108, 1.41, 1024, 16, 128, 4, 164, 80),
    "h100": Model("H100 SXM", 132, 1.83, 1336, 16, 128, 4, 228, 90),
    "b200": Model("B200", 148, 1.85, 1024, 16, 128, 4, 228, 100),
    "rtxpro6000": Model("RTX PRO 6000", 188, 2.617, 512, 16, 128, 4, 100, 120),
}
PAPER = {(32, 1): 5.3e11, (32, 8): 3.8e11}  # pairs/s, RTX PRO 6000
BLOCKS = (1, 8, 32)
PAPER_RATE, PAPER_EFFICIENCY = 3.8e11, 0.71  # b = 8 at 2^20; of four GPUs
LINK, HOST_COPY = 50e9, 10e9  # bytes/s: PCIe 5 x16, from GPU to GPU or pinned memory; copies of one host thread, a rank each
TILE = 128 * 32  # entries of a tile of a thread block, 4 warps


def find(program, build):
    found = shutil.which(program) or next(iter(sorted(build.glob(f"cuda/*/nvidia/**/bin/{program}"))), None)
    return str(found) if found else None


def needed(program, build):
    return find(program, build) or sys.exit(f"gpu_bounds: no {program}; `tools/cuda {build} inspect` fetches it")


def listing_of(nvdisasm, build, chip):
    return subprocess.run([nvdisasm, "-c", build / f"src/kernels/fused.{chip}.cubin"], capture_output=True, text=True, check=True).stdout


def loops_of(listing, kernel):
    """(instructions, of them HMMA) of the loop over tiles without inner loops, and of the loop over chunks of coordinates in it."""
    code, labels, on = [], {}, False
    for line in listing.splitlines():
        if re.match(r"\s*\.section\s", line):
            on = f".text.{kernel}," in line or f'.text.{kernel}"' in line
        if not on:
            continue
        label = re.match(r"^(\.L_\w+):", line)
        if label:
            labels[label[1]] = len(code)
            continue
        text = re.match(r"^(?:@!?U?P\w+ )?\s*([A-Z][\w.]*)\s*(.*?);", re.sub(r"/\*[^*]*\*/", "", line).strip())
        if text:
            code.append((text[1], text[2]))
    loops = []
    for end, (name, operands) in enumerate(code):
        target = re.search(r"(\.L_\w+)", operands) if name.startswith("BRA") else None
        if target and labels.get(target[1], end) < end - 1:
            loops.append((labels[target[1]], end))
    counts = lambda start, end: (end - start + 1, sum(code[k][0].startswith("HMMA") for k in range(start, end + 1)))
    with_products = [l for l in loops if counts(*l)[1] > 0]
    chunk = min(with_products, key=lambda l: l[1] - l[0])
    around = [l for l in with_products if l[0] <= chunk[0] and l[1] >= chunk[1] and l != chunk]
    tile = min(around, key=lambda l: l[1] - l[0])
    inside, all_of_it = counts(*chunk), counts(*tile)
    return (all_of_it[0] - inside[0], all_of_it[1] - inside[1]), inside


def resources(text):
    found = {}
    for name, rest in re.findall(r"Function (\w+):\s*\n\s*(.*)", text):
        found[name] = {key: int(value) for key, value in re.findall(r"(REG|STACK|LOCAL):(\d+)", rest)}
    return found


def kernel_of(width, parts):
    return f"fused_{parts}_{width}" + ("_rough" if parts == 1 and width >= 8 else "")


def shared_bytes(steps, width, parts):
    weights = 2 * parts * width if width >= 8 else 4 * width
    return min(2, -(-steps * parts // 4)) * 16384 + 2 * 32 * (132 + weights) + (128 * weights if width >= 8 else 0) + 512 * width


def tile_clocks(model, dimension, width, parts, loops):
    """Clocks of a multiprocessor for a tile by pipe; issue is counted from above: code for rows alone and for low parts counts as if it ran."""
    steps = -(-dimension // 16)
    products = (1 if parts == 1 else 4 if dimension > 5 else 3) * 16 * steps + ((6 if parts == 2 else 2) * width if width >= 8 else 0)
    rest, chunk = loops
    chunks = -(-steps * parts // 4)
    # of a warp: two halves of rows and of columns a step and part, 1024 bytes each; then weights
    shared = 4 * (4 * 512 * steps * parts + (2 * parts * 512 * width // 8 if width >= 8 else 32 * 4 * width * 8))
    return {"tensor": TILE * products / model.products, "MUFU": TILE / model.mufu, "shared": shared / model.shared_bytes,
            "issue": 4 * (rest[0] + chunks * chunk[0]) / model.issue}


def widths_of(columns):
    """Of the launches that a product of so many columns is cut into (fused_group in shapes.hpp)."""
    widths = []
    while columns > 0:
        widths.append(next(w for w in (1, 2, 4, 8, 16) if w >= columns or w == 16))
        columns -= widths[-1]
    return widths


def rate_of(model, dimension, columns, parts, listing):
    """(pairs/s by pipes, busiest pipe, pairs/s by all instructions; None without a listing)"""
    clocks, issued, worst = 0, 0, None
    for width in widths_of(columns):
        pipes = tile_clocks(model, dimension, width, parts, loops_of(listing, kernel_of(width, parts)) if listing else ((0, 0), (0, 0)))
        issued += max(pipes.values())
        pipes.pop("issue")
        worst = max(pipes, key=pipes.get)
        clocks += pipes[worst]
    by_pipes, by_all = (2 * TILE / c * model.multiprocessors * model.ghz * 1e9 for c in (clocks, issued))
    return by_pipes, worst, by_all if listing else None


def half_ring(rows, gpus, rate, dimension, columns, route, link=LINK):
    """Seconds of a pass. Each GPU has its own triangle and floor(P / 2) visitors, the last by halves for even P: together N^2 / P ordered pairs.

    route "lent" (ranks of one process, half_ring_lent.cpp): weights of a visitor, and in the first pass its points, travel under the tiles of the step before;
    they are seen where they take longer. Sums of each step are fetched and added when the tiles are done: all of that is seen. "again": where there is no
    memory to keep visitors, points travel in each pass, under the tiles too. "host" (MPI, half_ring.cpp): points travel as doubles and weights and sums as
    floats, from panels by way of doubles, and nothing of it is hidden behind tiles; bytes a row are those that archives copy."""
    n, steps = rows / gpus, gpus // 2
    work = rows * n / rate
    if gpus == 1:
        return work
    points, panel = 8 * dimension * n, 4 * columns * n
    if route == "host":
        visit = points / link + points / HOST_COPY + columns * n * (8 / link + 32 / HOST_COPY)
        guest = points / link + points / HOST_COPY + columns * n * (4 * 8 / link + (20 + 16 + 24 + 28) / HOST_COPY)
        return work + visit + steps * guest
    tiles = [n * n / rate] + (steps - 1) * [2 * n * n / rate]  # under which the visitors come
    come = (panel + (points if route == "again" else 0)) / link
    return work + sum(max(0, come - t) for t in tiles) + steps * panel / link


def print_several(rate, share):
    print(f"\nGPUs of one process at {share:.0%} of the bound, D = 32, b = 8: predicted efficiency (paper, four at 2^20: {PAPER_EFFICIENCY:.0%})")
    for rows in (2**18, 2**20, 2**22):
        one = half_ring(rows, 1, rate * share, 32, 8, "lent")
        cells = []
        for gpus in (4, 8):
            for text, route, link in (("", "lent", LINK), (" (points anew)", "again", LINK), (" (10 GB/s)", "lent", 10e9), (" (MPI)", "host", LINK)):
                cells.append(f"{gpus}{text} {one / gpus / half_ring(rows, gpus, rate * share, 32, 8, route, link):.0%}")
        print(f"  2^{rows.bit_length() - 1}, one {one:.3f} s: " + ", ".join(cells))
    found = half_ring(2**22, 4, rate * share, 32, 8, "lent") / (2**44 / (4 * PAPER_EFFICIENCY * PAPER_RATE))
    print(f"The paper's runs at {share:.0%} of the bound, if all of them were passes at b = 8: "
          + ", ".join(f"{s * PAPER_RATE / (rate * share):.1f} s for {s:g} s" for s in (16.0, 2225))
          + f" on one GPU, {12447 * found:.0f} s for 12447 s on four.")


def serve(build):
    """A line of JSON in, {capability, multiprocessors, hertz, dimension, columns}, one out, in pairs/s: what such a device allows an fp32 product. First a line
    that says what is here."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # whoever started this process ends it
    nvdisasm, listings = find("nvdisasm", build), {}
    print(json.dumps({"nvdisasm": nvdisasm}), flush=True)
    for line in sys.stdin:
        try:
            ask = json.loads(line)
            chip = ask["capability"]
            like = next((m for m in MODELS.values() if m.chip == chip), None)
            if like is None:
                answer = {"error": f"no rates of sm_{chip} are known to bench/gpu_bounds.py"}
            elif not ask["hertz"] > 0:
                answer = {"error": "the driver does not say how fast the device is"}
            else:
                if nvdisasm and chip not in listings:
                    listings[chip] = listing_of(nvdisasm, build, chip)
                model = like._replace(multiprocessors=ask["multiprocessors"], ghz=ask["hertz"] / 1e9)
                pipes, busiest, issued = rate_of(model, ask["dimension"], ask["columns"], 2, listings.get(chip))
                answer = {"pipes": pipes, "busiest": busiest, "issued": issued}
        except Exception as error:  # whatever it is, the other side must not wait for ever
            answer = {"error": f"{type(error).__name__}: {error}"}
        print(json.dumps(answer), flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("build", nargs="?", default="build", type=Path)
    parser.add_argument("--model", choices=MODELS)
    parser.add_argument("--serve", action="store_true")
    wish = parser.parse_args()
    if wish.serve:
        return serve(wish.build)
    nvdisasm, cuobjdump = needed("nvdisasm", wish.build), needed("cuobjdump", wish.build)
    for model in [MODELS[wish.model]] if wish.model else MODELS.values():
        cubin = wish.build / f"src/kernels/fused.{model.chip}.cubin"
        listing = listing_of(nvdisasm, wish.build, model.chip)
        used = resources(subprocess.run([cuobjdump, "-res-usage", cubin], capture_output=True, text=True, check=True).stdout)
        print(f"\n{model.name} (sm_{model.chip}): bounds, not measurements")
        print("pairs/s by" + f"{'pipes':>12}  {'busiest':<8}{'issued':>9}{'of the paper':>14}{'registers':>11}{'spilled':>9}{'blocks':>8}{'rough':>11}{'issued':>10}")
        rates = {}
        for dimension in (12, 32, 80, 256):
            for columns in BLOCKS:
                bound, worst, rate = rate_of(model, dimension, columns, 2, listing)
                rough = rate_of(model, dimension, columns, 1, listing)
                rates[dimension, columns] = rate
                width = widths_of(columns)[0]
                kernel = kernel_of(width, 2)
                blocks = min(65536 // (used[kernel]["REG"] * 128), model.shared_kib * 1024 // (shared_bytes(-(-dimension // 16), width, 2) + 1024))
                paper = PAPER.get((dimension, columns))
                print(f"D ={dimension:>4} b ={columns:>3}  {bound:9.2e}  {worst:<8}{rate:9.2e}{f'{rate / paper:.1f} x' if paper else '':>14}"
                      f"{used[kernel]['REG']:>11}{used[kernel]['STACK'] + used[kernel]['LOCAL']:>9}{blocks:>8}{rough[0]:>11.2e}{rough[2]:>10.2e}")
        if model.chip == 120:
            print("A pass over 2^20 points of the paper's torus (D = 32, of which 12 vary): at least "
                  f"{2**40 / rates[32, 8]:.2f} s at b = 8 and D = 32, {2**40 / rates[12, 8]:.2f} s at D = 12 (paper: {2**40 / 3.8e11:.1f} s).")
            for share in (1.0, 0.6):
                print_several(rates[32, 8], share)


if __name__ == "__main__":
    main()

#!/usr/bin/env python3
"""Lines of the shipped PTX that no test runs, kernel by kernel.

    tests/gpu/coverage.py BUILD_DIR [--target 80|120] [--contract]

The small cases (kernel_cases.cpp) run on the software GPU, which counts; with --contract the contract tests too. Lines that need not run, and why, are in
coverage_left.json. Status 1 if any other line is left."""
import argparse
import collections
import json
import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

import ptx_kernels


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("build", type=Path)
    parser.add_argument("--target", default="80", choices=("80", "120"))
    parser.add_argument("--contract", action="store_true")
    wish = parser.parse_args()
    wish.build = wish.build.resolve()
    reasons = json.loads((Path(__file__).parent / "coverage_left.json").read_text())
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "coverage"
        environment = dict(os.environ, FLASHDIFFUSION_CUDA_DRIVER=str(wish.build / "softgpu/libcuda.so.1"), FD_SOFTGPU_SM=wish.target,
                           FD_SOFTGPU_COVERAGE=str(path), FD_SLOW_DEVICE="1")
        programs = [[wish.build / "fd_gpu_cases"]]
        if wish.contract:
            programs.append([wish.build / "fd_contract_tests", "--gtest_brief=1", "--gtest_filter=*cuda*"])
        for program in programs:
            subprocess.run(program, env=environment, check=True, stdout=subprocess.DEVNULL)
        rows = ptx_kernels.coverage_of(path)
    table, left = collections.defaultdict(lambda: [0, 0, 0]), 0
    for (kernel, line), (runs, text) in sorted(rows.items()):
        counts = table[kernel]
        counts[0] += 1
        if runs:
            counts[1] += 1
        elif any(re.search(r["kernel"], kernel) and re.search(r["text"], text) for r in reasons):
            counts[2] += 1
        else:
            left += 1
            print(f"not run: {kernel}, line {line}: {text}")
    print(f"{'':24}{'lines':>8}{'run':>8}{'explained':>11}{'left':>7}")
    for kernel, (lines, run, explained) in table.items():
        print(f"{kernel:24}{lines:>8}{run:>8}{explained:>11}{lines - run - explained:>7}")
    return 1 if left else 0


if __name__ == "__main__":
    sys.exit(main())

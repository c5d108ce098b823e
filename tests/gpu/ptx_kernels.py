"""The kernels of a build as PTX text, and the program of small cases that runs them on the software GPU: what coverage.py and mutants.py share."""
import os
import re
import subprocess
import tempfile
from pathlib import Path

FILES = ("fused", "direct", "pack", "blocks")


class Kernel:
    """One kernel: its lines are [first, last) of the module's, counted from 0."""

    def __init__(self, name, file, first, last):
        self.name, self.file, self.first, self.last = name, file, first, last


def modules(build, target):
    """Lines of each module."""
    return {name: (build / f"src/kernels/{name}.{target}.ptx").read_text().split("\n") for name in FILES}


def kernels(of_modules):
    found = []
    for file, lines in of_modules.items():
        starts = [i for i, line in enumerate(lines) if ".entry " in line]
        for start in starts:
            end = next(i for i in range(start, len(lines)) if lines[i].startswith("}")) + 1
            found.append(Kernel(re.search(r"\.entry (\w+)", lines[start])[1], file, start, end))
    return found


def alone(lines, kernel, of_all):
    """The module with this kernel alone, on the lines where it was: other kernels need not be read."""
    kept = list(lines)
    for other in of_all:
        if other.file == kernel.file and other.name != kernel.name:
            kept[other.first:other.last] = [""] * (other.last - other.first)
    return kept


class Server:
    """fd_gpu_cases --serve: cases in child processes that need not read the kernels again."""

    def __init__(self, build, target):
        self.folder = tempfile.TemporaryDirectory(prefix="fd_gpu_")
        self.report = Path(self.folder.name) / "report"
        self.ptx = Path(self.folder.name) / "changed.ptx"
        environment = dict(os.environ, FLASHDIFFUSION_CUDA_DRIVER=str(build / "softgpu/libcuda.so.1"), FD_SOFTGPU_SM=str(target),
                           FD_SOFTGPU_REPORT=str(self.report), FD_SOFTGPU_LIMIT="30000000")
        self.process = subprocess.Popen([build / "fd_gpu_cases", "--serve"], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                        stderr=subprocess.DEVNULL, text=True, env=environment)

    def run(self, cases, **environment):
        """(ok | wrong | refused | crashed, what the checks report)"""
        self.report.unlink(missing_ok=True)
        words = [f"{name}={value}" for name, value in environment.items()] + list(cases)
        self.process.stdin.write(" ".join(words) + "\n")
        self.process.stdin.flush()
        said = []
        while not said or said[-1] != ".":
            line = self.process.stdout.readline()
            if not line:
                raise RuntimeError("fd_gpu_cases ended")
            said.append(line.strip())
        return said[-2] if len(said) > 1 else "crashed", self.report.read_text() if self.report.exists() else ""

    def close(self):
        self.process.stdin.close()
        self.process.wait()
        self.folder.cleanup()


def cases(build):
    return subprocess.run([build / "fd_gpu_cases", "--list"], capture_output=True, text=True, check=True).stdout.split()


def coverage_of(path):
    """{(kernel, line): (runs, text)} of a file that FD_SOFTGPU_COVERAGE named; lines counted from 1."""
    rows = {}
    for line in Path(path).read_text().splitlines():
        runs, kernel, _, number, text = line.split("\t", 4)
        before = rows.get((kernel, int(number)), (0, text))
        rows[kernel, int(number)] = (before[0] + int(runs), text)
    return rows

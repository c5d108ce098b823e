#!/usr/bin/env python3
"""Kernels and host code broken one line at a time: does anybody notice?

    tests/gpu/mutants.py BUILD_DIR [--target 80|120] [--kernels REGEX] [--sample N] [--minutes M] [--jobs N] [--short] [--list] [--record FILE]

Of the PTX that is shipped every barrier, wait, commit and fence is left out in turn, and every address of shared or global memory is moved on by one
element (of the size of the access, so that alignment does not give it away). Each mutant runs on the software GPU, in the small cases (kernel_cases.cpp)
that reach its line: it is reported by the software GPU's checks, or found by a wrong result, or it survives. Of the host code every wait and event is left
out in turn (host_mutants.py). What may survive, and why, is in mutants_survive.json: a survivor that is not there is a failure.

--sample N takes N mutants of each kind, evenly spread, and says so; --minutes M begins none after that time, and tries moved ones in an order in which any
first part of them is spread evenly; --record FILE writes down each outcome, and a run that was stopped goes on from there; --short is the few seconds' form of `make test`."""
import argparse
import collections
import hashlib
import json
import os
import re
import sys
import threading
import time
from pathlib import Path

import host_mutants
import ptx_kernels

SYNCHRONISATION = re.compile(r"^\s*(bar\.|barrier|cp\.async\.(wait|commit)|membar|fence|mbarrier)")
ACCESS = re.compile(r"^\s*(@!?%p\d+\s+)?(ld\.shared|ld\.global|st\.shared|st\.global|red\.|atom\.|ldmatrix|cp\.async\.c[ag])")
SIZES = {"8": 1, "16": 2, "32": 4, "64": 8}
SHORT_CASES = ["two_parts_1_d5", "two_parts_1_panels", "two_parts_8_d40", "one_part_rough_8_d5", "two_parts_mass_d5", "direct_f64_d18", "products_f64_d18"]

Mutant = collections.namedtuple("Mutant", "kind kernel line text")  # line from 0


def size_of(instruction):
    if instruction.startswith(("ldmatrix", "cp.async")):
        return 16
    width = re.search(r"\.[bfsu](8|16|32|64)\b", instruction)
    vector = re.search(r"\.v([24])\b", instruction)
    return SIZES[width[1]] * (int(vector[1]) if vector else 1)


def mutants_of(kernel, lines):
    for i in range(kernel.first, kernel.last):
        line = lines[i]
        if SYNCHRONISATION.match(line):
            yield Mutant("left out", kernel, i, re.sub(r"[^;]*;", "", line, count=1))
        elif ACCESS.match(line):
            instruction = re.sub(r"^\s*(@!?%p\d+\s+)?", "", line)
            for place in re.finditer(r"\[([^\]+]+)(\+-?\d+)?\]", line):
                offset = int((place[2] or "+0")[1:]) + size_of(instruction)
                changed = f"[{place[1]}+{offset}]"
                yield Mutant("moved", kernel, i, line[:place.start()] + changed + line[place.end():])


def evenly(mutants, count):
    if not count or len(mutants) <= count:
        return mutants
    return [mutants[k * len(mutants) // count] for k in range(count)]


def reached(build, target, names):
    """Which cases run a line, the quickest first: {(kernel, line from 1): [case]}"""
    server = ptx_kernels.Server(build, target)
    lines, seconds = collections.defaultdict(list), {}
    for name in names:
        path = Path(server.folder.name) / f"coverage.{name}"
        begin = time.monotonic()
        said, report = server.run([name], FD_SOFTGPU_COVERAGE=path)
        seconds[name] = time.monotonic() - begin
        if said != "ok" or report:
            sys.exit(f"mutants: case {name} fails without a mutant: {said} {report}")
        for key, (runs, _) in ptx_kernels.coverage_of(path).items():
            if runs:
                lines[key].append(name)
        path.unlink()
    server.close()
    return {key: sorted(found, key=seconds.get) for key, found in lines.items()}


def spread(found, count):
    """The quickest, and others spread over the list: cases of other kinds. Then the rest, for mutants that these do not notice."""
    first = [found[k * (len(found) - 1) // (count - 1)] for k in range(min(count, len(found)))]
    return list(dict.fromkeys(first + found))


class Record:
    """Outcomes of a run that was stopped, by the changed kernel's whole text; a file that is only added to."""

    def __init__(self, path, of_modules):
        self.path, self.of_modules, self.texts, self.known = path, of_modules, {}, {}
        if path and path.exists():
            self.known = dict(line.split(" ")[2:] for line in path.read_text().splitlines())

    def name_of(self, mutant):
        kernel = mutant.kernel
        if kernel not in self.texts:  # labels count the kernels before it
            self.texts[kernel] = re.sub(r"L__BB\d+_", "L__BB_", "\n".join(self.of_modules[kernel.file][kernel.first:kernel.last]))
        text = self.texts[kernel]
        return hashlib.sha256(f"{text}\n{mutant.line - kernel.first}\n{mutant.text}".encode()).hexdigest()

    def take(self, mutants):
        """(those of which the outcome is known, with it; the others)"""
        found = [(m, self.known.get(self.name_of(m), "").replace("_", " ")) for m in mutants]
        return [(m, outcome) for m, outcome in found if outcome], [m for m, outcome in found if not outcome]

    def add(self, mutant, outcome):
        if self.path:
            with self.path.open("a") as file:
                file.write(f"{mutant.kernel.name} {mutant.line + 1} {self.name_of(mutant)} {outcome.replace(' ', '_')}\n")


def try_mutants(build, target, mutants, of_modules, of_all, lines, results, jobs, deadline, record):
    """Worker threads, a server each."""
    known, others = record.take(mutants)
    results.extend(known)
    queue, lock = collections.deque(others), threading.Lock()

    def work():
        server = ptx_kernels.Server(build, target)
        try:
            while True:
                with lock:
                    if not queue or time.monotonic() > deadline:
                        return
                    mutant = queue.popleft()
                outcome = "not run"
                module = ptx_kernels.alone(of_modules[mutant.kernel.file], mutant.kernel, of_all)
                module[mutant.line] = mutant.text
                server.ptx.write_text("\n".join(module))
                for case in spread(lines.get((mutant.kernel.name, mutant.line + 1), []), 8):
                    said, report = server.run([case], FD_SOFTGPU_REPLACE=server.ptx)
                    outcome = "reported" if report else "survived" if said == "ok" else "found"
                    if outcome != "survived":
                        break
                with lock:
                    results.append((mutant, outcome))
                    record.add(mutant, outcome)
        finally:
            server.close()

    threads = [threading.Thread(target=work) for _ in range(jobs)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("build", type=Path)
    parser.add_argument("--target", default="80", choices=("80", "120"))
    parser.add_argument("--kernels", default="")
    parser.add_argument("--sample", type=int, default=0)
    parser.add_argument("--minutes", type=float, default=0)
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1)
    parser.add_argument("--short", action="store_true")
    parser.add_argument("--record", type=Path)
    parser.add_argument("--list", action="store_true", help="every survivor, also those with a reason")
    wish = parser.parse_args()
    wish.build = wish.build.resolve()
    reasons = json.loads((Path(__file__).parent / "mutants_survive.json").read_text())

    of_modules = ptx_kernels.modules(wish.build, wish.target)
    of_all = ptx_kernels.kernels(of_modules)
    lines = reached(wish.build, wish.target, SHORT_CASES if wish.short else ptx_kernels.cases(wish.build))
    mutants = [m for k in of_all if re.search(wish.kernels, k.name) for m in mutants_of(k, of_modules[k.file])]
    if wish.short:
        mutants = [m for m in mutants if (m.kernel.name, m.line + 1) in lines]
    kinds = {kind: [m for m in mutants if m.kind == kind] for kind in ("left out", "moved")}
    everything = {kind: len(found) for kind, found in kinds.items()}
    count = 24 if wish.short else wish.sample
    results = []
    if wish.minutes:  # all that are left out; of the others steps of the golden section
        everywhere = sorted(range(len(kinds["moved"])), key=lambda k: k * 0.6180339887498949 % 1)
        kinds["moved"] = [kinds["moved"][k] for k in everywhere]
    deadline = time.monotonic() + 60 * wish.minutes if wish.minutes else float("inf")
    try_mutants(wish.build, wish.target, [m for found in kinds.values() for m in evenly(found, count)], of_modules, of_all, lines, results, wish.jobs, deadline,
                Record(wish.record, of_modules))

    table, unexplained = collections.Counter(), []
    for mutant, outcome in sorted(results, key=lambda r: (r[0].kernel.name, r[0].line)):
        text = of_modules[mutant.kernel.file][mutant.line].strip()
        if outcome == "survived":
            why = next((r["reason"] for r in reasons["kernels"] if re.search(r["kernel"], mutant.kernel.name) and re.search(r["text"], text)), None)
            outcome = "explained" if why else "survived"
            if wish.list or not why:
                print(f"{outcome}: {mutant.kernel.name}, {mutant.kernel.file}.{wish.target}.ptx line {mutant.line + 1}, {mutant.kind}: {text}" + (f" ({why})" if why else ""))
        table[mutant.kind, outcome] += 1
        if outcome in ("survived", "not run"):
            unexplained.append(mutant)
            if outcome == "not run":
                print(f"not run: {mutant.kernel.name}, {mutant.kernel.file}.{wish.target}.ptx line {mutant.line + 1}: {text}")
    for call, cases, outcome in [] if wish.kernels else host_mutants.try_calls(wish.build, wish.target):
        if outcome == "survived":
            why = next((r["reason"] for r in reasons["host"] if r["function"] == call.function and r["caller"] == call.caller), None)
            outcome = "explained" if why else "survived"
            if wish.list or not why:
                print(f"{outcome}: {call.function} in {call.caller}, {', '.join(cases)}" + (f" ({why})" if why else ""))
            if not why:
                unexplained.append(call)
        table["host", outcome] += 1
    columns = ("reported", "found", "explained", "survived", "not run")
    print(f"{'':10}{'mutants':>9}{'tried':>9}" + "".join(f"{c:>11}" for c in columns))
    for kind in ("left out", "moved", "host"):
        tried = sum(table[kind, c] for c in columns)
        print(f"{kind:10}{everything.get(kind, tried):>9}{tried:>9}" + "".join(f"{table[kind, c]:>11}" for c in columns))
    return 1 if unexplained else 0


if __name__ == "__main__":
    sys.exit(main())

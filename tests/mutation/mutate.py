#!/usr/bin/env python3
"""Do the tests see a broken line? Breaks lines one at a time (mutants.json) in a copy of the tree, runs the quick tests that concern the
folder, and prints the mutants that no test noticed. Never touches the tree itself; not part of the tests (it takes half an hour).

    tests/mutation/mutate.py --work /tmp/mutants                        # all
    tests/mutation/mutate.py --work /tmp/mutants --folder solver --jobs 2
    tests/mutation/mutate.py --check                                    # only that every pattern occurs exactly once

A mutant replaces a statement or, as said there, an expression: both versions are compiled, and the environment chooses, so that all of
them are built at once. Where that cannot be (a constant, a declaration) it replaces text and is built by itself.

Exit status: 0 every mutant was noticed, 1 some survived, 2 a pattern no longer occurs exactly once (mend mutants.json).
"""
import argparse
import json
import os
import pathlib
import shutil
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]

# Which programs show that a folder is broken: (program, arguments), the quickest first; the first failure is enough.
TESTS = {
    "solver": [("fd_unit_tests", ["--gtest_filter=*Solver*:Basis*"]), ("fd_random_fits", ["--count", "60"]),
               ("fd_property_tests", ["--gtest_filter=OddData*:Invariance*:Trim*"])],
    "operator": [("fd_unit_tests", ["--gtest_filter=*Solver*:Fit*:DiffusionOperator*"]), ("fd_random_fits", ["--count", "40"]),
                 ("fd_property_tests", ["--gtest_filter=Invariance*:Operator*:Trim*:Aside*:Groups*"])],
    "flow": [("fd_unit_tests", ["--gtest_filter=Flow*:Groups*:PowerLaw*"]), ("fd_property_tests", ["--gtest_filter=OddData*"])],
    "io": [("fd_unit_tests", ["--gtest_filter=Io*"])],
    "cpu": [("fd_unit_tests", ["--gtest_filter=Schedule*:LocalityOrder*:Cpu*"]), ("fd_contract_tests", []),
            ("fd_property_tests", ["--gtest_filter=Kinds/StructuredTable*"])],
}
PROGRAM_SECONDS = 600

CHOICE = """#include <cstdlib>
#ifndef FD_MUTANT
inline int fd_mutant_chosen() {
  static const int number = std::getenv("FD_MUTANT") != nullptr ? std::atoi(std::getenv("FD_MUTANT")) : -1;
  return number;
}
#define FD_MUTANT(number) (fd_mutant_chosen() == (number))
#endif
"""


def mutants(folder):
    listed = json.loads((ROOT / "tests/mutation/mutants.json").read_text())
    return [m for m in listed if folder in (None, m["folder"])]


def stale(listed):
    return [m for m in listed if (ROOT / m["file"]).read_text().count(m["from"]) != 1]


def run(command, seconds, log, mutant=-1):
    environment = {**os.environ, "FD_MUTANT": str(mutant), "GTEST_FAIL_FAST": "1"}
    with open(log, "ab") as out:
        try:
            return subprocess.run(command, stdout=out, stderr=out, timeout=seconds, env=environment).returncode
        except subprocess.TimeoutExpired:
            return 124


def build(work, programs, jobs):
    command = ["cmake", "--build", str(work / "source/build"), "--parallel", str(jobs), "--target", *programs]
    return run(command, 3600, work / "build.log")


def first_failure(work, folder, mutant=-1):
    for program, arguments in TESTS[folder]:
        status = run([str(work / "source/build" / program), *arguments], PROGRAM_SECONDS, work / "tests.log", mutant)
        if status != 0:
            return f"{program} ({'no end' if status == 124 else f'status {status}'})"
    return None


def both_versions(mutant, number):
    if mutant.get("as") == "expression":
        return f"(FD_MUTANT({number}) ? ({mutant['to']}) : ({mutant['from']}))"
    return f"if (FD_MUTANT({number})) {{ {mutant['to']} }} else {{ {mutant['from']} }}"


def prepare(work, listed):
    source = work / "source"
    if source.exists():
        shutil.rmtree(source)
    shutil.copytree(ROOT, source, ignore=shutil.ignore_patterns("build", ".git"), copy_function=shutil.copy2)
    for number, mutant in enumerate(listed):
        if mutant.get("as") == "text":
            continue
        file = source / mutant["file"]
        whole = file.read_text().replace(mutant["from"], both_versions(mutant, number))
        file.write_text(whole if whole.startswith(CHOICE) else CHOICE + whole)
    configure = ["cmake", "-S", str(source), "-B", str(source / "build"), "-G", "Ninja", "-DCMAKE_BUILD_TYPE=Release"]
    if run(configure, 600, work / "build.log") != 0:
        sys.exit(f"cannot configure: {work / 'build.log'}")
    return source


def noticed_by(work, source, number, mutant, jobs):
    """What notices a mutant: a program, the compiler, or nothing."""
    if mutant.get("as") != "text":
        return first_failure(work, mutant["folder"], number)
    file = source / mutant["file"]
    whole = file.read_text()
    file.write_text(whole.replace(mutant["from"], mutant["to"]))
    try:
        if build(work, sorted({p for p, _ in TESTS[mutant["folder"]]}), jobs) != 0:
            return "the compiler"
        return first_failure(work, mutant["folder"])
    finally:
        file.write_text(whole)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--work", type=pathlib.Path, help="folder for the copy and its build")
    parser.add_argument("--folder", choices=TESTS)
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--check", action="store_true", help="only look whether the patterns still occur")
    arguments = parser.parse_args()
    listed = mutants(arguments.folder)
    lost = stale(listed)
    for mutant in lost:
        print(f"STALE     {mutant['file']}: {mutant['from']}")
    if arguments.check or lost:
        return 2 if lost else 0
    if arguments.work is None:
        parser.error("--work names a folder for the copy")
    arguments.work.mkdir(parents=True, exist_ok=True)
    source = prepare(arguments.work, listed)
    programs = sorted({program for folder in {m["folder"] for m in listed} for program, _ in TESTS[folder]})
    if build(arguments.work, programs, arguments.jobs) != 0:
        sys.exit(f"the unbroken tree does not build: {arguments.work / 'build.log'}")
    for folder in sorted({m["folder"] for m in listed}):
        if failed := first_failure(arguments.work, folder):
            sys.exit(f"the unbroken tree fails {failed}: {arguments.work / 'tests.log'}")
    survivors = 0
    for number, mutant in sorted(enumerate(listed), key=lambda pair: pair[1].get("as") == "text"):
        seen = noticed_by(arguments.work, source, number, mutant, arguments.jobs)
        survivors += seen is None
        print(f"{'SURVIVED ' if seen is None else 'noticed  '} {mutant['file']}: {mutant['from']}  ->  {mutant['to']}"
              + (f"   [{seen}]" if seen else ""), flush=True)
    print(f"{len(listed)} mutants, {survivors} survived")
    return 1 if survivors else 0


if __name__ == "__main__":
    sys.exit(main())

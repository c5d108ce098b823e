#!/usr/bin/env python3
"""Do the tests see a broken line? Breaks lines one at a time (mutants.json) in a copy of the tree, builds, runs the quick tests that
concern the folder, and prints the mutants that no test noticed. Never touches the tree itself; not part of the tests (it takes an hour).

    tests/mutation/mutate.py --work /tmp/mutants                        # all
    tests/mutation/mutate.py --work /tmp/mutants --folder solver --jobs 2
    tests/mutation/mutate.py --check                                    # only that every pattern occurs exactly once

Exit status: 0 every mutant was noticed, 1 some survived, 2 a pattern no longer occurs exactly once (mend mutants.json).
"""
import argparse
import json
import pathlib
import shutil
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]

# Which programs show that a folder is broken: (program, arguments), the quickest first; the first failure is enough.
TESTS = {
    "solver": [("fd_unit_tests", ["--gtest_filter=*Solver*"]), ("fd_random_fits", ["--count", "60"]),
               ("fd_property_tests", ["--gtest_filter=OddData*:Invariance*:Trim*"])],
    "operator": [("fd_unit_tests", ["--gtest_filter=*Solver*:Fit*"]), ("fd_random_fits", ["--count", "40"]),
                 ("fd_property_tests", ["--gtest_filter=Invariance*:Operator*:Trim*:Aside*"])],
    "flow": [("fd_unit_tests", ["--gtest_filter=Flow*:Groups*"]), ("fd_property_tests", ["--gtest_filter=OddData*"])],
    "io": [("fd_unit_tests", ["--gtest_filter=Io*"])],
    "cpu": [("fd_unit_tests", ["--gtest_filter=Schedule*:LocalityOrder*"]), ("fd_contract_tests", []),
            ("fd_property_tests", ["--gtest_filter=Kinds/StructuredTable*"])],
}
PROGRAM_SECONDS = 300


def mutants(folder):
    listed = json.loads((ROOT / "tests/mutation/mutants.json").read_text())
    return [m for m in listed if folder in (None, m["folder"])]


def stale(listed):
    return [m for m in listed if (ROOT / m["file"]).read_text().count(m["from"]) != 1]


def run(command, seconds, log):
    with open(log, "ab") as out:
        try:
            return subprocess.run(command, stdout=out, stderr=out, timeout=seconds).returncode
        except subprocess.TimeoutExpired:
            return 124


def build(work, programs, jobs):
    command = ["cmake", "--build", str(work / "build"), "--parallel", str(jobs), "--target", *programs]
    return run(command, 3600, work / "build.log")


def first_failure(work, folder):
    for program, arguments in TESTS[folder]:
        status = run([str(work / "build" / program), *arguments], PROGRAM_SECONDS, work / "tests.log")
        if status != 0:
            return f"{program} ({'no end' if status == 124 else f'status {status}'})"
    return None


def prepare(work, jobs):
    source = work / "source"
    if source.exists():
        shutil.rmtree(source)
    shutil.copytree(ROOT, source, ignore=shutil.ignore_patterns("build", ".git"), copy_function=shutil.copy2)
    configure = ["cmake", "-S", str(source), "-B", str(work / "build"), "-G", "Ninja", "-DCMAKE_BUILD_TYPE=Release",
                 "-DCMAKE_CXX_FLAGS_RELEASE=-O1", "-DFD_BUILD_APPS=OFF"]
    if run(configure, 600, work / "build.log") != 0:
        sys.exit(f"cannot configure: {work / 'build.log'}")
    return source


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
    source = prepare(arguments.work, arguments.jobs)
    programs = sorted({program for folder in {m["folder"] for m in listed} for program, _ in TESTS[folder]})
    if build(arguments.work, programs, arguments.jobs) != 0:
        sys.exit(f"the unbroken tree does not build: {arguments.work / 'build.log'}")
    for folder in sorted({m["folder"] for m in listed}):
        if failed := first_failure(arguments.work, folder):
            sys.exit(f"the unbroken tree fails {failed}: {arguments.work / 'tests.log'}")
    survivors = 0
    for mutant in listed:
        file = source / mutant["file"]
        whole = file.read_text()
        file.write_text(whole.replace(mutant["from"], mutant["to"]))
        try:
            if build(arguments.work, sorted({p for p, _ in TESTS[mutant["folder"]]}), arguments.jobs) != 0:
                seen = "the compiler"
            else:
                seen = first_failure(arguments.work, mutant["folder"])
        finally:
            file.write_text(whole)
        survivors += seen is None
        print(f"{'SURVIVED ' if seen is None else 'noticed  '} {mutant['file']}: {mutant['from']}  ->  {mutant['to']}"
              + (f"   [{seen}]" if seen else ""), flush=True)
    print(f"{len(listed)} mutants, {survivors} survived")
    return 1 if survivors else 0


if __name__ == "__main__":
    sys.exit(main())

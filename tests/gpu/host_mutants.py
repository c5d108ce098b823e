"""Waits, events, fills and copies between devices of the host code left out, one call of the source at a time: all that it makes in a run. Which calls there are is asked of the
software GPU; who made them, of the program's table of symbols. mutants.py prints what comes of it."""
import bisect
import collections
import re
import subprocess
import tempfile
from pathlib import Path

import ptx_kernels

WAITS = ("cuEventRecord", "cuEventSynchronize", "cuStreamWaitEvent", "cuStreamSynchronize", "cuMemcpyPeerAsync", "cuMemcpyDtoDAsync", "cuMemsetD32Async")
CASES = {"lent_by_hand": dict(FD_SOFTGPU_DEVICES=2), "dropped_by_hand": dict(FD_SOFTGPU_DEVICES=2), "launches_under_way": dict(FD_SOFTGPU_MEMORY="1M", FD_SOFTGPU_MULTIPROCESSORS=1), "two_parts_8_pair": {},
         "blocks_fp32": {}, "two_ranks": dict(FD_SOFTGPU_DEVICES=1), "sent_by_hand": dict(FD_SOFTGPU_DEVICES=2), "lent_fp32": dict(FD_SOFTGPU_DEVICES=3)}
# What a call of the source goes through on its way to the driver.
HELPERS = re.compile(r"fd::cuda::(Device::synchronize|Event::(record|hold|wait)|LentEvents::record|Arrival::meet|Driver::)")

Call = collections.namedtuple("Call", "function place caller")


class Symbols:
    def __init__(self, program):
        rows = []
        for line in subprocess.run(["nm", "-C", program], capture_output=True, text=True, check=True).stdout.splitlines():
            parts = line.split(" ", 2)
            if len(parts) == 3 and parts[0] and parts[1] in "tTwW":
                rows.append((int(parts[0], 16), parts[2]))
        rows.sort()
        self.starts, self.names = [r[0] for r in rows], [r[1] for r in rows]

    def at(self, offset):
        """The function that calls from there, without its arguments."""
        k = bisect.bisect_right(self.starts, offset - 1) - 1
        return re.sub(r"\(anonymous namespace\)::|\(.*", lambda m: m[0] if m[0].startswith("(anon") else "", self.names[k]) if k >= 0 else "?"


def calls_of(places, symbols):
    """Calls of the source: a driver function, and the way to it from the first function that is no helper."""
    found = set()
    for line in places.read_text().splitlines():
        function, _, place = line.partition(" ")
        if function not in WAITS:
            continue
        frames = place.split(",")
        depth = next((k for k, frame in enumerate(frames) if not HELPERS.match(symbols.at(int(frame, 16)))), len(frames) - 1)
        found.add(Call(function, ",".join(frames[:depth + 1]), symbols.at(int(frames[depth], 16))))
    return found


def try_calls(build, target):
    """[(Call, cases that reach it, outcome)]"""
    server, symbols, reached = ptx_kernels.Server(build, target), Symbols(build / "fd_gpu_cases"), collections.defaultdict(list)
    results = []
    with tempfile.TemporaryDirectory() as folder:
        for case, machine in CASES.items():
            places = Path(folder) / case
            said, report = server.run([case], FD_SOFTGPU_PLACES=places, **machine)
            if said != "ok" or report:
                raise SystemExit(f"mutants: case {case} fails without a mutant: {said} {report}")
            for call in calls_of(places, symbols):
                reached[call].append(case)
    for call, cases in sorted(reached.items()):
        outcome = "survived"
        for case in cases:
            said, report = server.run([case], FD_SOFTGPU_IGNORE=f"{call.function}@{call.place}", **CASES[case])
            if [line for line in report.splitlines() if "left out on demand" not in line]:
                outcome = "reported"
            elif said != "ok":
                outcome = "found"
            if outcome != "survived":
                break
        results.append((call, cases, outcome))
    server.close()
    return results

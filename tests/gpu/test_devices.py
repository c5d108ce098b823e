"""Several GPUs that lend to each other (kernel_cases.cpp: `lent`): the bits of GPUs whose messages go through the host, whatever the machine; a wait of the
ring that is forgotten, on any device, is reported; a call that fails ends all ranks, and nothing is freed under another's copy."""
import os
import re
from pathlib import Path

import pytest

import ptx_kernels

BUILD = Path(os.environ["FD_GPU_CASES"]).parent


@pytest.fixture(scope="module")
def server():
    made = ptx_kernels.Server(BUILD, os.environ.get("FD_SOFTGPU_SM", "80"))
    yield made
    made.close()


# The second machine has no memory to keep visitors: two of 128 rows take 31 kB, and a quarter of it is theirs.
@pytest.mark.parametrize("case, machine", [("lent_fp64", dict(FD_SOFTGPU_DEVICES=2)),
                                           ("lent_fp32", dict(FD_SOFTGPU_DEVICES=4, FD_SOFTGPU_PEERS=0, FD_SOFTGPU_MEMORY="120K"))])
def test_bits_are_those_of_messages_through_the_host(server, case, machine):
    assert server.run([case], **machine) == ("ok", ""), machine


def left_out(server, case, function, n):
    """None where there is no such call, else whether somebody noticed."""
    said, report = server.run([case], FD_SOFTGPU_DEVICES=3, FD_SOFTGPU_IGNORE=f"{function}:{n}")
    findings = [line for line in report.splitlines() if "left out on demand" not in line]
    if len(findings) == len(report.splitlines()):
        return None
    return said != "ok" or bool(findings)


# Of several threads one may have waited for what another lends, and the software GPU takes the host for one: waits for it count for certain in one thread.
@pytest.mark.parametrize("case, function, step", [("lent_fp32", "cuMemcpyPeerAsync", 11), ("lent_by_hand", "cuMemcpyPeerAsync", 1),
                                                  ("lent_by_hand", "cuStreamWaitEvent", 1)])
def test_what_is_left_out_is_noticed(server, case, function, step):
    step, n = 1 if os.environ.get("FD_EVERY_CALL") else step, 1
    while (noticed := left_out(server, case, function, n)) is not None:
        assert noticed, (case, function, n)
        n += step
    assert n > 2 * step


def test_a_call_that_fails_ends_all_ranks(server):
    every = 1 if os.environ.get("FD_EVERY_CALL") else 211
    failed = 0
    for n in range(100, 1500, every):
        said, report = server.run(["lent_fp32"], FD_SOFTGPU_DEVICES=3, FD_SOFTGPU_FAIL=n)
        assert said in ("ok", "refused"), n
        assert not re.search("race|freed|leak|never written", report), (n, report)
        failed += said == "refused"
    assert failed > 3

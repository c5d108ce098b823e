"""The ranks of an MPI job, by mpi4py: what python/src/python_comm.hpp asks of them."""

from __future__ import annotations

import mmap
import time
from typing import Any

PIECE = 1 << 30  # longer messages travel in pieces behind their length: MPI counts in int
WHOLE, LENGTH_OF_PIECES = 1, 2


class Ranks:
    """Messages and stops among the processes of a communicator, on copies of it that are freed at the end.

    ``with Ranks(comm) as ranks:`` is entered and left by all processes.
    """

    def __init__(self, comm: Any) -> None:
        from mpi4py import MPI

        if not isinstance(comm, MPI.Intracomm):
            raise TypeError(f"comm = {comm!r} is not an intracommunicator of mpi4py, such as mpi4py.MPI.COMM_WORLD")
        self._mpi = MPI
        self.rank, self.size = comm.Get_rank(), comm.Get_size()
        self._messages, self._stops = comm.Dup(), comm.Dup()
        self._sent: list[tuple[Any, Any, Any]] = []  # requests, with what they read and what owns that
        self._expected: _Expected | None = None
        self._stopped = 0

    def __enter__(self) -> Ranks:
        return self

    def __exit__(self, *_: object) -> None:
        while self._sent:
            self._release_sent()
            time.sleep(0)
        self._take_stops()
        self._messages.Free()
        self._stops.Free()

    def agree(self, error: Exception | None) -> None:
        """What rank 0 found wrong before the fit is raised on all; the others wait for its word."""
        error = self._messages.bcast(error if self.rank == 0 else None, root=0)
        if error is not None:
            raise error

    # -- what the library calls

    def send(self, to: int, data: memoryview, owner: Any) -> None:
        self._release_sent()
        if len(data) > PIECE:
            self._post(self._messages, to, len(data).to_bytes(8, "little"), LENGTH_OF_PIECES, None)
        for first in range(0, max(1, len(data)), PIECE):
            self._post(self._messages, to, data[first : first + PIECE], WHOLE, owner)

    def receive(self, source: int) -> bytearray:
        tag, data = self._take(source)
        if tag == WHOLE:
            return data
        length, whole = int.from_bytes(data, "little"), bytearray()
        lost: MemoryError | None = None  # what there is no memory for is taken all the same, or the next message would be read in its place
        for _ in range(0, length, PIECE):
            try:
                data = self._take(source)[1]
                if lost is None:
                    whole += data
            except MemoryError as error:
                lost, whole = error, bytearray()
        if lost is not None:
            raise lost
        return whole

    def expect(self, source: int) -> None:
        if self._expected is None:
            self._expected = _Expected(source)

    def progress(self) -> None:
        self._release_sent()
        if self._expected is not None:
            self._fetch(self._expected)

    def ask_stop(self, work: int) -> None:
        if self._stopped >= work:
            return
        self._stopped = work
        for other in range(self.size):
            if other != self.rank:
                self._post(self._stops, other, work.to_bytes(8, "little"), WHOLE, None)

    def stop_asked(self, work: int) -> bool:
        self._take_stops()
        return self._stopped >= work

    # --

    def _post(self, comm: Any, to: int, data: Any, tag: int, owner: Any) -> None:
        self._sent.append((comm.Isend([data, self._mpi.BYTE], dest=to, tag=tag), data, owner))

    def _release_sent(self) -> None:
        self._sent = [one for one in self._sent if not one[0].Test()]

    def _fetch(self, one: _Expected) -> bool:
        """Whether all of it is here."""
        if one.found is None and one.request is None:
            status = self._mpi.Status()
            one.found = self._messages.Improbe(one.source, self._mpi.ANY_TAG, status)
            if one.found is None:
                return False
            one.size, one.tag = status.Get_count(self._mpi.BYTE), status.Get_tag()
        if one.request is None:
            one.data = bytearray(one.size)
            one.request = one.found.Irecv([one.data, self._mpi.BYTE])
        return bool(one.request.Test())

    def _take(self, source: int) -> tuple[int, bytearray]:
        """Waits politely: a rank that has nothing to do leaves the core to others."""
        expected = self._expected
        one = expected if expected is not None and expected.source == source else _Expected(source)
        tries = 0
        while not self._here(one):
            self._release_sent()
            tries += 1
            if one.request is None and tries > 200:
                time.sleep(0 if tries <= 2000 else min(1e-3, tries / 2e7))
        if one is expected:
            self._expected = None
        return one.tag, one.data

    def _here(self, one: _Expected) -> bool:
        try:
            return self._fetch(one)
        except MemoryError:  # received into pages that are given back, and forgotten
            if one is self._expected:
                self._expected = None
            with mmap.mmap(-1, max(1, one.size)) as pages, memoryview(pages)[: one.size] as view:
                one.found.Recv([view, self._mpi.BYTE])
            raise

    def _take_stops(self) -> None:
        while (found := self._stops.Improbe(self._mpi.ANY_SOURCE, WHOLE)) is not None:
            work = bytearray(8)
            found.Recv([work, self._mpi.BYTE])
            self._stopped = max(self._stopped, int.from_bytes(work, "little"))


class _Expected:
    """A message that is fetched while its receiver computes."""

    def __init__(self, source: int) -> None:
        self.source, self.tag, self.size = source, WHOLE, 0
        self.found: Any = None  # matched, and to be received by nobody else, whether there is memory for it or not
        self.request: Any = None
        self.data = bytearray()

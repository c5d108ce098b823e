"""While a fit runs: Ctrl-C, progress, other threads, and the memory of the caller's array."""

import os
import signal
import subprocess
import sys
import textwrap
import threading
import time
import warnings

import numpy as np
import pytest
from conftest import torus

import flashdiffusion._native as native
from flashdiffusion import Decoder, DiffusionMap, kernel_matmul
from flashdiffusion._points import as_points

LONG = dict(n_components=64, beta=30.0, tolerance=1e-6)  # far more than a second of work


def long_points():
    return torus(30000, seed=5).astype(np.float32)


def test_control_c_stops_a_fit():
    """The signal goes to a process of its own, which says how long the fit lived on after it."""
    script = textwrap.dedent(
        """
        import os, signal, threading, time
        signal.signal(signal.SIGINT, signal.default_int_handler)  # what runs in the background of a shell may ignore it
        import numpy as np
        from conftest import torus
        from flashdiffusion import DiffusionMap
        sent = []
        def send():
            sent.append(time.monotonic())
            os.kill(os.getpid(), signal.SIGINT)
        def once(record):
            if not sent and record["pass"] > 0:
                threading.Thread(target=send).start()
        try:
            DiffusionMap(64, beta=30.0, tolerance=1e-6, callback=once).fit(torus(30000, seed=5).astype(np.float32))
        except KeyboardInterrupt:
            print("interrupted", time.monotonic() - sent[0])
        """
    )
    path = os.pathsep.join([os.path.dirname(__file__), *filter(None, [os.environ.get("PYTHONPATH")])])
    result = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, timeout=300, env={**os.environ, "PYTHONPATH": path}
    )
    assert result.stdout.startswith("interrupted"), result.stdout + result.stderr
    assert float(result.stdout.split()[1]) < 2


@pytest.mark.skipif(not hasattr(signal, "setitimer"), reason="there are no timers")
def test_a_signal_stops_the_loading_of_points():
    """Of a kernel operator, which reads them and puts them in order: the answer comes long before that is done."""
    pytest.importorskip("scipy")
    from flashdiffusion import KernelOperator

    class Enough(Exception):
        pass

    def enough(*_):
        raise Enough

    x = np.random.default_rng(0).normal(size=(1 << 20, 8)).astype(np.float32)
    began = time.monotonic()
    KernelOperator(x, beta=0.1)
    whole = time.monotonic() - began
    before = signal.signal(signal.SIGALRM, enough)
    try:
        for call in (lambda: KernelOperator(x, beta=0.1), lambda: kernel_matmul(x, np.ones(len(x)), beta=0.1)):
            began = time.monotonic()
            signal.setitimer(signal.ITIMER_REAL, whole / 20)
            with pytest.raises(Enough):
                call()
            assert time.monotonic() - began < whole / 2
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


def test_an_exception_in_the_callback_stops_a_fit_and_is_what_is_raised():
    class Enough(Exception):
        pass

    def callback(record):
        raise Enough(record["stage"])

    with pytest.raises(Enough):
        DiffusionMap(**LONG, callback=callback).fit(long_points())


@pytest.mark.parametrize("error", [ValueError("row 5 in my `modes`"), RuntimeError("use --modes"), MemoryError("row 7")])
def test_what_a_callback_raises_keeps_its_words_and_its_traceback(error):
    def callback(record):
        raise error

    with pytest.raises(type(error)) as caught:
        DiffusionMap(4, callback=callback).fit(torus(9000))
    assert caught.value is error
    assert "callback" in [entry.name for entry in caught.traceback]


def test_other_threads_run_meanwhile():
    """Python code in another thread moves on between two reports of a fit, which the fit itself takes in one go."""
    steps, stop, seen = [0], threading.Event(), []

    def count():
        while not stop.is_set():
            steps[0] += 1
            time.sleep(0.001)

    def callback(record):
        seen.append(steps[0])
        if len(seen) >= 5:
            raise StopIteration

    thread = threading.Thread(target=count)
    thread.start()
    try:
        with pytest.raises(StopIteration):
            DiffusionMap(**LONG, callback=callback).fit(long_points())
    finally:
        stop.set()
        thread.join()
    assert seen[-1] - seen[0] >= 10


def test_progress_tells_where_the_fit_is(points):
    records = []
    DiffusionMap(8, callback=records.append).fit(torus(9000))
    assert records
    assert {"stage", "n", "beta", "pass", "fraction", "seconds_left", "converged", "wanted"} <= set(records[0])
    assert all(0 <= record["fraction"] <= 1 for record in records)


def test_verbose_says_something_and_quiet_nothing(capfd):
    DiffusionMap(8, verbose=1).fit(torus(9000))
    assert "rows" in capfd.readouterr().err
    DiffusionMap(8).fit(torus(9000))
    captured = capfd.readouterr()
    assert captured.err == "" and captured.out == ""


def test_two_fits_at_once_do_not_meddle(points):
    alone, together = DiffusionMap(4, beta=1.5).fit(points).psi_, [None, None]

    def run(i):
        together[i] = DiffusionMap(4, beta=1.5).fit(points).psi_

    threads = [threading.Thread(target=run, args=(i,)) for i in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for psi in together:
        np.testing.assert_array_equal(psi, alone)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_a_contiguous_array_is_not_copied(dtype):
    array = np.zeros((100, 5), dtype=dtype)
    assert as_points(array) is array
    array.setflags(write=False)
    assert np.shares_memory(as_points(array), array)


def test_the_extension_takes_what_it_is_given_or_refuses_it():
    """No silent conversion behind the Python side's back."""
    options = native.Options()
    for unfit in (np.zeros((50, 3), dtype=np.int32), np.asfortranarray(np.random.rand(50, 3)), np.zeros(50)):
        with pytest.raises((TypeError, ValueError)):
            native.fit(unfit, options)


def test_kinds_of_arrays_give_the_same_map(points, tmp_path):
    wanted = DiffusionMap(3, beta=1.5).fit(points).psi_
    np.save(tmp_path / "points.npy", points)
    read_only = points.copy()
    read_only.setflags(write=False)
    kinds = {
        "read-only": read_only,
        "memory-mapped": np.load(tmp_path / "points.npy", mmap_mode="r"),
        "float64": points.astype(np.float64),
        "Fortran order": np.asfortranarray(points),
        "strided": np.repeat(points, 2, axis=0)[::2],
        "big-endian": points.astype(">f4"),
        "list": points.tolist(),
    }
    for name, kind in kinds.items():
        np.testing.assert_array_equal(DiffusionMap(3, beta=1.5).fit(kind).psi_, wanted, err_msg=name)
    whole = np.round(points * 10)
    np.testing.assert_array_equal(
        DiffusionMap(3, beta=0.01).fit(whole.astype(np.int16)).psi_, DiffusionMap(3, beta=0.01).fit(whole).psi_, err_msg="integers"
    )


def test_tables_with_something_missing_are_refused_by_place(points):
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame(points).astype("Float64")
    frame.iloc[4, 2] = pandas.NA
    masked = np.ma.masked_array(points, mask=np.arange(points.size).reshape(points.shape) == 4 * 4 + 2)
    for table in (frame, masked, masked.astype(np.float64)):
        with pytest.raises(ValueError, match="row 5, column 3"):
            DiffusionMap(3, beta=1.5).fit(table)
    mixed = pandas.DataFrame({"whole": np.arange(400), "flag": points[:, 0] > 0, "number": points[:, 1]}).convert_dtypes()
    assert DiffusionMap(3, beta=0.001).fit(mixed).n_features_in_ == 3


def test_embedding_outlives_its_model(points):
    psi = DiffusionMap(3, beta=1.5).fit(points).psi_
    copy = psi.copy()
    import gc

    gc.collect()
    DiffusionMap(3, beta=1.0).fit(points)
    np.testing.assert_array_equal(psi, copy)


@pytest.mark.parametrize(
    "run",
    [
        "DiffusionMap(64, beta=30.0, tolerance=1e-6).fit(x)",
        "DiffusionMap(64, beta=30.0, tolerance=1e-6, callback=lambda record: None).fit(x)",
        "kernel_matmul(x, np.ones((30000, 64)), beta=30.0, n_jobs=1)",
        "[kernel_matmul(x, np.ones((30000, 1)), beta=30.0, n_jobs=1) for _ in range(1000)]",
    ],
)
def test_python_ends_while_a_daemon_thread_computes(run):
    """Quietly and soon: the thread cannot have Python's lock any more, and does not ask for it. What is run at exit may still compute."""
    script = textwrap.dedent(
        f"""
        import atexit, threading, time
        import numpy as np
        from conftest import torus
        x = torus(30000, seed=5).astype(np.float32)
        atexit.register(lambda: print("at exit", kernel_matmul(x[:9], np.ones(9), beta=1.0).shape, time.monotonic() - ended < 5, flush=True))
        from flashdiffusion import DiffusionMap, kernel_matmul
        from flashdiffusion import _native
        threading.Thread(target=lambda: {run}, daemon=True).start()
        time.sleep(0.5)
        ended = time.monotonic()
        """
    )
    path = os.pathsep.join([os.path.dirname(__file__), *filter(None, [os.environ.get("PYTHONPATH")])])
    result = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, timeout=120, env={**os.environ, "PYTHONPATH": path}
    )
    assert (result.returncode, result.stdout, result.stderr) == (0, "at exit (9,) True\n", "")


def test_a_forked_child_does_not_wait_for_threads_it_does_not_have():
    script = textwrap.dedent(
        """
        import os, sys, threading, time
        import numpy as np
        from flashdiffusion import kernel_matmul
        x = np.random.default_rng(0).normal(size=(30000, 6)).astype(np.float32)
        threading.Thread(target=lambda: kernel_matmul(x, np.ones((30000, 64)), beta=0.1, n_jobs=1), daemon=True).start()
        time.sleep(0.3)
        child = os.fork()
        if not child:
            sys.exit(3)
        began = time.monotonic()
        print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), time.monotonic() - began < 5)
        """
    )
    result = subprocess.run([sys.executable, "-W", "ignore", "-c", script], capture_output=True, text=True, timeout=120)
    assert (result.returncode, result.stdout, result.stderr) == (0, "3 True\n", "")


def test_dates_are_no_coordinates(points):
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame({"when": pandas.date_range("2020", periods=400), "x": points[:, 0], "lasting": pandas.to_timedelta(np.arange(400), unit="s")})
    with pytest.raises(ValueError, match="columns 'when', 'lasting' hold dates or times"):
        DiffusionMap(3).fit(frame)
    for kind in (frame["when"].dt.tz_localize("UTC"), frame["when"].dt.to_period("D")):
        with pytest.raises(ValueError, match="column 'when' holds dates or times"):
            DiffusionMap(3).fit(pandas.DataFrame({"when": kind, "x": points[:, 0]}))
    polars = pytest.importorskip("polars")
    frame = polars.from_pandas(frame)
    with pytest.raises(ValueError, match="columns 'when', 'lasting' hold dates or times"):
        DiffusionMap(3).fit(frame)
    with pytest.raises(ValueError, match="column 'when' holds"):
        DiffusionMap(3).fit(frame.select(polars.col("when").cast(polars.Date), "x"))


def test_lazy_frames_are_refused_as_such(points):
    """Whatever becomes of warnings: asked for its columns a lazy frame gives one."""
    polars = pytest.importorskip("polars")
    frame = polars.DataFrame(points, schema=list("abcd"))
    model = DiffusionMap(2, beta=1.5).fit(frame)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for call in (model.fit, model.fit_transform, model.transform, lambda lazy: Decoder().fit(lazy, points[:, 0])):
            with pytest.raises(TypeError, match=r"^X is a lazy frame: call .collect\(\) first"):
                call(frame.lazy())
        with pytest.raises(TypeError, match=r"^labels is a lazy frame"):
            model.report(labels=frame.lazy())
        model.transform(frame)


@pytest.mark.parametrize("package", ["pandas", "polars"])
def test_columns_of_words_are_named(points, package):
    frame = pytest.importorskip(package).DataFrame
    table = {"a": points[:, 0], "cell": [f"AAAC{i}" for i in range(len(points))], "b": points[:, 1], "3": ["3"] * len(points)}
    with pytest.raises(ValueError, match="column 'cell' holds words, such as 'AAAC0'"):
        DiffusionMap(2).fit(frame(table))
    with pytest.raises(ValueError, match="columns 'cell', 'type' hold words"):
        DiffusionMap(2).fit(frame({**table, "type": ["T"] * len(points)}))
    del table["cell"]
    assert DiffusionMap(2, beta=1.5).fit(frame(table)).n_features_in_ == 3  # numbers that are written out


def test_numbers_beyond_any_float_are_refused():
    with pytest.raises(ValueError, match="X: int too large"):
        DiffusionMap(2).fit(np.array([[10**400, 1], [2, 3], [4, 5]], dtype=object))

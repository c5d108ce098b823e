"""The program itself: help, version, streams, progress, signals, the verbs that need no data."""

import contextlib
import json
import os
import pty
import signal
import subprocess
import time

import h5py
import numpy as np
import pytest

from conftest import PROGRAM, torus

VERBS = ["fit", "transform", "report", "decode", "support", "info", "estimate", "demo", "reproduce", "selftest", "completions"]


def test_help_is_everywhere(program):
    whole = program("--help").stdout
    for verb in VERBS:
        assert verb in whole
        text = program(verb, "--help").stdout
        assert f"flashdiffusion {verb}" in text and "Examples" in text
    nothing = program(status=2)
    assert nothing.stdout == "" and "Examples" in nothing.stderr


def test_version(program):
    text = program("--version").stdout
    assert text.strip() and text.endswith("\n") and "0." in text


def test_help_is_a_command_too(program):
    assert program("help").stdout == program("--help").stdout
    assert program("help", "fit").stdout == program("fit", "--help").stdout


def test_unknown_words(program):
    program.refused("fti", words=["fti", "did you mean fit"])
    program.refused("xylophone", words=["xylophone", "--help"])
    program.refused("--verison", words=["--verison", "--version"])
    program.refused("fit", words=["points"])
    program.refused("info", "a.h5", "--jsno", words=["--jsno", "--json"])


def test_info_and_fit_say_the_same_under_the_same_names(program, points):
    fitted = json.loads(program("fit", "points.npy", "--beta", 3, "-k", 5, "--json", "-o", "model.h5").stdout)
    told = json.loads(program("info", "model.h5", "--json").stdout)
    assert fitted.pop("output") == "model.h5"
    assert fitted.pop("remarks") == []  # measured from the modes, which info does not read
    assert fitted == told
    with h5py.File(program.folder / "model.h5") as file:
        for name, value in file.attrs.items():
            value = value.decode() if isinstance(value, bytes) else value
            if isinstance(value, float) and np.isnan(value):  # JSON knows no NaN
                value = None
            assert told[name] == value, name
        assert told["eigenvalues"] == list(file["eigenvalues"]) and told["residuals"] == list(file["residuals"])
        for name, column in told["sweep"].items():
            assert len(column) == len(file["sweep"][name])
    for name in ["passes", "full_passes", "columns"]:
        assert isinstance(told[name], int) and told[name] > 0
    assert told["seconds"] > 0 and told["peak_rss_bytes"] > 1e6
    assert "aside" in told["sweep"]
    text = program("info", "model.h5").stdout
    assert "400 rows, 4 columns" in text and f"{told['eigenvalues'][0]:.6f}"[:7] in text


def test_info_of_points_reads_only_the_header(program):
    # 400 GB that are not there: a sparse file.
    shape = (1_000_000_000, 100)
    header = np.lib.format.header_data_from_array_1_0(np.zeros((1, 1), np.float32))
    header["shape"] = shape
    with open(program.folder / "huge.npy", "wb") as file:
        np.lib.format.write_array_header_1_0(file, header)
        start = file.tell()
        try:
            file.truncate(start + 4 * shape[0] * shape[1])
        except OSError:
            pytest.skip("this file system has no sparse files of 400 GB")
    begun = time.monotonic()
    told = json.loads(program("info", "huge.npy", "--json").stdout)
    assert (told["n"], told["dimension"]) == shape and told["fit_memory_bytes"] > 4e11
    assert time.monotonic() - begun < 5


def test_results_on_stdout_and_the_rest_on_stderr(program, points):
    loud = program("fit", "points.npy", "--beta", 3, "-k", 4, "-o", "m.h5")
    assert "eigenvalue" in loud.stdout and "m.h5" in loud.stdout and "--beta 3" in loud.stdout
    assert "\r" not in loud.stderr and "\x1b" not in loud.stderr
    quiet = program("fit", "points.npy", "--beta", 3, "-k", 4, "-o", "m.h5", "--quiet")
    assert quiet.stdout == "" and quiet.stderr == ""
    both = program("fit", "points.npy", "--beta", 3, "-k", 4, "-o", "m.h5", "--quiet", "--json")
    assert json.loads(both.stdout)["beta"] == 3 and both.stderr == ""


def test_idle_options_are_named(program, points):
    assert "--select has no effect" in program("fit", "points.npy", "--beta", 3, "-k", 4, "--select", "paper", "-o", "m.h5").stderr


@pytest.mark.parametrize("redirection", [">&-", ">/dev/full"])
def test_output_that_cannot_be_written(program, points, redirection):
    command = f'exec "{PROGRAM}" fit points.npy --beta 3 -k 4 -o m.h5 {redirection}'
    result = subprocess.run(["sh", "-c", command], cwd=program.folder, capture_output=True, text=True, timeout=60)
    assert result.returncode == 3 and "standard output" in result.stderr and "written before: m.h5" in result.stderr
    with h5py.File(program.folder / "m.h5") as file:  # the model itself is whole, and nothing was printed into it
        assert file["psi"].shape == (400, 4)


def test_closed_pipe(program, points):
    reading, writing = os.pipe()
    os.close(reading)
    result = subprocess.run([PROGRAM, "info", "points.npy"], cwd=program.folder, stdout=writing, stderr=subprocess.PIPE, timeout=60)
    os.close(writing)
    assert result.returncode == 3 and result.stderr == b"", "whoever read has seen enough: nothing to complain about"


def run_on_terminal(program, arguments, environment):
    try:
        master, slave = pty.openpty()
    except OSError as error:
        pytest.skip(f"this machine has no pseudo-terminals: {error}")
    process = subprocess.Popen([PROGRAM, *map(str, arguments)], cwd=program.folder, stdout=subprocess.DEVNULL, stderr=slave,
                               env={**os.environ, "TERM": "xterm", **environment})
    os.close(slave)
    shown = b""
    while True:
        try:
            piece = os.read(master, 4096)
        except OSError:
            break
        if not piece:
            break
        shown += piece
    os.close(master)
    assert process.wait(timeout=60) == 0
    return shown.decode()


def test_progress_on_a_terminal(program):
    np.save(program.folder / "x.npy", torus(12000).astype(np.float32))
    arguments = ["fit", "x.npy", "--beta", 4, "-k", 8, "--tolerance", 1e-6, "-o", "m.h5", "--threads", 1]
    coloured = run_on_terminal(program, arguments, {"NO_COLOR": ""})
    assert "\r" in coloured and "pairs/s" in coloured and "pass" in coloured and "\x1b[1m" in coloured
    assert coloured.endswith("\r\x1b[K")  # the line is wiped
    plain = run_on_terminal(program, arguments, {"NO_COLOR": "1"})
    assert "pairs/s" in plain and "\x1b[1m" not in plain
    assert run_on_terminal(program, [*arguments, "--quiet"], {}) == ""


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_interrupted_fit_stops_soon_and_leaves_nothing(program, number):
    np.save(program.folder / "x.npy", np.random.default_rng(0).normal(size=(60000, 20)).astype(np.float32))
    process = subprocess.Popen([PROGRAM, "fit", "x.npy", "--beta", "0.05", "-k", "32", "-o", "m.h5"], cwd=program.folder,
                               stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    time.sleep(1.5)
    assert process.poll() is None
    sent = time.monotonic()
    process.send_signal(number)
    _, message = process.communicate(timeout=30)
    assert time.monotonic() - sent < 2
    assert process.returncode == 130 and "interrupted" in message
    assert [name for name, _ in program.files()] == ["x.npy"]


def test_interrupted_while_input_is_awaited(program):
    process = subprocess.Popen([PROGRAM, "fit", "-", "--beta", "1", "-o", "m.h5"], cwd=program.folder, stdin=subprocess.PIPE,
                               stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    process.stdin.write("1,2\n3,4\n")
    process.stdin.flush()
    time.sleep(0.5)
    sent = time.monotonic()
    process.send_signal(signal.SIGINT)
    status = process.wait(timeout=30)
    assert time.monotonic() - sent < 2 and status == 130
    process.stdin.close()
    assert "interrupted" in process.stderr.read()
    assert program.files() == []


def full_pipe():
    """One that takes no further byte, and whose reader sleeps."""
    reading, writing = os.pipe()
    os.set_blocking(writing, False)
    for piece in (4096, 1):
        with contextlib.suppress(BlockingIOError):
            while True:
                os.write(writing, b"x" * piece)
    os.set_blocking(writing, True)
    return reading, writing


PRINTING = [
    "transform m.h5 points.npy -o -", "fit points.npy --beta 3 -k 2 -o other.h5", "support points.npy --beta 1", "info m.h5",
    "decode m.h5 points.npy -o -", "report m.h5 -o -", "estimate points.npy", "demo",
]


@pytest.mark.parametrize("stream", ["stdout", "stderr"])
@pytest.mark.parametrize("arguments,number", [
    *((arguments, signal.SIGTERM) for arguments in PRINTING),
    *((PRINTING[0], number) for number in (signal.SIGINT, signal.SIGHUP, signal.SIGXCPU)),
])
def test_a_reader_who_sleeps_keeps_nobody_from_ending(program, points, arguments, stream, number):
    program("fit", "points.npy", "--beta", 3, "-k", 4, "-o", "m.h5")
    reading, writing = full_pipe()
    streams = {"stdout": subprocess.DEVNULL, "stderr": subprocess.PIPE, stream: writing}
    process = subprocess.Popen([PROGRAM, *arguments.split()], cwd=program.folder, text=True, **streams)
    try:
        time.sleep(1.5)
        if process.poll() is None:  # many verbs have nothing to say on standard error
            sent = time.monotonic()
            process.send_signal(number)
            _, message = process.communicate(timeout=10)
            assert time.monotonic() - sent < 1 and process.returncode == 130
            if stream == "stdout":
                written = any((program.folder / name).exists() for name in ("other.h5", "demo-report.html"))
                assert "interrupted" in message and ("written before" in message) == written
                assert not written or "nothing was written" not in message
        else:
            assert stream == "stderr" and process.returncode == 0
    finally:
        process.kill()
        process.communicate()
        os.close(reading)
        os.close(writing)


def test_two_results_are_never_one_file(program, points):
    fit = ["fit", "points.npy", "--beta", 3, "-k", 4, "-o"]
    folder = program.folder
    (folder / "real").mkdir()
    (folder / "alias").symlink_to("real")
    (folder / "dangling.h5").symlink_to("m.h5")
    (folder / "there.h5").write_text("old")
    (folder / "link.h5").symlink_to(folder / "there.h5")
    os.link(folder / "there.h5", folder / "hard.h5")
    for name, output in [("m.h5", "dangling.h5"), ("real/m.h5", "alias/m.h5"), ("there.h5", "link.h5"), ("there.h5", "hard.h5"),
                         ("m.h5", "real/../m.h5")]:
        for option in ("--coordinates", "--report", "--log", "--checkpoint"):
            program.refused(*fit, name, option, output, words=[option, "one file"])
    program.refused(*fit, "m.h5", "--report", "m.h5.checkpoint", words=["--checkpoint", "one file"])
    program.refused(*fit, "m.h5", "--report", "r.html", "--log", "r.html", words=["--log", "one file"])
    (folder / "demo-report.html").symlink_to("demo-model.h5")
    program.refused("demo", words=["one file"])


def test_demo(program):
    begun = time.monotonic()
    text = program("demo").stdout
    assert time.monotonic() - begun < 30
    assert "flashdiffusion transform demo-model.h5 demo.npy" in text and "eigenvalue" in text
    x = np.load(program.folder / "demo.npy")
    assert x.shape == (2000, 3)
    np.testing.assert_allclose(x.std(0), 1, atol=1e-5)
    with h5py.File(program.folder / "demo-model.h5") as file:
        assert file["psi"].shape == (2000, 8) and file.attrs["converged"]
    (program.folder / "sub").mkdir()
    program("demo", "--output", "sub", "--quiet")
    assert (program.folder / "sub" / "demo-model.h5").exists()
    program.refused("demo", "--output", "nowhere", status=3, words=["nowhere"])


def test_selftest(program):
    told = json.loads(program("selftest", "--json").stdout)
    assert told["ok"] and all(row["ok"] for row in told["rows"])
    assert {row["backend"] for row in told["rows"]} >= {"cpu", "reference"}
    assert {row["precision"] for row in told["rows"]} == {"fp64", "fp32", "tf32", "bf16"}
    text = program("selftest").stdout
    for row in told["rows"]:
        assert row["isa"] in text
    # An instruction set asked for by name is the one used; one that is not there is an error.
    program("selftest", environment={"FLASHDIFFUSION_ISA": told["rows"][0]["isa"]})


def test_unknown_instruction_set(program, points):
    result = program("fit", "points.npy", "--beta", 3, "-k", 4, "-o", "m.h5", status=3, environment={"FLASHDIFFUSION_ISA": "abacus"})
    assert "abacus" in result.stderr and not (program.folder / "m.h5").exists()


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_completions_know_every_verb_and_option(program, shell):
    script = program("completions", shell).stdout
    for word in [*VERBS, "modes", "epsilon-convention", "pydiffmap", "no-ladder"]:
        assert word in script
    syntax = {"bash": ["bash", "-n"], "zsh": ["zsh", "-n"], "fish": ["fish", "--no-execute"]}[shell]
    try:
        checked = subprocess.run(syntax, input=script, text=True, capture_output=True)
    except FileNotFoundError:
        return
    assert checked.returncode == 0, checked.stderr


def test_bash_completion_completes(program):
    script = program("completions", "bash").stdout
    for words, wanted in [(["tr"], "transform"), (["fit", "--beta0"], "--beta0-cap"), (["fit", "--select", "pa"], "paper"), (["completions", "z"], "zsh")]:
        line = " ".join(["flashdiffusion", *words])
        ask = f"{script}\nCOMP_WORDS=({line}); COMP_CWORD={len(words)}; _flashdiffusion; echo ${{COMPREPLY[@]}}"
        result = subprocess.run(["bash"], input=ask, text=True, capture_output=True, cwd=program.folder)
        assert wanted in result.stdout.split(), result

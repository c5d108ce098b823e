"""What a user with a card runs first: `flashdiffusion selftest` on every device, and `flashdiffusion-bench xgemm --backend cuda` against the bounds. That they
say it where kernels are wrong or a device fails."""
import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

PROGRAM, BENCH, BUILD = os.environ["FLASHDIFFUSION"], os.environ["FLASHDIFFUSION_BENCH"], Path(os.environ["FD_GPU_CASES"]).parent
SM = os.environ.get("FD_SOFTGPU_SM", "80")


def run(program, *arguments, status=0, **environment):
    result = subprocess.run([program, *arguments], env={**os.environ, **{k: str(v) for k, v in environment.items()}}, capture_output=True, text=True, timeout=600)
    assert result.returncode == status, result.stderr
    return result


def broken(folder, file, kernel, old, new):
    """PTX of a file with an instruction of a kernel changed, wherever it stands."""
    lines = (BUILD / f"src/kernels/{file}.{80 if int(SM) < 120 else 120}.ptx").read_text().split("\n")
    start = next(i for i, line in enumerate(lines) if re.search(rf"\.entry {kernel}\b", line))
    end = next(i for i in range(start, len(lines)) if lines[i].startswith("}"))
    assert any(old in line for line in lines[start:end])
    lines[start:end] = [line.replace(old, new) for line in lines[start:end]]
    path = folder / f"{file}.ptx"
    path.write_text("\n".join(lines))
    return path


def rows_of(document):
    return [row for row in document["rows"] if row["backend"] == "cuda"]


def test_selftest_examines_every_device_and_all_of_them_together(tmp_path):
    document = json.loads(run(PROGRAM, "selftest", "--json", FD_SOFTGPU_DEVICES=2, FD_SOFTGPU_REPORT=tmp_path / "report").stdout)
    assert document["ok"] and not document["absent"]
    assert {(row["where"], row["precision"]) for row in rows_of(document)} == {
        (where, precision) for where in ("GPU 0", "GPU 1", "2 GPUs") for precision in ("fp64", "fp32", "tf32", "bf16")}
    for row in rows_of(document):
        assert 0 < row["share_of_bound"] <= 1 and row["same_for_any_threads"] and row["worst"] and row["failure"] == ""
    assert not (tmp_path / "report").exists() or (tmp_path / "report").read_text() == ""


def test_selftest_says_what_is_wrong(tmp_path):
    changed = broken(tmp_path, "blocks", "gram_sum", "add.f64", "sub.f64")
    result = run(PROGRAM, "selftest", status=1, FD_SOFTGPU_CHECKS=0, FD_SOFTGPU_REPLACE=changed)
    rows = [line for line in result.stdout.splitlines() if line.startswith("cuda")]
    assert len(rows) == 8 and all("WRONG" in row and row.endswith("Gram matrix") for row in rows), result.stdout
    assert "8 of" in result.stderr


def test_selftest_goes_on_after_a_device_that_fails():
    result = run(PROGRAM, "selftest", "--json", status=1, FD_SOFTGPU_CHECKS=0, FD_SOFTGPU_FAIL=700)
    document = json.loads(result.stdout)
    failed = [row for row in document["rows"] if row["failure"]]
    assert len(failed) == 1 and failed[0]["error"] is None and "GPU 0" in failed[0]["failure"] and failed[0] == rows_of(document)[0]
    assert [row["precision"] for row in rows_of(document)[1:]] == ["fp64", "fp32", "tf32", "bf16"]  # two ranks, made anew
    assert any(row["backend"] == "cpu" and row["ok"] for row in document["rows"])


def test_selftest_names_devices_that_cannot_be_used():
    document = json.loads(run(PROGRAM, "selftest", "--json", FD_SOFTGPU_SM=75, FD_SOFTGPU_DEVICES=2).stdout)
    assert document["ok"] and not rows_of(document)
    assert [one["backend"] for one in document["absent"]] == ["cuda GPU 0", "cuda GPU 1", "cuda 2 GPUs"]
    assert all("compute capability 7.5" in one["why"] for one in document["absent"])


def bench(*arguments, **keywords):
    short = ["--dimension", "12,32", "--block", "1,20", "--n", "300", "--repeats", "1", "--seconds", "0"]
    return run(BENCH, "xgemm", "--backend", "cuda", *short, *arguments, **keywords)


def test_a_device_is_measured_beside_its_bound():
    """The bound is that of bench/gpu_bounds.py for as many multiprocessors."""
    document = json.loads(bench("--json").stdout)
    (device,) = document["machine"]["devices"]
    assert device["number"] == 0 and device["multiprocessors"] == 4 and device["ghz"] == 1.41
    asked = [{"capability": int(SM), "multiprocessors": 108, "hertz": 1.41e9, "dimension": d, "columns": b} for d in (12, 32) for b in (1, 20)]
    served = subprocess.run([sys.executable, Path(__file__).parents[2] / "bench/gpu_bounds.py", "--serve", BUILD], input="".join(json.dumps(a) + "\n" for a in asked),
                            capture_output=True, text=True, check=True).stdout.splitlines()[1:]
    for row, line in zip(document["rows"], map(json.loads, served), strict=True):
        assert row["ok"] and 0 < row["row_error"] <= row["promise"]
        assert row["pairs_per_second"] == pytest.approx(1e9 / row["ns_per_pair"])
        assert row["bound_by_pipes"] * 27 == pytest.approx(line["pipes"]) and row["busiest"] == line["busiest"]
        assert row["of_pipes"] == pytest.approx(row["pairs_per_second"] / row["bound_by_pipes"])
        if line["issued"]:
            assert row["bound_by_issue"] * 27 == pytest.approx(line["issued"]) and line["issued"] <= line["pipes"]


def test_several_devices_are_measured_together_and_what_is_not_known_is_said():
    table = bench("--devices", "0,1", FD_SOFTGPU_DEVICES=2).stdout
    rows = [line for line in table.splitlines() if re.match(r" *300 ", line)]
    assert "2 ranks of" in table and len(rows) == 4, table
    assert "no rates of sm_89" in bench(FD_SOFTGPU_SM=89).stdout
    assert "bounds are known for fp32 alone" in bench("--precision", "bf16").stdout


def test_a_device_that_computes_wrongly_is_no_figure(tmp_path):
    changed = broken(tmp_path, "pack", "finish_f32", "mul.f64", "add.f64")
    assert "more than fp32 promises" in bench(status=1, FD_SOFTGPU_REPLACE=changed).stderr

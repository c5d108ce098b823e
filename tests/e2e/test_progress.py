"""What a fit says while it runs: JSON lines for machines, a log file for later."""

import json
import re
import signal
import subprocess

import numpy as np
from conftest import PROGRAM


def test_json_progress_is_one_object_a_line(program, points):
    result = program("fit", "points.npy", "-k", "4", "--beta0", "1", "--beta0-cap", "2", "-o", "model.h5", "--json-progress", "--json")
    events = [json.loads(line) for line in result.stderr.strip().splitlines()]
    assert json.loads(result.stdout)["n"] == 400
    assert {event["event"] for event in events} - {"remark"} == {"progress", "note", "end"}
    # the remarks of the model, as on standard output, and a share done that never falls
    said = [{key: value for key, value in event.items() if key != "event"} for event in events if event["event"] == "remark"]
    assert said == json.loads(result.stdout)["remarks"]
    done = [event["fraction"] or 0 for event in events if event["event"] == "progress"]
    assert done == sorted(done) and done[-1] == 1
    assert events[-1] == {"event": "end", "outcome": "done", "status": 0, "text": ""}
    assert "--beta0-cap has no effect" in next(event["text"] for event in events if event["event"] == "note")
    progress = [event for event in events if event["event"] == "progress"]
    assert progress[0]["stage"] == "reading" and {"probe"} <= {event["stage"] for event in progress}
    assert all(event["n"] == 400 and 0 <= event["pass_fraction"] <= 1 for event in progress)
    assert progress[0]["beta"] is None and progress[-1]["beta"] > 0


def last_event(stderr):
    """Of lines that are all JSON."""
    return [json.loads(line) for line in stderr.strip().splitlines()][-1]


def test_every_end_is_json_and_logged(program, points):
    def ended(status, outcome, *arguments):
        result = program("fit", *arguments, "-o", "model.h5", "--json-progress", "--log", "fit.log", status=status)
        event = last_event(result.stderr)
        assert (event["event"], event["outcome"], event["status"]) == ("end", outcome, status)
        return event["text"], (program.folder / "fit.log").read_text().splitlines()[-1]

    text, logged = ended(1, "numbers", "points.npy", "--beta", "5", "-k", "6", "--max-passes", "1")
    assert "passes ran out" in text and text in logged
    log = (program.folder / "fit.log").read_text()
    assert "remark not-converged (" in log
    assert ended(0, "done", "points.npy", "-k", "2")[1].endswith("  done")
    (program.folder / "bad.csv").write_text("1,2\n3,nan\n5,6\n7,8\n")
    text, logged = ended(2, "failed", "bad.csv", "-k", "2")
    assert "bad.csv" in text and logged.endswith(text)
    event = last_event(program("fit", "points.npy", "--no-such-option", "--json-progress", status=2).stderr)
    assert (event["event"], event["status"]) == ("end", 2)
    event = last_event(program("fit", "nowhere.npy", "-o", "model.h5", "--json-progress", status=3).stderr)
    assert (event["event"], event["status"]) == ("end", 3) and "nowhere.npy" in event["text"]


def test_an_interrupted_fit_says_so_in_json_and_log(program):
    np.save(program.folder / "long.npy", np.random.default_rng(4).normal(size=(60000, 3)))
    command = [PROGRAM, "fit", "long.npy", "--beta", "30", "-k", "64", "-o", "long.h5", "--no-checkpoint", "--json-progress", "--log", "fit.log"]
    with subprocess.Popen(command, cwd=program.folder, stderr=subprocess.PIPE, text=True) as process:
        process.stderr.readline()  # it is at work
        process.send_signal(signal.SIGINT)
        rest = process.stderr.read()
    assert process.returncode == 130
    event = last_event(rest)
    assert (event["event"], event["outcome"], event["status"]) == ("end", "interrupted", 130)
    assert "interrupted" in (program.folder / "fit.log").read_text().splitlines()[-1]


def test_json_progress_of_strange_names_is_json(program):
    name = "strange\u202e\u2028`beta`.csv"
    np.savetxt(program.folder / name, np.random.default_rng(1).normal(size=(50, 2)), delimiter=",")
    result = program("fit", name, "-k", "2", "--beta", "1", "-o", "model.h5", "--json-progress")
    texts = [json.loads(line) for line in result.stderr.strip().splitlines()]
    assert any("strange" in event.get("text", "") for event in texts)


def test_log_is_appended_to(program, points):
    for _ in range(2):
        program("fit", "points.npy", "-k", "4", "-o", "model.h5", "--log", "fit.log", "--quiet")
    lines = (program.folder / "fit.log").read_text().splitlines()
    assert all(re.match(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ  \S", line) for line in lines)
    assert sum("reading" in line for line in lines) == 2 and any("probe  n=400  beta=" in line for line in lines)


def test_a_log_is_none_of_the_other_files(program, points):
    program.refused("fit", "points.npy", "-o", "model.h5", "--log", "points.npy", words=["points.npy"])
    program.refused("fit", "points.npy", "-o", "model.h5", "--log", "model.h5", words=["--log", "model.h5"])
    program.refused("fit", "points.npy", "-o", "model.h5", "--log", "nowhere/fit.log", status=3, words=["nowhere"])

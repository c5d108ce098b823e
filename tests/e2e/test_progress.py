"""What a fit says while it runs: JSON lines for machines, a log file for later."""

import json
import re

import numpy as np


def test_json_progress_is_one_object_a_line(program, points):
    result = program("fit", "points.npy", "-k", "4", "--beta0", "1", "--beta0-cap", "2", "-o", "model.h5", "--json-progress", "--json")
    events = [json.loads(line) for line in result.stderr.strip().splitlines()]
    assert json.loads(result.stdout)["n"] == 400
    assert {event["event"] for event in events} == {"progress", "note"}
    assert "--beta0-cap has no effect" in next(event["text"] for event in events if event["event"] == "note")
    progress = [event for event in events if event["event"] == "progress"]
    assert progress[0]["stage"] == "reading" and {"probe"} <= {event["stage"] for event in progress}
    assert all(event["n"] == 400 and 0 <= event["pass_fraction"] <= 1 for event in progress)
    assert progress[0]["beta"] is None and progress[-1]["beta"] > 0


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

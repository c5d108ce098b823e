"""reproduce alanine, on a stand-in of the mdshare format: a molecule of ten atoms that turns about two bonds."""

import json

import numpy as np
import pytest

# CH3 C O N CA CB C O N CH3: bond lengths in nm, angles and dihedrals about the chain; phi turns C-N-CA-C, psi N-CA-C-N.


def place(a, b, c, length, angle, dihedral):
    """The atom bound to c, with this angle b-c-x and dihedral a-b-c-x; frames are rows."""
    u = (c - b) / np.linalg.norm(c - b, axis=1, keepdims=True)
    n = np.cross(b - a, u)
    n /= np.linalg.norm(n, axis=1, keepdims=True)
    m = np.cross(n, u)
    x = -np.cos(angle) * np.ones(len(c))
    y, z = np.sin(angle) * np.cos(dihedral), np.sin(angle) * np.sin(dihedral)
    return c + length * (x[:, None] * u + np.broadcast_to(y, len(c))[:, None] * m + np.broadcast_to(z, len(c))[:, None] * n)


def molecule(frames, rng):
    """Two basins of psi, one of phi, slow in time; bonds shake a little."""
    def wandering(centres, width):
        state, values = 0, []
        for _ in range(frames):
            if rng.random() < 0.05:
                state = rng.integers(len(centres))
            values.append(centres[state])
        return np.array(values) + width * rng.standard_normal(frames)

    phi, psi = wandering([-1.4, -2.5], 0.25), wandering([2.6, -0.5], 0.3)
    phi, psi = (np.angle(np.exp(1j * v)) for v in (phi, psi))
    zero = np.zeros((frames, 3))
    ch3, c1 = zero, zero + [0.152, 0, 0]
    o1 = c1 + [0.06, 0.106, 0]
    turn = lambda degrees: np.radians(degrees)
    n1 = place(zero + [0, 0.1, 0], ch3, c1, 0.134, turn(116), turn(180))
    ca = place(ch3, c1, n1, 0.145, turn(122), turn(180))
    c2 = place(c1, n1, ca, 0.152, turn(110), phi)
    cb = place(c1, n1, ca, 0.153, turn(110), phi - 2.1)
    n2 = place(n1, ca, c2, 0.134, turn(116), psi)
    o2 = place(n1, ca, c2, 0.123, turn(120), psi + np.pi)
    end = place(ca, c2, n2, 0.145, turn(122), turn(180))
    atoms = np.stack([ch3, c1, o1, n1, ca, cb, c2, o2, n2, end], axis=1)
    return (atoms + 0.002 * rng.standard_normal(atoms.shape)).reshape(frames, 30), np.stack([phi, psi], axis=1)


@pytest.fixture
def trajectories(program):
    rng = np.random.default_rng(5)
    made = [molecule(400, rng) for _ in range(3)]
    positions = {f"arr_{i}": p.astype(np.float32) for i, (p, _) in enumerate(made)}
    dihedrals = {f"arr_{i}": a.astype(np.float32) for i, (_, a) in enumerate(made)}
    np.savez(program.folder / "p.npz", **positions)
    np.savez_compressed(program.folder / "a.npz", **dihedrals)
    return positions, dihedrals


def run(program, *more, positions="p.npz", dihedrals="a.npz"):
    return json.loads(program("reproduce", "alanine", "--quick", "--positions", positions, "--dihedrals", dihedrals, "--json", *more).stdout)


def rows(result, name):
    return next(t for t in result["tables"] if t["name"] == name)["rows"]


def test_angles_are_decoded(program, trajectories):
    result = run(program)
    decoding = rows(result, "decoding")
    assert [row[0] for row in decoding] == [2, 4, 8, 16, 32, 64, 128]
    first, last = decoding[0], decoding[-1]
    for column in (1, 2):  # phi and psi, trajectory held out
        assert last[column] < 8 and last[column] < first[column]
    assert last[3] >= max(last[1], last[2])  # the joint error
    assert all(row[7] >= 1 for row in decoding)
    facts = {row[0]: row[2] for row in rows(result, "run")}
    assert facts["frames"] == 1200 and facts["largest residual"] < 1e-4
    assert facts["frames: fitted to, random holdout, held out"] == "720, 80, 400"
    judged = {c["claim"]: c["verdict"] for c in result["comparisons"]}
    assert judged["all computed eigenvalues are positive and ordered"] == judged["the modes are eigenvectors"] == "agrees"
    assert [f["name"] for f in result["figures"]] == ["errors", "spectrum", "reference", "few-modes", "many-modes", "segment", "joint-error"]


def judged(result):
    return {c["claim"]: c for c in result["comparisons"]}


CLAIMS = ["held-out error of φ", "held-out error of ψ", "condition of the Gram", "fall past D = 80", "ψ begins", "as well as random frames",
          "positive and ordered", "are eigenvectors", "largest eigenvalue", "eigenvalue 256", "β of the flow", "probes of the flow",
          "effective neighbours", "d̂", "still admissible", "past the fp32 Perron wall", "Perron gap past", "seconds of the", "strided piece"]


@pytest.mark.parametrize("more", [[], ["--beta", 100], ["--ladder"], ["--n", 300]])
def test_every_claim_has_a_verdict_or_a_reason(program, trajectories, more):
    result = run(program, *more)
    for words in CLAIMS:
        matching = [c for c in result["comparisons"] if words in c["claim"]]
        assert len(matching) == 1, words
        assert matching[0]["verdict"] != "not measured" or matching[0]["why"], words
    claims = {words: next(c for c in result["comparisons"] if words in c["claim"]) for words in CLAIMS}
    sweep = rows(result, "sweep")
    wall = [row[1] for row in sweep if row[7] == "wall"]
    for words in ("still admissible", "past the fp32 Perron wall", "Perron gap past"):  # without a wall a sweep only stopped
        assert (claims[words]["verdict"] == "not measured") == (not wall), words
    if wall:
        assert claims["still admissible"]["ours"] == max(row[1] for row in sweep if row[7] != "wall" and row[1] < min(wall))
    assert claims["effective neighbours"]["ours"] == pytest.approx(sweep[-1][2] / sweep[-1][0], rel=1e-6)
    assert claims["d̂"]["ours"] == pytest.approx(sweep[-1][3], rel=1e-6)
    given = "--beta" in more
    assert (claims["β of the flow"]["verdict"] == "not measured") == given
    assert (claims["probes of the flow"]["verdict"] == "not measured") == (given or "--ladder" in more)
    assert claims["fall past D = 80"]["verdict"] == "not measured"  # the last doubling begins at 64 at most
    assert claims["strided piece"]["verdict"] == claims["eigenvalue 256"]["verdict"] == "not measured"  # 128 modes at most


def test_frames_past_zero_are_counted(program, trajectories):
    _, dihedrals = trajectories
    right = int(sum((a[:, 0] > 0).sum() for a in dihedrals.values()))
    result = run(program, "--beta", 100)
    assert dict((row[0], row[2]) for row in rows(result, "run"))["frames with φ > 0"] == right
    assert f"φ > 0 in {right} of 1200 frames" in " ".join(result["notes"])
    maps = [f for f in result["figures"] if f["name"] in ("reference", "few-modes", "many-modes")]
    assert len(maps) == 3 and all("axes exchanged" in f["caption"] for f in maps)


def test_the_decoder_is_that_of_the_paper(program, trajectories):
    """With the modes of the program, features and decoder by numpy."""
    import h5py

    positions, dihedrals = trajectories
    atoms = np.concatenate([positions[f"arr_{i}"] for i in range(3)]).reshape(-1, 10, 3).astype(float)
    features = np.linalg.norm(atoms[:, :, None] - atoms[:, None, :8], axis=-1).reshape(len(atoms), 80)
    np.save(program.folder / "f.npy", features.astype(np.float32))
    program("fit", "f.npy", "-k", 128, "--beta", 100, "--tolerance", 1e-6, "--trim", 0, "-o", "m.h5", "--quiet")
    with h5py.File(program.folder / "m.h5") as file:
        psi = file["psi"][:].astype(float)
    angles = np.concatenate([dihedrals[f"arr_{i}"] for i in range(3)]).astype(float)
    target = np.stack([np.cos(angles[:, 0]), np.sin(angles[:, 0]), np.cos(angles[:, 1]), np.sin(angles[:, 1])], axis=1)
    wanted = []
    for m in (2, 8, 64):
        f = psi[:800, :m]  # the random holdout is a tenth of these: its absence changes little
        centred = f - f.mean(0)
        gram = centred.T @ centred
        weights = np.linalg.solve(gram + 1e-8 * np.trace(gram) / m * np.eye(m), centred.T @ (target[:800] - target[:800].mean(0)))
        y = target[:800].mean(0) + (psi[800:, :m] - f.mean(0)) @ weights
        decoded = np.stack([np.arctan2(y[:, 1], y[:, 0]), np.arctan2(y[:, 3], y[:, 2])], axis=1)
        wanted.append(np.degrees(np.abs(np.angle(np.exp(1j * (decoded - angles[800:]))))).mean(0))
    found = {row[0]: row for row in rows(run(program, "--beta", 100), "decoding")}
    for m, (phi, psi_error) in zip((2, 8, 64), wanted):
        assert found[m][1] == pytest.approx(phi, rel=0.15) and found[m][2] == pytest.approx(psi_error, rel=0.15)


def test_plain_arrays_and_degrees(program, trajectories):
    positions, dihedrals = trajectories
    np.save(program.folder / "p.npy", np.concatenate(list(positions.values())))
    np.save(program.folder / "a.npy", np.degrees(np.concatenate(list(dihedrals.values()))))
    plain = run(program, "--beta", 100, "--angles", "deg", positions="p.npy", dihedrals="a.npy")
    archive = run(program, "--beta", 100)
    assert any("p.npy holds one array" in note and "cut into three" in note for note in plain["notes"])
    assert not any("cut into three" in note for note in archive["notes"])
    for a, b in zip(rows(plain, "decoding"), rows(archive, "decoding")):
        assert a[1:4] == pytest.approx(b[1:4], rel=1e-4)


def test_bad_input_is_refused(program, trajectories):
    positions, dihedrals = trajectories
    save = lambda name, arrays: np.savez(program.folder / name, **arrays)
    save("degrees.npz", {k: np.degrees(v) for k, v in dihedrals.items()})
    save("short.npz", {**dihedrals, "arr_1": dihedrals["arr_1"][:-3]})
    save("fewer.npz", {k: dihedrals[k] for k in ("arr_0", "arr_1")})
    save("named.npz", {f"traj_{i}": v for i, v in enumerate(dihedrals.values())})
    save("narrow.npz", {k: v[:, :24] for k, v in positions.items()})
    save("nan.npz", {**positions, "arr_2": np.where(np.arange(30) == 4, np.nan, positions["arr_2"])})
    refused = lambda p, a, *more, words: program.refused("reproduce", "alanine", "--quick", "--positions", p, "--dihedrals", a, *more, words=words)
    refused("p.npz", "degrees.npz", words=["degrees.npz", "look like degrees", "--angles deg"])
    refused("p.npz", "a.npz", "--angles", "deg", words=["a.npz", "look like radians", "--angles rad"])
    refused("p.npz", "short.npz", words=["arr_1", "400", "397"])
    refused("p.npz", "fewer.npz", words=["3", "2", "fewer.npz"])
    refused("p.npz", "named.npz", words=["arr_0", "named.npz"])
    refused("narrow.npz", "a.npz", words=["narrow.npz", "24 columns", "30"])
    refused("a.npz", "p.npz", words=["a.npz", "2 columns", "--positions"])
    refused("nan.npz", "a.npz", words=["arr_2", "frame", "column 5"])
    refused("p.npz", "a.npz", "--n", "500,600", words=["--n", "one"])
    refused("p.npz", "a.npz", "--beta", 0, words=["--beta 0", "above zero"])
    # all of them: found out before the others have run
    program.refused("reproduce", "all", "--positions", "p.npz", "--dihedrals", "short.npz", words=["arr_1", "397"])
    program.refused("reproduce", "all", "--positions", "p.npz", "--dihedrals", "a.npz", "--n", "5000,6000", words=["alanine takes one"])
    program.refused("reproduce", "alanine", "--quick", words=["--positions", "--dihedrals"])
    program.refused("reproduce", "knn", "--quick", "--positions", "p.npz", words=["--positions", "alanine"])

"""Coordinates of molecules: invariance, chunks, and the libraries that read trajectories."""

import numpy as np
import pytest

from flashdiffusion import md


@pytest.fixture
def positions():
    return np.random.default_rng(0).normal(size=(37, 11, 3))


def moved(positions, mirror=False):
    rotation = np.linalg.qr(np.random.default_rng(1).normal(size=(3, 3)))[0]
    if (np.linalg.det(rotation) < 0) != mirror:
        rotation[:, 0] *= -1
    return positions @ rotation + [3.0, -2.0, 5.0]


def test_distances_are_the_distances(positions):
    table = md.distances(positions, anchors=[2, 5], dtype=np.float64)
    assert table.shape == (37, 10 + 9)
    wanted = [np.linalg.norm(positions[:, 2] - positions[:, b], axis=1) for b in range(11) if b != 2]
    wanted += [np.linalg.norm(positions[:, 5] - positions[:, b], axis=1) for b in range(11) if b not in (2, 5)]
    np.testing.assert_allclose(table, np.column_stack(wanted), rtol=1e-14)


@pytest.mark.parametrize("mirror", [False, True])
def test_distances_do_not_change_with_motion(positions, mirror):
    np.testing.assert_allclose(md.distances(moved(positions, mirror), dtype=np.float64), md.distances(positions, dtype=np.float64), atol=1e-12)


def test_chunks_are_the_whole(positions):
    whole = md.distances(positions)
    np.testing.assert_array_equal(md.distances(positions, chunk=5), whole)
    np.testing.assert_array_equal(md.distances(part for part in (positions[:20], positions[20:])), whole)


@pytest.mark.parametrize("wrong, words", [(0, "at least one"), (-3, "at least one"), (True, "neither"), ([1, 2, 1], "atom 1 more than once"), ([], "not atoms"), ([11], "not atoms")])
def test_wrong_anchors_are_refused(positions, wrong, words):
    with pytest.raises(ValueError, match=words):
        md.distances(positions, anchors=wrong)


def test_masked_positions_are_refused(positions):
    masked = np.ma.masked_array(positions, mask=np.zeros(positions.shape, dtype=bool))
    np.testing.assert_array_equal(md.distances(masked), md.distances(positions))
    masked[7, 3] = np.ma.masked
    with pytest.raises(ValueError, match="atom 3 of frame 7"):
        md.distances(masked, chunk=5)


def test_an_mdanalysis_trajectory_is_left_where_it_was(positions):
    mda = pytest.importorskip("MDAnalysis", reason="MDAnalysis is not installed")
    universe = mda.Universe.empty(11, trajectory=True)
    universe.load_new(positions.astype(np.float32))
    universe.trajectory[7]
    whole = md.distances(universe, anchors=4)
    assert universe.trajectory.frame == 7
    np.testing.assert_array_equal(md.distances(universe.trajectory[::5], anchors=4), whole[::5])
    np.testing.assert_array_equal(md.distances(universe.trajectory, anchors=4), whole)
    assert universe.trajectory.frame == 7


def test_anchors_lie_apart():
    frame = np.array([[0.0, 0, 0], [0.1, 0, 0], [10, 0, 0], [0, 10, 0], [10.1, 0, 0]])
    assert {(0, 1)[a > 1] if a < 2 else a for a in md.farthest_atoms(frame, 3)} == {0, 3, 4}
    assert sorted(md.farthest_atoms(frame, 50)) == [0, 1, 2, 3, 4]


@pytest.mark.parametrize("precision", [np.float64, np.float32])
def test_anchors_of_a_ring_are_the_same_however_it_is_turned(precision):
    """Six atoms that are all as far from the centre, and then two by two from the first: rounding must not choose."""
    rng, angle = np.random.default_rng(2), np.arange(6) * np.pi / 3
    ring = np.repeat(np.c_[1.39 * np.cos(angle), 1.39 * np.sin(angle), 0 * angle][None], 20, axis=0)
    ring[1:] += 0.1 * rng.normal(size=(19, 6, 3))
    for count in (1, 3, 4):
        wanted = md.distances(ring, anchors=count, dtype=np.float64)
        for _ in range(20):
            turned = (ring @ np.linalg.qr(rng.normal(size=(3, 3)))[0] + 5 * rng.normal(size=3)).astype(precision)
            np.testing.assert_allclose(md.distances(turned, anchors=count, dtype=np.float64), wanted, atol=1e-12 if precision == np.float64 else 1e-5)
    assert md.farthest_atoms(ring[0], 3) == [0, 3, 1]


@pytest.mark.parametrize("away", [10, 200, 2000])
def test_anchors_are_the_same_wherever_the_molecule_is(away):
    """Far from the origin coordinates have fewer digits left: what rounding makes of them must not choose."""
    rng, angle = np.random.default_rng(2), np.arange(6) * np.pi / 3
    ring = np.c_[1.39 * np.cos(angle), 1.39 * np.sin(angle), 0 * angle]
    for _ in range(40):
        moved = (ring @ np.linalg.qr(rng.normal(size=(3, 3)))[0] + away * rng.uniform(0.5, 1, 3)).astype(np.float32)
        assert md.farthest_atoms(moved, 3) == md.farthest_atoms(moved.astype(np.float64), 3) == [0, 3, 1]
    moved = ring @ np.linalg.qr(rng.normal(size=(3, 3)))[0] + 1e10 * rng.uniform(0.5, 1, 3)
    assert md.farthest_atoms(moved, 3) == [0, 3, 1]


def test_dihedrals(positions):
    quadruples = [(0, 1, 2, 3), (7, 3, 9, 1)]
    angles = md.dihedrals(positions, quadruples, angles=True, dtype=np.float64)
    for column, (a, b, c, d) in zip(angles.T, quadruples):
        one = np.cross(positions[:, b] - positions[:, a], positions[:, c] - positions[:, b])
        two = np.cross(positions[:, c] - positions[:, b], positions[:, d] - positions[:, c])
        cosine = (one * two).sum(1) / np.linalg.norm(one, axis=1) / np.linalg.norm(two, axis=1)
        np.testing.assert_allclose(np.cos(column), cosine, atol=1e-12)
    both = md.dihedrals(positions, quadruples, dtype=np.float64)
    np.testing.assert_allclose(both, np.concatenate([np.cos(angles), np.sin(angles)], axis=1), atol=1e-14)
    np.testing.assert_allclose(md.dihedrals(moved(positions), quadruples, dtype=np.float64), both, atol=1e-12)
    np.testing.assert_allclose(md.dihedrals(moved(positions, True), quadruples, angles=True, dtype=np.float64), -angles, atol=1e-12)


def test_refusals(positions):
    for wrong in (np.zeros((5, 3)), np.zeros((5, 4, 2))):
        with pytest.raises(ValueError, match="frames x atoms x 3"):
            md.distances(wrong)
    with pytest.raises(ValueError, match="anchors"):
        md.distances(positions, anchors=[11])
    with pytest.raises(ValueError, match="no frames"):
        md.distances(positions[:0])
    with pytest.raises(ValueError, match="four"):
        md.dihedrals(positions, [(0, 1, 2)])


def test_mdtraj(positions):
    mdtraj = pytest.importorskip("mdtraj", reason="mdtraj is not installed")
    topology = mdtraj.Topology()
    residue = topology.add_residue("ALA", topology.add_chain())
    for i in range(11):
        topology.add_atom(f"A{i}", mdtraj.element.hydrogen if i % 3 == 2 else mdtraj.element.carbon, residue)
    trajectory = mdtraj.Trajectory(positions.astype(np.float32), topology)
    heavy = [i for i in range(11) if i % 3 != 2]
    np.testing.assert_array_equal(md.distances(trajectory), md.distances(positions.astype(np.float32)[:, heavy]))
    pairs = np.array([(0, b) for b in range(1, 11)])
    np.testing.assert_allclose(
        md.distances(trajectory, anchors=[0], atoms=range(11)), mdtraj.compute_distances(trajectory, pairs, periodic=False), rtol=1e-5
    )
    quadruples = np.array([(0, 1, 2, 3), (7, 3, 9, 1)])
    np.testing.assert_allclose(
        md.dihedrals(trajectory, quadruples, angles=True), mdtraj.compute_dihedrals(trajectory, quadruples, periodic=False), atol=1e-4
    )


def test_mdanalysis(positions):
    mda = pytest.importorskip("MDAnalysis", reason="MDAnalysis is not installed")
    universe = mda.Universe.empty(11, trajectory=True)
    universe.load_new(positions.astype(np.float32))
    universe.add_TopologyAttr("elements", ["H" if i % 3 == 2 else "C" for i in range(11)])
    heavy = [i for i in range(11) if i % 3 != 2]
    np.testing.assert_array_equal(md.distances(universe, chunk=10), md.distances(positions.astype(np.float32)[:, heavy]))
    np.testing.assert_array_equal(md.distances(universe.atoms[:5], atoms=range(5)), md.distances(positions.astype(np.float32)[:, :5]))


def test_names_of_files_are_no_positions(tmp_path):
    for wrong in ("trajectory.xtc", tmp_path, ["a.xtc", "b.xtc"]):
        with pytest.raises(TypeError, match="is a name, not positions: open the file first"):
            md.distances(wrong)


def test_lists_of_frames_are_the_array(positions):
    expected = md.distances(positions, anchors=4)
    for same in (positions.tolist(), list(positions), [list(positions[:7]), positions[7:]], iter([iter([positions[:9]]), positions[9:]])):
        np.testing.assert_array_equal(md.distances(same, anchors=4), expected)


@pytest.mark.parametrize("chunk", [0, -1, 2.5, None])
def test_a_wrong_chunk_is_named(positions, chunk):
    with pytest.raises(ValueError, match="^chunk = "):
        md.distances(positions, chunk=chunk)


@pytest.mark.parametrize("fewer", [True, False])
def test_chunks_of_other_atoms_are_refused(positions, fewer):
    chunks = [positions, positions[:, :-1]] if fewer else [positions[:, :-1], positions]
    with pytest.raises(ValueError, match="frames of .* atoms follow frames of"):
        md.distances(chunks, anchors=2)


@pytest.mark.parametrize("wrong, words", [([0, 0, 1, 2], "more than once"), ([0, 1, 1, 2], "more than once"), ([0, 1.5, 2, 3], "indices of atoms")])
def test_wrong_quadruples_are_refused(positions, wrong, words):
    with pytest.raises(ValueError, match=words):
        md.dihedrals(positions, [wrong])


def test_a_number_of_anchors_may_be_an_array_of_one(positions):
    np.testing.assert_array_equal(md.distances(positions, anchors=np.array(3)), md.distances(positions, anchors=3))


@pytest.mark.parametrize("wrong", ["all", 2.5, None, [0.7, 1.9], np.array(2.5)])
def test_anchors_that_are_no_numbers_of_atoms_are_refused(positions, wrong):
    with pytest.raises(ValueError, match="anchors = "):
        md.distances(positions, anchors=wrong)


@pytest.mark.parametrize("broken", [np.nan, np.inf])
def test_anchors_are_not_chosen_in_a_frame_that_is_not_finite(positions, broken):
    positions[0, 3, 1] = broken
    with pytest.raises(ValueError, match="frame 0, where atom 3"):
        md.distances(positions)
    assert md.distances(positions[1:]).shape == (36, 8 * 3 + 8 * 7 // 2)
    assert np.isfinite(md.distances(positions, anchors=[0, 1])[1:]).all()  # chosen by the user: nothing is read off the frame


def test_no_two_anchors_are_at_the_same_place(positions):
    positions[0, 4:] = positions[0, 3]
    assert len(set(md.farthest_atoms(positions[0], 4))) == 4
    with pytest.raises(ValueError, match="anchors = 8: the 11 atoms of frame 0 are at 4 places"):
        md.distances(positions)
    with pytest.raises(ValueError, match="at 4 places"):
        md.farthest_atoms(positions[0], 50)
    with pytest.raises(ValueError, match="are at 1 place,"):
        md.farthest_atoms(np.zeros((5, 3)), 2)


@pytest.mark.parametrize(
    "wrong, words",
    [
        ([0, 0, 1], "atoms: atom 0 is named more than once"),
        ([0, 10, -1], r"atom 10 is named more than once \(as -1 and as 10\)"),
        ([0, 11], "no atom 11 among 11"),
        ([-12, 3], "no atom -12 among 11"),
        ([0.0, 1.0], "not indices"),
        ([True] * 10, "10 times yes or no, for 11 atoms"),
    ],
)
@pytest.mark.parametrize("kind", ["array", "mdtraj", "MDAnalysis", "trajectory"])
def test_wrong_atoms_are_refused(positions, wrong, words, kind):
    with pytest.raises(ValueError, match=words):
        md.distances(_as(kind, positions), anchors=2, atoms=wrong)


@pytest.mark.parametrize("kind", ["array", "mdtraj", "MDAnalysis", "trajectory"])
def test_an_atom_may_be_named_from_the_end(positions, kind):
    source, expected = _as(kind, positions), md.distances(positions.astype(np.float32)[:, [0, 3, 10]], anchors=2)
    for atoms in ([0, 3, 10], [0, 3, -1], (-11, -8, np.int64(-1)), np.isin(np.arange(11), [0, 3, 10])):
        np.testing.assert_array_equal(md.distances(source, anchors=2, atoms=atoms), expected)
    angles = md.dihedrals(source, [(0, 1, 2, 10), (10, 9, 8, 7)], angles=True)
    np.testing.assert_array_equal(md.dihedrals(source, [(0, 1, 2, -1), (10, -2, 8, -4)], angles=True), angles)
    for wrong in ((0, 1, -1, 10), (-11, 1, 2, 0)):
        with pytest.raises(ValueError, match=r"quadruple \(.*\): atom (0|10) is named more than once \(as"):
            md.dihedrals(source, [(0, 1, 2, 3), wrong])
    with pytest.raises(ValueError, match="no atom 11 among 11"):
        md.dihedrals(source, [(0, 1, 2, 11)])


def _as(kind, positions):
    """Positions as the libraries hold them, in single precision."""
    positions = positions.astype(np.float32)
    if kind == "mdtraj":
        mdtraj = pytest.importorskip("mdtraj", reason="mdtraj is not installed")
        topology = mdtraj.Topology()
        residue = topology.add_residue("ALA", topology.add_chain())
        for i in range(positions.shape[1]):
            topology.add_atom(f"A{i}", mdtraj.element.carbon, residue)
        return mdtraj.Trajectory(positions, topology)
    if kind in ("MDAnalysis", "trajectory"):
        mda = pytest.importorskip("MDAnalysis", reason="MDAnalysis is not installed")
        universe = mda.Universe.empty(positions.shape[1], trajectory=True)
        universe.load_new(positions)
        return universe if kind == "MDAnalysis" else universe.trajectory[::1]
    return positions


def test_complex_positions_are_refused(positions):
    for source in (positions + 0j, list(positions + 0j)):
        with pytest.raises(ValueError, match="positions are complex"):
            md.distances(source)


def test_farthest_atoms_says_what_it_wants(positions):
    for count in (0, 2.5, True):
        with pytest.raises(ValueError, match="count = "):
            md.farthest_atoms(positions[0], count)
    for frame in (positions, positions[0, :0], positions[0, 0]):
        with pytest.raises(ValueError, match="a frame is atoms x 3"):
            md.farthest_atoms(frame, 2)


def test_no_atoms_are_refused(positions):
    for wrong in (3, np.array(3)):
        with pytest.raises(ValueError, match="not indices of atoms"):
            md.distances(positions, atoms=wrong)
    for source, none in ((positions, np.zeros(11, dtype=bool)), (positions[:, :0], None)):
        with pytest.raises(ValueError, match="no atom is in use"):
            md.distances(source, atoms=none)
    with pytest.raises(ValueError, match="atoms = "):
        md.distances(positions, atoms=[])
    with pytest.raises(ValueError, match="names no dihedral"):
        md.dihedrals(positions, np.empty((0, 4), dtype=int))

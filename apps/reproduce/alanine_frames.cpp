#include "reproduce/alanine_frames.hpp"

#include <algorithm>
#include <cmath>
#include <memory>

#include <fmt/format.h>

#include <flashdiffusion/error.hpp>

#include "base/counted.hpp"
#include "base/pieces.hpp"
#include "common/interrupt.hpp"
#include "io/npy_header.hpp"
#include "io/npz.hpp"
#include "io/open_points.hpp"
#include "reproduce/alanine_dihedrals.hpp"
#include "reproduce/paper.hpp"

namespace fd::reproduce {
namespace {

constexpr std::size_t atoms = 10, anchors = 8;
constexpr const char* angle_names[] = {"φ", "ψ"};

struct Trajectory {
  std::string name;  // of its array; empty for a plain file
  std::string file;
  std::unique_ptr<PointSource> source;
};

std::unique_ptr<PointSource> open_table(const std::string& file, std::size_t columns, const std::string& wanted) {
  try {
    return cli::interruptible(open_points({file}));
  } catch (const NotATable& error) {
    throw Error(Failure::input, error.what(),
                fmt::format("of a trajectory: frames × {0} ({1}), x.reshape(-1, {0}); of several: an archive with an array each, "
                            "np.savez(\"file.npz\", *(t.reshape(-1, {0}) for t in x))",
                            columns, wanted));
  }
}

std::vector<Trajectory> trajectories_of(const std::string& path, std::size_t columns, const std::string& wanted) {
  std::vector<Trajectory> trajectories;
  if (path.ends_with(".npz"))
    for (const std::string& name : npz_names(path)) trajectories.push_back({name, path + ":" + name, nullptr});
  else trajectories.push_back({"", path, nullptr});
  if (trajectories.empty()) throw Error(Failure::input, fmt::format("{} holds no arrays", path), "it must hold arr_0, arr_1, …");
  for (Trajectory& trajectory : trajectories) {
    trajectory.source = open_table(trajectory.file, columns, wanted);
    if (trajectory.source->dimension() != columns)
      throw Error(Failure::input,
                  fmt::format("{}: {}, but {} are needed: {}", trajectory.file, counted(trajectory.source->dimension(), "column"),
                              columns, wanted),
                  "give the heavy-atom positions as --positions and the backbone dihedrals as --dihedrals");
  }
  return trajectories;
}

// The arrays of both files belong together by name, and have as many rows.
void check_pairs(std::vector<Trajectory>& positions, std::vector<Trajectory>& dihedrals, const std::string& positions_file,
                 const std::string& dihedrals_file) {
  if (positions.size() != dihedrals.size())
    throw Error(Failure::input,
                fmt::format("{} holds {} and {} {}", positions_file, counted(positions.size(), "trajectory array"),
                            dihedrals_file, dihedrals.size()),
                "give the two files of one data set");
  for (std::size_t i = 0; i < positions.size(); ++i) {
    const auto partner =
        std::find_if(dihedrals.begin(), dihedrals.end(), [&](const Trajectory& d) { return d.name == positions[i].name; });
    if (partner == dihedrals.end())
      throw Error(Failure::input,
                  fmt::format("{} has an array {}, {} has none of that name", positions_file, positions[i].name, dihedrals_file),
                  "give the two files of one data set");
    std::swap(dihedrals[i], *partner);
    if (positions[i].source->rows() != dihedrals[i].source->rows())
      throw Error(Failure::input,
                  fmt::format("{} has {}, but {} has {}", positions[i].file, counted(positions[i].source->rows(), "frame"),
                              dihedrals[i].file, dihedrals[i].source->rows()),
                  "a trajectory needs a pair of angles for every frame: give the two files of one data set");
  }
}

void distances(const double* position, std::size_t row, Table& features) {
  for (std::size_t a = 0; a < atoms; ++a)
    for (std::size_t b = 0; b < anchors; ++b) {
      double square = 0;
      for (std::size_t c = 0; c < 3; ++c) square += std::pow(position[3 * a + c] - position[3 * b + c], 2);
      features.set(row, anchors * a + b, std::sqrt(square));
    }
}

void check_finite(const double* values, std::size_t count, const std::string& file, std::size_t row) {
  for (std::size_t c = 0; c < count; ++c)
    if (!std::isfinite(values[c]))
      throw Error(Failure::input, fmt::format("{}: frame {}, column {} is not a finite number", file, row + 1, c + 1),
                  "leave such frames out");
}

// Heavy atoms of the molecule are 0.1 to 0.8 nm from each other, 0.3 in the mean. The paper's bandwidths are per square nanometre.
void check_length(const Table& features, const std::string& file) {
  double sum = 0;
  for (std::size_t i = 0; i < features.rows(); ++i)
    for (std::size_t c = 0; c < atoms * anchors; ++c) sum += features(i, c);
  const double mean = sum / static_cast<double>(features.rows() * (atoms - 1) * anchors);  // each anchor is one of the atoms
  if (mean >= 0.1 && mean <= 0.8) return;
  throw Error(Failure::input,
              fmt::format("{}: heavy atoms are {:.3g} from each other in the mean, those of alanine dipeptide 0.3 nm{}", file,
                          mean, mean >= 1 && mean <= 8 ? ": the positions look like ångströms" : ""),
              mean >= 1 && mean <= 8 ? "divide them by 10" : "give the positions of the ten heavy atoms in nanometres");
}

// In degrees, the same direction in (-180, 180].
double wrapped(double degrees) { return degrees - 360 * std::ceil((degrees - 180) / 360); }

struct Files {
  std::vector<Trajectory> positions, dihedrals;
  std::size_t all = 0, kept = 0, parts = 0;
};

Files open_files(const std::string& positions_file, const std::string& dihedrals_file, std::size_t most) {
  Files files;
  files.positions = trajectories_of(positions_file, 3 * atoms, "x, y, z of 10 heavy atoms");
  files.dihedrals = trajectories_of(dihedrals_file, 2, "phi and psi");
  check_pairs(files.positions, files.dihedrals, positions_file, dihedrals_file);
  for (const Trajectory& trajectory : files.positions) files.all += trajectory.source->rows();
  files.kept = most == 0 ? files.all : std::min(most, files.all);
  files.parts = files.positions.size() == 1 ? 3 : files.positions.size();
  if (files.kept < 30 * files.parts)
    throw Error(Failure::input, fmt::format("{} are too few to be split", counted(files.kept, "frame")),
                "give a few hundred or more");
  return files;
}

// An error over a handful of successive frames says nothing of the decoder. Trajectories may be of very different lengths.
void check_held_out(const Frames& frames, const std::vector<Trajectory>& positions, const std::string& file) {
  constexpr std::size_t fewest = 30;
  const bool fewer = frames.features.rows() < frames.all;
  const std::size_t first = frames.trajectories - held_out_of(frames.trajectories), used = frames.features.rows();
  for (std::size_t t = first; t < frames.trajectories; ++t) {
    const auto count = static_cast<std::size_t>(std::count(frames.trajectory.begin(), frames.trajectory.end(), t));
    if (count >= fewest) continue;
    throw Error(Failure::input,
                fmt::format("{}: {}, which is held out, has {} of the {} frames that are used; at least {} are needed", file,
                            frames.cut ? "its last third" : positions[t].name, count, used, fewest),
                fewer ? "give more frames by --n" : "give a longer trajectory last");
  }
}

// Where frame `number`, counted over all trajectories, stands: "a.npz:arr_1, frame 17".
std::string frame_text(const std::vector<Trajectory>& trajectories, std::size_t number) {
  std::size_t t = 0;
  for (; number >= trajectories[t].source->rows(); ++t) number -= trajectories[t].source->rows();
  return fmt::format("{}, frame {}", trajectories[t].file, number + 1);
}

void check_unit(const Frames& frames, const std::vector<Trajectory>& dihedrals, AngleUnit unit, const std::string& file) {
  const UnitDoubt doubt = doubt_of_unit(frames.angles, unit, frames.trajectory);
  if (doubt.what.empty()) return;
  if (doubt.everywhere)
    throw Error(Failure::input, fmt::format("{}: {}", file, doubt.what),
                fmt::format("add --angles {}, if that is so; --trust-unit, if not", unit == AngleUnit::radians ? "deg" : "rad"));
  const std::string place = frame_text(dihedrals, doubt.row * frames.all / frames.angles.rows());
  const char* angle = angle_names[doubt.column];
  if (doubt.other_unit)
    throw Error(Failure::input,
                fmt::format("from {} on, {}: {}; other angles of the file look like {}", place, angle, doubt.what, name(unit)),
                fmt::format("give all angles in one unit; --trust-unit, if all are {}", name(unit)));
  throw Error(Failure::input, fmt::format("{}: of {}, {}; the first is {}", file, angle, doubt.what, place),
              "mend such angles, or leave the frames out of both files; --trust-unit, if radians of several turns are meant");
}

// What does not change cannot be decoded, and is decoded to the last digit.
void check_vary(const Frames& frames, const std::string& file) {
  for (std::size_t c = 0; c < 2; ++c) {
    bool varies = false;
    for (std::size_t i = 1; i < frames.angles.rows() && !varies; ++i) varies = frames.angles(i, c) != frames.angles(0, c);
    if (!varies)
      throw Error(Failure::input,
                  fmt::format("{}: {} is {:.6g} in every frame that is used", file, angle_names[c],
                              frames.angles(0, c) + 0.0),  // not "-0"
                  "give the dihedrals of the frames");
  }
}

}  // namespace

std::size_t modes_for(std::size_t frames, bool quick) {
  return std::min(static_cast<std::size_t>(paper_number("alanine", "modes")) / (quick ? 2 : 1), frames / 8);
}

std::size_t held_out_of(std::size_t trajectories) { return std::max<std::size_t>(1, (trajectories + 1) / 3); }

std::size_t frames_right_of_zero(const Frames& frames) {
  std::size_t count = 0;
  for (std::size_t i = 0; i < frames.angles.rows(); ++i) count += frames.angles(i, 0) > 0 ? 1 : 0;
  return count;
}

bool hardly_visited(const Frames& frames) { return 1000 * frames_right_of_zero(frames) < frames.angles.rows(); }

Frames read_frames(const std::string& positions_file, const std::string& dihedrals_file, GivenUnit given, std::size_t most) {
  const Files files = open_files(positions_file, dihedrals_file, most);
  const std::vector<Trajectory>&positions = files.positions, &dihedrals = files.dihedrals;
  const std::size_t kept = files.kept;
  Frames frames;
  frames.all = files.all;
  frames.cut = positions.size() == 1;
  frames.features = Table(kept, atoms * anchors, false);
  frames.angles = Table(kept, 2, true);
  Table of_positions(kept, 2, true);
  frames.trajectories = files.parts;
  std::size_t row = 0, passed = 0;  // frame `row` of those kept is number row * all / kept of all
  for (std::size_t t = 0; t < positions.size(); ++t) {
    const std::size_t before = passed;
    std::vector<double> angles(2);
    in_pieces(*positions[t].source, [&](std::size_t first, std::size_t count, const double* values) {
      for (std::size_t i = 0; i < count; ++i, ++passed) {
        if (row >= kept || row * frames.all / kept != passed) continue;
        check_finite(values + i * 3 * atoms, 3 * atoms, positions[t].file, first + i);
        distances(values + i * 3 * atoms, row, frames.features);
        const auto recomputed = backbone_dihedrals(values + i * 3 * atoms);
        for (std::size_t c = 0; c < 2; ++c) of_positions.set(row, c, recomputed[c]);
        dihedrals[t].source->read(passed - before, 1, angles.data());
        check_finite(angles.data(), 2, dihedrals[t].file, first + i);
        for (std::size_t c = 0; c < 2; ++c) frames.angles.set(row, c, angles[c]);
        frames.trajectory.push_back(positions.size() == 1 ? 3 * row / kept : t);
        ++row;
      }
    });
  }
  check_held_out(frames, positions, positions_file);
  check_length(frames.features, positions_file);
  check_vary(frames, dihedrals_file);
  if (!given.trusted) check_unit(frames, dihedrals, given.unit, dihedrals_file);
  const double degrees = 360 / period(given.unit);
  for (std::size_t i = 0; i < kept; ++i)
    for (std::size_t c = 0; c < 2; ++c) frames.angles.set(i, c, wrapped(frames.angles(i, c) * degrees));
  check_dihedrals(frames.angles, of_positions, degrees,
                  [&](std::size_t i) { return frame_text(dihedrals, i * frames.all / kept); });
  return frames;
}

}  // namespace fd::reproduce

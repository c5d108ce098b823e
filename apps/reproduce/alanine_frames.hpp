// Frames of alanine dipeptide from files: the mdshare format (an archive with arrays arr_0, arr_1, ..., a trajectory each) or plain arrays, which
// are cut in three. Positions: 10 heavy atoms, x y z each; dihedrals: phi and psi. Features are the distances of the 10 atoms to the first 8,
// which know neither where the molecule is nor how it is turned.
//
// Guarantees: what does not fit together (columns, numbers and lengths of trajectories, the units of angles and lengths, angles that
// are not those of the positions) is an Error(input) that says which file, what was found and what to do. Does not know: what is done with the frames.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include <flashdiffusion/points.hpp>

#include "analysis/angle_unit.hpp"

namespace fd::reproduce {

struct Frames {
  Table features;                       // frames × 80
  Table angles;                         // frames × 2: phi, psi, in degrees, (-180, 180]
  std::vector<std::size_t> trajectory;  // of each frame
  std::size_t trajectories = 0;
  std::size_t all = 0;  // frames in the files
  bool cut = false;     // one array, cut into three that stand for trajectories
};

// What is said of the angles' unit; trusted: whatever they look like.
struct GivenUnit {
  AngleUnit unit = AngleUnit::radians;
  bool trusted = false;
};

// At most `most` frames, evenly spaced over all; 0: all of them.
Frames read_frames(const std::string& positions, const std::string& dihedrals, GivenUnit given, std::size_t most);

// Modes to decode from: the paper's 256 (in the quick form half of them), or one for each eight frames.
std::size_t modes_for(std::size_t frames, bool quick);

// Trajectories, the last ones, on which a decoder is tried: one of three, three of ten.
std::size_t held_out_of(std::size_t trajectories);

// Frames whose phi is above zero, and whether those are so few (less than one in a thousand) that errors say nothing of them.
std::size_t frames_right_of_zero(const Frames& frames);
bool hardly_visited(const Frames& frames);

}  // namespace fd::reproduce

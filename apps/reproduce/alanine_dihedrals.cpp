#include "reproduce/alanine_dihedrals.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <vector>

#include <fmt/format.h>

#include <flashdiffusion/error.hpp>

#include "base/counted.hpp"

namespace fd::reproduce {
namespace {

using Vector = std::array<double, 3>;

// Rounding of files, as to whole degrees or half precision, stays well below; of neighbouring frames of a trajectory many are farther apart.
constexpr double allowed = 10;

Vector cross(const Vector& a, const Vector& b) {
  return {a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]};
}

double dot(const Vector& a, const Vector& b) { return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]; }

// About the bond of the two atoms in the middle, with IUPAC's sign: atan2(|v| u·(v×w), (u×v)·(v×w)) for the bonds u, v, w.
double dihedral(const double* position, const std::array<std::size_t, 4>& atoms) {
  Vector bonds[3];
  for (std::size_t b = 0; b < 3; ++b)
    for (std::size_t c = 0; c < 3; ++c) bonds[b][c] = position[3 * atoms[b + 1] + c] - position[3 * atoms[b] + c];
  const Vector normal = cross(bonds[1], bonds[2]);
  const double sine = std::sqrt(dot(bonds[1], bonds[1])) * dot(bonds[0], normal), cosine = dot(cross(bonds[0], bonds[1]), normal);
  return std::atan2(sine, cosine) * 180 / std::numbers::pi;
}

double apart(double a, double b) { return std::abs(std::remainder(a - b, 360)); }

// The farther of phi and psi.
double apart(const Table& a, std::size_t row, const Table& b, std::size_t other, bool exchanged = false) {
  return std::max(apart(a(row, exchanged ? 1 : 0), b(other, 0)), apart(a(row, exchanged ? 0 : 1), b(other, 1)));
}

// The row whose positions have the angles that are given in this one, as files round them; rows(): there is none.
std::size_t owner(const Table& given, std::size_t row, const Table& of_positions) {
  constexpr double rounding = 0.01;
  std::size_t other = 0;
  while (other < of_positions.rows() && apart(given, row, of_positions, other) > rounding) ++other;
  return other;
}

bool all_within(const Table& values, double bound) {
  for (std::size_t i = 0; i < values.rows(); ++i)
    for (std::size_t c = 0; c < 2; ++c)
      if (std::abs(values(i, c)) > bound) return false;
  return true;
}

}  // namespace

std::array<double, 2> backbone_dihedrals(const double* position) {
  constexpr std::size_t carbon = 1, nitrogen = 3, alpha = 4, next_carbon = 6, next_nitrogen = 8;
  return {dihedral(position, {carbon, nitrogen, alpha, next_carbon}),
          dihedral(position, {nitrogen, alpha, next_carbon, next_nitrogen})};
}

void check_dihedrals(const Table& given, const Table& of_positions, double unit,
                     const std::function<std::string(std::size_t)>& place) {
  std::vector<std::size_t> wrong;
  std::size_t right_exchanged = 0;
  for (std::size_t i = 0; i < given.rows(); ++i) {
    if (apart(given, i, of_positions, i) <= allowed) continue;
    wrong.push_back(i);
    if (apart(given, i, of_positions, i, true) <= allowed) ++right_exchanged;
  }
  if (wrong.empty()) return;
  const std::size_t first = wrong.front();
  const std::size_t column = apart(given(first, 0), of_positions(first, 0)) > allowed ? 0 : 1;
  std::string what = "these are other frames, or atoms in another order",
              hint = "give the two files of one data set, atoms in the order CH3 C O N CA CB C O N CH3";
  if (100 * wrong.size() < given.rows()) {
    what = "all others are right";
    hint = "mend such angles, or leave the frames out of both files";
  } else if (right_exchanged == wrong.size()) {
    what = "the columns are exchanged";
    hint = "φ comes first, ψ second";
  } else if (all_within(given, unit)) {
    what = "these are no angles: all lie between −1 and 1, as cosines do";
    hint = "give φ and ψ themselves";
  } else if (const std::size_t other = owner(given, first, of_positions); other < given.rows()) {
    what = fmt::format("trajectories or frames are in another order: these are the angles of {}", place(other));
    hint = "give both files in one order";
  }
  throw Error(Failure::input,
              fmt::format("{}: {} is {:.1f}°, but {:.1f}° by the positions, and wrong in {} of {}; {}", place(first),
                          column == 0 ? "φ" : "ψ", given(first, column), of_positions(first, column), wrong.size(),
                          counted(given.rows(), "frame"), what),
              hint);
}

}  // namespace fd::reproduce

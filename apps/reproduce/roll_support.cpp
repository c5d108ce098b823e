#include "reproduce/roll_support.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "analysis/squared_distances.hpp"
#include "base/team.hpp"
#include "common/interrupt.hpp"

namespace fd::reproduce {
namespace {

constexpr std::size_t tile = 1024, tiles_a_task = 32;
constexpr double farthest_exponent = 40;

struct Query {
  double x[3], turn;
};

// Every 16th of 16 times as many candidates in the order of t: the density, and with it the count, is mostly a function of t.
std::vector<Query> sampled_queries(const cli::SwissRoll& roll, std::size_t rows) {
  const std::size_t candidates = std::min(roll.rows(), 16 * rows), step = std::max<std::size_t>(1, candidates / rows);
  std::vector<Query> all(candidates);
  for (std::size_t i = 0; i < candidates; ++i) {
    const auto row =
        static_cast<std::size_t>(static_cast<double>(i) * static_cast<double>(roll.rows()) / static_cast<double>(candidates));
    roll.make(row, 1, all[i].x, &all[i].turn);
  }
  std::sort(all.begin(), all.end(), [](const Query& a, const Query& b) { return a.turn < b.turn; });
  std::vector<Query> chosen;
  for (std::size_t i = step / 2; i < candidates; i += step) chosen.push_back(all[i]);
  return chosen;
}

struct Sums {
  std::vector<std::size_t> within, other;  // [reach]
  double mass = 0, mass_2beta = 0;         // off the diagonal
};

}  // namespace

RollSupport roll_support(const cli::SwissRoll& roll, std::size_t rows, const std::vector<double>& reaches, double beta,
                         int threads) {
  const std::vector<Query> queries = sampled_queries(roll, rows);
  const std::size_t kinds = reaches.size(), task_rows = tile * tiles_a_task, tasks = (roll.rows() + task_rows - 1) / task_rows;
  const double farthest = std::max(farthest_exponent / beta, *std::max_element(reaches.begin(), reaches.end()));
  // Counts are whole numbers, which add up in any order; sums of kernel values are kept a task each and added in the order of tasks.
  Team team(threads);
  std::vector<std::vector<Sums>> by_worker(static_cast<std::size_t>(team.threads()));
  for (auto& mine : by_worker) mine.assign(queries.size(), {std::vector<std::size_t>(kinds), std::vector<std::size_t>(kinds)});
  std::vector<double> masses(2 * tasks);
  team.run(
      tasks,
      [&](std::size_t task, int worker) {
        std::vector<Sums>& mine = by_worker[static_cast<std::size_t>(worker)];
        double points[3 * tile], turns[tile], squares[tile], mass = 0, mass_2beta = 0;
        for (std::size_t first = task * task_rows; first < std::min(roll.rows(), (task + 1) * task_rows); first += tile) {
          const std::size_t count = std::min(tile, roll.rows() - first);
          roll.make(first, count, points, turns);
          for (std::size_t q = 0; q < queries.size(); ++q) {
            const Query& query = queries[q];
            squared_distances(query.x, points, count, 3, squares);
            for (std::size_t j = 0; j < count; ++j) {
              const double square = squares[j];
              if (square > farthest) continue;
              const std::size_t far = std::abs(turns[j] - query.turn) > std::numbers::pi ? 1 : 0;
              for (std::size_t r = 0; r < kinds; ++r)
                if (square <= reaches[r]) ++mine[q].within[r], mine[q].other[r] += far;
              if (square == 0) continue;  // the row itself
              const double value = std::exp(-beta * square);
              mass += value;
              mass_2beta += value * value;
            }
          }
        }
        masses[2 * task] = mass;
        masses[2 * task + 1] = mass_2beta;
      },
      [] { cli::throw_if_interrupted(); });
  RollSupport result;
  const auto count = static_cast<double>(queries.size());
  for (std::size_t r = 0; r < kinds; ++r) {
    RollCount here;
    std::size_t all = 0,
                other = 0;  // which worker counted what depends on the day: whole numbers are added up before they are divided
    double before = 0, jumps = 0;
    for (std::size_t q = 0; q < queries.size(); ++q) {
      std::size_t counted = 0;
      for (const auto& mine : by_worker) counted += mine[q].within[r], other += mine[q].other[r];
      all += counted;
      const auto within = static_cast<double>(counted);
      if (q > 0) jumps += (within - before) * (within - before);
      before = within;
    }
    here.neighbours = static_cast<double>(all) / count;
    here.other_turns = static_cast<double>(other) / count;
    here.error = std::sqrt(jumps / (2 * (count - 1)) / count);  // of a systematic sample: from successive differences
    result.counts.push_back(here);
  }
  double mass = 0, mass_2beta = 0;
  for (std::size_t task = 0; task < tasks; ++task) mass += masses[2 * task], mass_2beta += masses[2 * task + 1];
  result.dimension = 2 * std::log2(mass / mass_2beta);
  return result;
}

}  // namespace fd::reproduce

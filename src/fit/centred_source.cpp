#include "fit/centred_source.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <limits>

#include <fmt/format.h>
#include <Eigen/Core>

#include <flashdiffusion/error.hpp>

#include "base/counted.hpp"

namespace fd {
namespace {

constexpr std::size_t sample_rows = 1024, sample_values = std::size_t{1} << 22;
constexpr double dwarfs = 30;  // extents
constexpr double parts = 1e6;  // times the distance of the nearer half: beyond, rows are likely to be fill values, however many
constexpr double moves_mean = 1e3;  // times the distance of the nearer half: beyond, the mean lies where no row does

std::string place_text(const PointSummary::Place& place) {
  return fmt::format("row {}, column {} (counted from 1)", place.row + 1, place.column + 1);
}

// The first reading: sums, which columns vary, whether all is finite, and every so many rows kept as a sample.
struct FirstReading {
  std::vector<double> mean, sample, largest;  // largest: |x| of each column
  std::vector<std::size_t> varying;

  explicit FirstReading(PointSource& source) {
    const std::size_t n = source.rows(), dimension = source.dimension();
    const std::size_t wanted = std::clamp<std::size_t>(sample_values / dimension, 32, sample_rows);
    const std::size_t stride = (n + wanted - 1) / wanted;
    // Sums of x - x_first: exact enough with any common offset.
    std::vector<double> origin(dimension), sum(dimension, 0.0);
    std::vector<std::uint64_t> varies(dimension, 0);  // as wide as a value: the loop below is one of vectors
    largest.assign(dimension, 0);
    std::size_t bad = 0;
    PointSummary::Place first_bad;
    in_pieces(source, [&](std::size_t first, std::size_t count, const double* rows) {
      if (first == 0) std::copy(rows, rows + dimension, origin.begin());
      for (std::size_t i = 0; i < count; ++i) {
        if ((first + i) % stride == 0) sample.insert(sample.end(), rows + i * dimension, rows + (i + 1) * dimension);
        const double* const row = rows + i * dimension;
        std::uint64_t wrong = 0;
        for (std::size_t c = 0; c < dimension; ++c) {
          const double value = row[c], size = std::abs(value);
          wrong += size <= std::numeric_limits<double>::max() ? 0 : 1;
          sum[c] += value - origin[c];
          largest[c] = size > largest[c] ? size : largest[c];
          varies[c] |= value != origin[c] ? 1 : 0;
        }
        if (wrong > 0 && bad == 0) {
          const double* const value = std::find_if(row, row + dimension, [](double x) { return !std::isfinite(x); });
          first_bad = {first + i, static_cast<std::size_t>(value - row), *value, 0};
        }
        bad += wrong;
      }
    });
    if (bad > 0) {
      std::string what = std::string(std::isnan(first_bad.value) ? "NaN" : "an infinite value") + " in " + place_text(first_bad);
      if (bad > 1)
        what += ", and " + counted(bad - 1, "more value") + " that " + one_or_many(bad - 1, "is", "are") + " not finite";
      throw Error(Failure::input, what, "fill such values in, or leave their rows out: `missing = drop-rows`");
    }
    mean.resize(dimension);
    for (std::size_t c = 0; c < dimension; ++c) {
      mean[c] = origin[c] + sum[c] / static_cast<double>(n);
      if (varies[c] != 0) varying.push_back(c);
    }
  }
};

std::vector<double> column_medians(const std::vector<double>& sample, std::size_t dimension) {
  constexpr std::size_t some = 8;  // columns at a time: a cache line of a row is read once
  // with many columns every so many rows of the sample, and never fewer than tell a middle from a half
  constexpr std::size_t enough_values = std::size_t{1} << 17, least_rows = 256;
  const std::size_t all = sample.size() / dimension,
                    step = std::max<std::size_t>(1, all / std::max(least_rows, enough_values / dimension));
  const std::size_t rows = (all + step - 1) / step;
  std::vector<double> medians(dimension), columns(some * rows);
  for (std::size_t first = 0; first < dimension; first += some) {
    const std::size_t count = std::min(some, dimension - first);
    for (std::size_t i = 0; i < rows; ++i)
      for (std::size_t c = 0; c < count; ++c) columns[c * rows + i] = sample[i * step * dimension + first + c];
    for (std::size_t c = 0; c < count; ++c) {
      const auto begin = columns.begin() + static_cast<std::ptrdiff_t>(c * rows);
      const auto middle = begin + static_cast<std::ptrdiff_t>(rows / 2);  // of two the upper one
      std::nth_element(begin, middle, begin + static_cast<std::ptrdiff_t>(rows));
      medians[first + c] = *middle;
    }
  }
  return medians;
}

double distance(const double* row, const std::vector<double>& origin, const std::vector<std::size_t>& columns) {
  std::array<double, 4> square = {};  // sums that do not wait for one another
  std::size_t c = 0;
  if (columns.size() == origin.size())
    for (; c + 4 <= columns.size(); c += 4)
      for (std::size_t lane = 0; lane < 4; ++lane)
        square[lane] += (row[c + lane] - origin[c + lane]) * (row[c + lane] - origin[c + lane]);
  for (; c < columns.size(); ++c) square[0] += (row[columns[c]] - origin[columns[c]]) * (row[columns[c]] - origin[columns[c]]);
  return std::sqrt((square[0] + square[1]) + (square[2] + square[3]));
}

// Distances of the rows of the sample that do not lie at its median, ascending.
std::vector<double> distances_of(const std::vector<double>& sample, const std::vector<double>& median,
                                 const std::vector<std::size_t>& columns) {
  std::vector<double> distances;
  for (std::size_t at = 0; at < sample.size(); at += median.size()) {
    const double d = distance(sample.data() + at, median, columns);
    if (d > 0) distances.push_back(d);
  }
  std::sort(distances.begin(), distances.end());
  return distances;
}

// A share of them is nearer; 0 where there are none.
double nearer(const std::vector<double>& distances, double share) {
  return distances.empty() ? 0 : distances[static_cast<std::size_t>(share * static_cast<double>(distances.size() - 1))];
}

// Of each column zero where it has values of both signs, else the one nearest zero, to a multiple of the last digit of the largest.
std::vector<double> nearest_zero(const std::vector<double>& sample, const std::vector<double>& largest) {
  std::vector<double> origin(sample.begin(), sample.begin() + static_cast<std::ptrdiff_t>(largest.size()));
  for (std::size_t i = 0; i < sample.size(); ++i) {
    double& least = origin[i % largest.size()];
    if (std::signbit(sample[i]) != std::signbit(least)) least = 0;
    if (std::abs(sample[i]) < std::abs(least)) least = sample[i];
  }
  for (std::size_t c = 0; c < largest.size(); ++c) {
    const double digit = std::nextafter(largest[c], std::numeric_limits<double>::infinity()) - largest[c];
    origin[c] = std::isfinite(origin[c] / digit) ? std::round(origin[c] / digit) * digit : origin[c];
  }
  return origin;
}

// The second reading: who lies far out. Returns the mean of |x - median|^2.
double find_farthest(PointSource& source, const std::vector<double>& median, double half, PointSummary& summary) {
  const std::size_t most = static_cast<std::size_t>(0.05 * static_cast<double>(summary.rows));
  std::size_t dwarfing = 0;
  const double limit = summary.extent > 0 ? dwarfs * summary.extent : std::numeric_limits<double>::infinity();
  double square = 0;
  in_pieces(source, [&](std::size_t first, std::size_t count, const double* rows) {
    for (std::size_t i = 0; i < count; ++i) {
      const double* row = rows + i * summary.dimension;
      const double far = distance(row, median, summary.varying);
      square += far * far;
      if (far > limit && dwarfing++ < most) summary.dwarf.push_back(first + i);
      if (far > parts * half) ++summary.parted;
      if (far <= summary.farthest.distance) continue;
      const auto out = [&](std::size_t c) { return std::abs(row[c] - median[c]); };
      std::size_t column = summary.varying[0];
      for (const std::size_t c : summary.varying)
        if (out(c) > out(column)) column = c;
      summary.farthest = {first + i, column, row[column], far};
    }
  });
  if (dwarfing > most) summary.dwarf.clear();
  if (!summary.dwarf.empty() || !(half > 0)) summary.parted = 0;
  return square / static_cast<double>(summary.rows);
}

}  // namespace

PointSummary summarise(PointSource& source, const std::vector<Precision>& precision) {
  PointSummary summary;
  summary.rows = source.rows();
  summary.dimension = source.dimension();
  if (summary.rows == 0 || summary.dimension == 0)
    throw Error(Failure::input, "there are no points", "give a table with at least 3 rows and 1 column");
  FirstReading first(source);
  summary.mean = std::move(first.mean);
  summary.varying = std::move(first.varying);
  if (summary.varying.empty() && summary.rows > 1)
    throw Error(Failure::input, "all " + std::to_string(summary.rows) + " points are equal: there is no geometry here",
                "check how the table was made");
  const std::vector<double> median = column_medians(first.sample, summary.dimension);
  const std::vector<double> distances = distances_of(first.sample, median, summary.varying);
  const double half = nearer(distances, 0.45);  // of an even number the lower middle
  summary.extent = nearer(distances, 0.95);
  summary.mean_square = find_farthest(source, median, half, summary);
  if (!std::isfinite(summary.mean_square))
    throw Error(Failure::input,
                fmt::format("{}: {:g} is too far from the other rows: squared distances overflow", place_text(summary.farthest),
                            summary.farthest.value),
                "remove the row if it is a fill value, or rescale the column");
  const bool moved = summary.farthest.distance > moves_mean * half;
  // mean |x - mean|^2 = mean |x - median|^2 - |mean - median|^2
  if (!moved) summary.mean_square -= std::pow(distance(summary.mean.data(), median, summary.varying), 2);
  const bool exact = std::any_of(precision.begin(), precision.end(), [](Precision p) { return traits(p).wide_panels; });
  if (moved || exact) summary.mean = nearest_zero(first.sample, first.largest);
  return summary;
}

void refuse_what_precision_cannot_hold(const PointSummary& summary, const std::vector<Precision>& precision,
                                       std::optional<double> beta) {
  // coordinates as a pass takes them: in units of the kernel's width, or of the extent where a search has yet to find it
  const double unit = beta ? std::sqrt(*beta) : summary.extent > 0 ? 1 / summary.extent : 0;
  for (const Precision p : precision) {
    const bool wide = traits(p).wide_panels;
    const double largest = wide ? 1e150 : 1e37;  // differences of two are finite
    const double scaled = wide ? 1e150 : 1e17;   // and so are sums of their squares over coordinates
    const double distance = summary.farthest.distance;
    if (distance <= largest && distance * unit <= scaled) continue;
    if (beta && distance <= largest && !(distance > dwarfs * summary.extent && summary.extent * unit <= scaled))
      throw Error(Failure::misuse,
                  fmt::format("`beta = {:g}` is more than {} can hold for rows that lie {:.2g} apart", *beta, traits(p).name,
                              summary.extent > 0 ? summary.extent : distance),
                  "give a smaller one, or leave it out to let the data choose");
    throw Error(Failure::input,
                fmt::format("{}: {:g} is more than {} can hold beside the other rows, 95 in 100 of which lie within {:.2g}",
                            place_text(summary.farthest), summary.farthest.value, traits(p).name, summary.extent),
                "if it is a fill value remove the row, else rescale the column");
  }
}

std::string describe_dwarfing(const PointSummary& summary, bool search, const std::vector<std::string>& names,
                              const std::vector<std::size_t>& aside) {
  constexpr std::size_t named = 6;
  const std::vector<std::size_t>& rows = summary.dwarf;
  const std::string farthest = listed_rows({summary.farthest.row}, 1, names);
  if (summary.parted > 0)
    return fmt::format(
        "{} of {} rows {} more than {:g} times as far out as half of the rows (farthest: {}, {:g} in column {}); if "
        "these are fill values, leave such rows out",
        summary.parted, summary.rows, one_or_many(summary.parted, "lies", "lie"), parts, farthest, summary.farthest.value,
        summary.farthest.column + 1);
  if (std::includes(aside.begin(), aside.end(), rows.begin(), rows.end())) return {};
  return fmt::format("{} {} more than {:g} times as far out as 95 in 100 rows (farthest: {}, {:g} in column {}){}; check {}",
                     listed_rows(rows, named, names), one_or_many(rows.size(), "lies", "lie"), dwarfs, farthest,
                     summary.farthest.value, summary.farthest.column + 1, search ? " and may decide the bandwidth alone" : "",
                     one_or_many(rows.size(), "it", "them"));
}

void CentredSource::read(std::size_t first, std::size_t count, double* out) {
  const std::size_t wide = summary_.dimension, narrow = summary_.varying.size();
  buffer_.resize(count * wide);
  if (some_) some_->read(first, count, buffer_.data());
  else source_.read(first, count, buffer_.data());
  const bool turned = !summary_.basis.empty();
  if (turned) columns_.resize(count * narrow);
  double* const to = turned ? columns_.data() : out;
  for (std::size_t i = 0; i < count; ++i)
    for (std::size_t v = 0; v < narrow; ++v) {
      const std::size_t c = summary_.varying[v];
      to[i * narrow + v] = buffer_[i * wide + c] - summary_.mean[c];
    }
  if (!turned) return;
  using RowMajor = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
  const auto rows = static_cast<Eigen::Index>(count), columns = static_cast<Eigen::Index>(narrow),
             coordinates = static_cast<Eigen::Index>(summary_.coordinates());
  Eigen::Map<RowMajor>(out, rows, coordinates).noalias() =
      Eigen::Map<const RowMajor>(to, rows, columns) * Eigen::Map<const RowMajor>(summary_.basis.data(), columns, coordinates);
}

}  // namespace fd

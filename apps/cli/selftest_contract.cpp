#include "cli/selftest_contract.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>
#include <vector>

#include "base/random.hpp"
#include "common/interrupt.hpp"

namespace fd::cli {
namespace {

using Numbers = std::vector<double>;

enum class Shape { plain, groups, offset, copies };

// Points x and others z of expected squared norm 1 but for the shape.
struct Case {
  const char* name;
  std::size_t rows, others, dimension, columns;
  double beta;
  Shape shape = Shape::plain;
};
constexpr Case cases[] = {{"odd sizes", 257, 131, 7, 5, 1},
                          {"one coordinate", 67, 259, 1, 5, 1},
                          {"45 coordinates", 129, 33, 45, 5, 1},
                          {"300 coordinates", 67, 35, 300, 2, 1},
                          {"few rows", 3, 5, 2, 5, 1},
                          {"one column", 131, 67, 12, 1, 2},
                          {"two columns", 130, 66, 20, 2, 2},
                          {"33 columns", 141, 50, 6, 33, 2},
                          {"a wide kernel", 131, 67, 12, 16, 0.01},
                          {"a narrow kernel", 131, 131, 2, 3, 50},
                          {"groups far apart", 140, 67, 3, 2, 1, Shape::groups},
                          {"groups far apart, 8 columns", 140, 67, 3, 8, 1, Shape::groups},
                          {"a common offset", 140, 67, 4, 3, 1, Shape::offset},
                          {"equal rows", 140, 67, 3, 3, 2, Shape::copies}};

// Numbers that a float holds: no precision loses anything by storing them.
Numbers normal(std::size_t count, double scale, std::uint64_t stream) {
  Numbers v(count);
  const Random random(1, stream);
  for (std::size_t i = 0; i < count; ++i) v[i] = static_cast<float>(scale * random.normal(i));
  return v;
}

Numbers points_of(const Case& c, std::size_t rows, std::uint64_t stream) {
  Numbers x = normal(rows * c.dimension, 1 / std::sqrt(static_cast<double>(c.dimension)), stream);
  for (std::size_t i = 0; i < rows; ++i) {
    double* const row = x.data() + i * c.dimension;
    if (c.shape == Shape::groups && i % 2 == 1) row[0] = static_cast<float>(row[0] + 1e3);
    if (c.shape == Shape::copies && i % 2 == 1) std::copy_n(row - c.dimension, c.dimension, row);
    for (std::size_t a = 0; a < c.dimension && c.shape == Shape::offset; ++a) row[a] = static_cast<float>(row[a] + 1e4);
  }
  return x;
}

Numbers absolute(Numbers v) {
  for (double& value : v) value = std::abs(value);
  return v;
}

// The three kernel passes, from host memory to host memory.
struct Products {
  Numbers symmetric, rectangular, mass;
  bool operator==(const Products&) const = default;
};

Products products_of(Backend& backend, Precision precision, const Case& c, const Numbers& x, const Numbers& z, const Numbers& w_x,
                     const Numbers& w_z) {
  ViewSource source_x(PointsView(x.data(), c.rows, c.dimension)), source_z(PointsView(z.data(), c.others, c.dimension));
  const auto points_x = backend.load(source_x, precision), points_z = backend.load(source_z, precision);
  const auto in_x = backend.panel(points_x->layout(), c.columns, precision),
             in_z = backend.panel(points_z->layout(), c.columns, precision);
  const auto out = backend.panel(points_x->layout(), c.columns, precision),
             sums = backend.panel(points_x->layout(), 2, precision);
  Products result{Numbers(c.rows * c.columns), Numbers(c.rows * c.columns), Numbers(c.rows * 2)};
  backend.upload(w_x.data(), *in_x);
  backend.upload(w_z.data(), *in_z);
  backend.xgemm(c.beta, *points_x, *in_x, *out, nullptr);
  backend.download(*out, result.symmetric.data());
  backend.xgemm(c.beta, *points_x, *points_z, *in_z, *out, nullptr);
  backend.download(*out, result.rectangular.data());
  backend.mass(c.beta, *points_x, *sums, nullptr);
  backend.download(*sums, result.mass.data());
  return result;
}

class Examiner {
 public:
  explicit Examiner(Verdict& verdict) : verdict_(verdict) {}
  // `scale` of each number, or of all where it is one.
  void compare(const std::string& what, const Numbers& got, const Numbers& want, const Numbers& scale, double bound,
               bool product) {
    for (std::size_t i = 0; i < got.size(); ++i) {
      const double difference = std::abs(got[i] - want[i]), of = scale[scale.size() == 1 ? 0 : i];
      const double relative =
          std::isfinite(difference) ? (difference == 0 ? 0 : difference / of) : std::numeric_limits<double>::infinity();
      if (product) verdict_.error = std::max(verdict_.error, relative);
      if (relative / bound <= verdict_.share) continue;
      verdict_.share = relative / bound;
      verdict_.worst = what;
    }
  }
  void same(bool bits) { verdict_.same_bits = verdict_.same_bits && bits; }

 private:
  Verdict& verdict_;
};

// A row of K W is right to the promise of the precision, as a share of the same row of K |W|, whatever the points. The diagonal, which back-ends leave to
// the caller, is part of that row.
void check_products(Examiner& examiner, Backend& tested, Backend& again, Backend& reference, Precision precision, const Case& c) {
  const Numbers x = points_of(c, c.rows, 1), z = points_of(c, c.others, 2);
  const Numbers w_x = normal(c.rows * c.columns, 1, 3), w_z = normal(c.others * c.columns, 1, 4);
  const Products got = products_of(tested, precision, c, x, z, w_x, w_z),
                 truth = products_of(reference, Precision::fp64, c, x, z, w_x, w_z);
  Products scale = products_of(reference, Precision::fp64, c, x, z, absolute(w_x), absolute(w_z));
  for (std::size_t i = 0; i < w_x.size(); ++i) scale.symmetric[i] += std::abs(w_x[i]);
  for (double& sum : scale.mass) sum += 1;
  for (double& sum : scale.rectangular) sum += 1e-30;  // rows that see nothing
  const double promise = traits(precision).row_error;
  const std::string name = c.name;
  examiner.compare(name + ": K W", got.symmetric, truth.symmetric, scale.symmetric, promise, true);
  examiner.compare(name + ": K(X, Z) W", got.rectangular, truth.rectangular, scale.rectangular, promise, true);
  examiner.compare(name + ": mass", got.mass, truth.mass, scale.mass, promise, true);
  examiner.same(got == products_of(again, precision, c, x, z, w_x, w_z));
}

// Each verb once, in the panel's arithmetic: `unit` is its rounding.
std::vector<Numbers> blocks_of(Backend& backend, Precision precision, std::size_t rows, std::size_t a, std::size_t b) {
  const auto layout = plain_layout(rows);
  const auto x = backend.panel(layout, a + 2, precision), y = backend.panel(layout, b, precision),
             s = backend.panel(layout, 1, precision);
  std::vector<Numbers> found;
  const auto take = [&](Columns columns) {
    found.emplace_back(rows * columns.count);
    backend.download(columns, found.back().data());
  };
  backend.upload(normal(rows * (a + 2), 1, 5).data(), *x);
  backend.upload(normal(rows * b, 1, 6).data(), *y);
  backend.upload(normal(rows, 1, 7).data(), *s);
  const Columns part(*x, 1, a);
  const Eigen::MatrixXd gram = backend.gram(part, *y);
  found.emplace_back(gram.data(), gram.data() + gram.size());
  Eigen::MatrixXd c(static_cast<Eigen::Index>(a), static_cast<Eigen::Index>(b));
  const Numbers coefficients = normal(a * b, 1 / std::sqrt(static_cast<double>(a)), 8);
  std::copy(coefficients.begin(), coefficients.end(), c.data());
  backend.combine(part, c, *y, true);
  take(*y);
  backend.scale_rows(*s, *y, *y);
  take(*y);
  backend.multiply_add(*s, *y, *y);
  take(*y);
  backend.combine(part, c.leftCols(1), Columns(*x, 1, 1), false);  // in place
  take(*x);
  backend.randomize(*y, 17, 3);
  take(*y);
  return found;
}

void check_blocks(Examiner& examiner, Backend& tested, Backend& again, Backend& reference, Precision precision) {
  constexpr std::size_t rows = 301, a = 21, b = 5;
  constexpr const char* names[] = {"Gram matrix",           "combination",          "rows scaled",
                                   "rows scaled and added", "combination in place", "random numbers"};
  const std::vector<Numbers> got = blocks_of(tested, precision, rows, a, b), want = blocks_of(reference, precision, rows, a, b);
  const double unit = traits(precision).wide_panels ? 0x1p-53 : 0x1p-24;
  // Gram sums are carried in fp64. Elsewhere sums of a terms of size up to five, rounded once each, and what is made of them. Random numbers are the same but for
  // the last bit: a logarithm and a cosine need not be the C library's.
  const double bounds[] = {1e-15 * rows + 1e-14, 5 * unit * (a + 2), 5 * unit * (a + 2),
                           5 * unit * (a + 2),   5 * unit * (a + 2), 2 * unit};
  for (std::size_t v = 0; v < got.size(); ++v) {
    Numbers scale(want[v].size(), 1.0);
    for (std::size_t i = 0; i < scale.size() && v > 0; ++i) scale[i] += std::abs(want[v][i]);
    examiner.compare(names[v], got[v], want[v], scale, bounds[v], false);
  }
  examiner.same(got == blocks_of(again, precision, rows, a, b));
}

}  // namespace

Verdict check_contract(Backend& tested, Backend& again, Backend& reference, Precision precision) {
  Verdict verdict;
  Examiner examiner(verdict);
  for (const Case& c : cases) {
    throw_if_interrupted();
    check_products(examiner, tested, again, reference, precision, c);
  }
  check_blocks(examiner, tested, again, reference, precision);
  return verdict;
}

}  // namespace fd::cli

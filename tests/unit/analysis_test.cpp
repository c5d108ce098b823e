// What is said about a finished model: folds, the vote of nearest neighbours, the ridge decoder. Against figures that can be had by
// hand, and against the normal equations solved another way.
#include <cmath>
#include <limits>
#include <numbers>

#include <gtest/gtest.h>
#include <Eigen/Dense>

#include <flashdiffusion/error.hpp>

#include "analysis/folds.hpp"
#include "analysis/nearest_neighbours.hpp"
#include "analysis/ridge_decoder.hpp"
#include "base/random.hpp"

namespace fd {
namespace {

using Eigen::MatrixXd;

constexpr double nan = std::numeric_limits<double>::quiet_NaN();

MatrixXd normals(Eigen::Index rows, Eigen::Index columns, std::uint64_t stream) {
  const Random random(11, stream);
  MatrixXd values(rows, columns);
  for (Eigen::Index i = 0; i < values.size(); ++i) values.data()[i] = random.normal(static_cast<std::uint64_t>(i));
  return values;
}

TEST(Folds, AreEvenAndTheSameForTheSameSeed) {
  const auto fold = random_folds(103, 5, 1);
  std::vector<std::size_t> sizes(5, 0);
  for (const std::size_t f : fold) ++sizes.at(f);
  for (const std::size_t size : sizes) EXPECT_TRUE(size == 20 || size == 21);
  EXPECT_EQ(fold, random_folds(103, 5, 1));
  EXPECT_NE(fold, random_folds(103, 5, 2));
  std::size_t in_order = 0;  // a random order leaves about a fifth of the rows where counting would put them
  for (std::size_t i = 0; i < fold.size(); ++i) in_order += fold[i] == i % 5 ? 1 : 0;
  EXPECT_LT(in_order, 50u);
  EXPECT_THROW(random_folds(10, 1, 0), Error);
  EXPECT_THROW(random_folds(3, 4, 0), Error);
}

TEST(NearestNeighbours, VoteOfTheOtherFoldOnly) {
  // Two folds on a line. Row 0 (class 0) has its own class beside it in its own fold, where it may not look.
  MatrixXd x(6, 1);
  x << 0, 0.1, 0.2, 10, 10.1, 10.2;
  const std::vector<std::size_t> labels = {0, 0, 1, 1, 1, 0}, fold = {0, 0, 1, 1, 0, 1};
  // one neighbour: 0 -> row 2 (1, wrong); 1 -> row 2 (wrong); 2 -> row 1 (0, wrong); 3 -> row 4 (right); 4 -> row 3 (right: 10 is as
  // near as 10.2, and the row of smaller number counts); 5 -> row 4 (wrong)
  x(4, 0) = 10.125;
  x(5, 0) = 10.25;
  EXPECT_DOUBLE_EQ(neighbour_accuracy(x, labels, fold, 1), 2.0 / 6);
}

TEST(NearestNeighbours, EqualVotesGoToTheNearest) {
  MatrixXd x(5, 1);
  x << 0, 1, 2, 3, 4;
  const std::vector<std::size_t> labels = {7, 7, 8, 8, 7}, folds = {0, 1, 2, 3, 4};
  // every row alone, four neighbours: 0: 7 8 8 7 -> 7, right. 1: 0 and 2 at 1, then 3, 4: 7 8 8 7 -> 7, right. 2: 1, 3, 0, 4: 7 8 7 7 -> wrong.
  // 3: 2, 4, 1, 0: 8 7 7 7 -> wrong. 4: 3, 2, 1, 0: 8 8 7 7 -> 8, wrong.
  EXPECT_DOUBLE_EQ(neighbour_accuracy(x, labels, folds, 4), 2.0 / 5);
  EXPECT_DOUBLE_EQ(neighbour_accuracy(x, {8, 8, 7, 7, 8}, folds, 4), 2.0 / 5);  // whatever the classes are called
}

TEST(NearestNeighbours, MisuseAndWrongNumbers) {
  MatrixXd x = normals(20, 3, 1);
  const auto fold = random_folds(20, 4, 0);
  const std::vector<std::size_t> labels(20, 0);
  EXPECT_DOUBLE_EQ(neighbour_accuracy(x, labels, fold, 5), 1);
  EXPECT_THROW(neighbour_accuracy(x, std::vector<std::size_t>(19, 0), fold, 5), Error);
  EXPECT_THROW(neighbour_accuracy(x, labels, fold, 16), Error);
  EXPECT_THROW(neighbour_accuracy(x, labels, fold, 0), Error);
  x(3, 2) = nan;
  EXPECT_TRUE(std::isnan(neighbour_accuracy(x, labels, fold, 5)));
}

TEST(RidgeDecoder, SolvesTheNormalEquations) {
  const MatrixXd f = normals(40, 4, 1) * 3, y = normals(40, 2, 2).array() + 5;
  const double ridge = 0.1;
  const MatrixXd fc = f.rowwise() - f.colwise().mean(), yc = y.rowwise() - y.colwise().mean();
  // ridge as least squares with rows sqrt(rho) I below, by QR
  const double rho = ridge * fc.squaredNorm() / 4;
  MatrixXd tall(44, 4), right(44, 2);
  tall << fc, std::sqrt(rho) * MatrixXd::Identity(4, 4);
  right << yc, MatrixXd::Zero(4, 2);
  const MatrixXd weights = tall.colPivHouseholderQr().solve(right);
  const MatrixXd fresh = normals(7, 4, 3);
  const MatrixXd wanted = ((fresh.rowwise() - f.colwise().mean()) * weights).rowwise() + y.colwise().mean();
  EXPECT_LE((RidgeDecoder(f, y, ridge).predict(fresh) - wanted).norm(), 1e-12 * wanted.norm());
}

TEST(RidgeDecoder, DoesNotSeeTheScaleOfTheModes) {
  const MatrixXd f = normals(60, 5, 1), y = normals(60, 3, 2), fresh = normals(9, 5, 3);
  const MatrixXd as_is = RidgeDecoder(f, y, 0.3).predict(fresh), scaled = RidgeDecoder(1e-6 * f, y, 0.3).predict(1e-6 * fresh);
  EXPECT_LE((as_is - scaled).norm(), 1e-10 * as_is.norm());
}

TEST(RidgeDecoder, ModesThatDoNotVaryDecodeToTheMean) {
  const MatrixXd y = normals(30, 2, 2);
  const MatrixXd guess = RidgeDecoder(MatrixXd::Constant(30, 3, 2.5), y).predict(normals(4, 3, 1));
  for (Eigen::Index i = 0; i < guess.rows(); ++i) EXPECT_LE((guess.row(i) - y.colwise().mean()).norm(), 1e-14);
}

TEST(RidgeDecoder, MisuseAndWrongNumbers) {
  MatrixXd f = normals(20, 3, 1);
  const MatrixXd y = normals(20, 2, 2);
  EXPECT_THROW(RidgeDecoder(f, normals(19, 2, 2)), Error);
  EXPECT_THROW(RidgeDecoder(f, y, -1), Error);
  EXPECT_THROW(RidgeDecoder(f, y, nan), Error);
  EXPECT_THROW(RidgeDecoder(MatrixXd(0, 3), MatrixXd(0, 2)), Error);
  EXPECT_THROW(RidgeDecoder(f, y).predict(normals(4, 2, 3)), Error);
  EXPECT_THROW(circle_points(f, 0), Error);
  EXPECT_THROW(circle_angles(f, 360), Error);
  EXPECT_THROW(held_out_error(f, y, random_folds(19, 3, 0)), Error);
  f(4, 1) = nan;
  EXPECT_TRUE(std::isnan(held_out_error(f, y, random_folds(20, 4, 0))));
}

TEST(RidgeDecoder, AnglesGoRoundTheCircle) {
  EXPECT_NEAR(circular_distance(179, -179, 360), 2, 1e-12);
  EXPECT_NEAR(circular_distance(-179, 179 + 720, 360), 2, 1e-12);
  EXPECT_NEAR(circular_distance(0, 180, 360), 180, 1e-12);
  MatrixXd angles(3, 2);
  angles << -179, 10, 90, -90, 45, 179;
  EXPECT_LE((circle_angles(7 * circle_points(angles, 360), 360) - angles).norm(), 1e-11);
  MatrixXd predicted = angles;
  predicted(0, 0) = 179;  // two degrees away, not 358
  const Eigen::RowVectorXd error = circular_error(predicted, angles, 360);
  EXPECT_NEAR(error(0), 2.0 / 3, 1e-12);
  EXPECT_EQ(error(1), 0);
}

TEST(RidgeDecoder, DecodesACircleFromItsHarmonics) {
  const Eigen::Index rows = 200;
  MatrixXd angles(rows, 1), modes(rows, 4);
  const Random random(3, 0);
  for (Eigen::Index i = 0; i < rows; ++i) {
    const double a = 360 * random.uniform(static_cast<std::uint64_t>(i)) - 180, r = a * std::numbers::pi / 180;
    angles(i, 0) = a;
    modes.row(i) << 2 * std::cos(r) + 1, 2 * std::sin(r) - 3, 0.1 * std::cos(2 * r), 0.1 * std::sin(2 * r);
  }
  const MatrixXd targets = circle_points(angles, 360);
  const RidgeDecoder decoder(modes.topRows(150), targets.topRows(150));
  const MatrixXd back = circle_angles(decoder.predict(modes.bottomRows(50)), 360);
  EXPECT_LE(circular_error(back, angles.bottomRows(50), 360)(0), 1e-4);
}

TEST(HeldOutError, IsOneForNoiseAndZeroForWhatIsLinear) {
  const MatrixXd f = normals(400, 5, 1);
  const auto fold = random_folds(400, 5, 0);
  const MatrixXd linear = (f * normals(5, 3, 4)).array() + 100;
  EXPECT_LE(held_out_error(f, linear, fold), 1e-12);
  const double noise = held_out_error(f, normals(400, 3, 2), fold);
  EXPECT_NEAR(noise, 1, 0.1);
  EXPECT_GT(noise, 1);  // fitting five weights to noise costs about 5 / 320
}

}  // namespace
}  // namespace fd

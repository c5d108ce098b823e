// Decoding of targets from modes: held-out errors against a plain computation, angles, folds, what is not known, what is refused.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <numbers>

#include <Eigen/Dense>

#include <flashdiffusion/decode.hpp>
#include <flashdiffusion/error.hpp>

#include "analysis/angle_unit.hpp"
#include "analysis/folds.hpp"
#include "analysis/ridge_decoder.hpp"
#include "base/random.hpp"

namespace fd {
namespace {

using Eigen::Index;
using Eigen::MatrixXd;

constexpr double nan = std::numeric_limits<double>::quiet_NaN();

// A model with nothing but modes: harmonics of an angle.
Model circle_model(std::size_t n, std::size_t modes, std::vector<double>* angles) {
  Model model;
  model.n = n;
  model.eigenvalues.assign(modes, 0.5);
  model.psi = Table(n, modes, true);
  const Random random(3, 0), noise(3, 1);
  for (std::size_t i = 0; i < n; ++i) {
    const double a = 2 * std::numbers::pi * random.uniform(i) - std::numbers::pi;
    angles->push_back(a);
    for (std::size_t j = 0; j < modes; ++j) {
      const double harmonic = static_cast<double>(j / 2 + 1);
      model.psi.set(i, j, (j % 2 == 0 ? std::cos(harmonic * a) : std::sin(harmonic * a)) + 0.05 * noise.normal(i * modes + j));
    }
  }
  return model;
}

Table column(const std::vector<double>& values) {
  Table table(values.size(), 1, true);
  for (std::size_t i = 0; i < values.size(); ++i) table.set(i, 0, values[i]);
  return table;
}

TEST(Moments, OfFoldsAddUpAndGiveTheDecoderOfTheirRows) {
  const Random random(5, 0);
  MatrixXd f(90, 6), y(90, 2);
  for (Index i = 0; i < f.size(); ++i) f.data()[i] = 100 + random.normal(static_cast<std::uint64_t>(i));
  for (Index i = 0; i < y.size(); ++i) y.data()[i] = random.normal(static_cast<std::uint64_t>(10000 + i));
  RidgeMoments first(f.row(0), y.row(0)), some = first, last = first;
  first.add(f.topRows(5), y.topRows(5));
  first.add(f.middleRows(5, 15), y.middleRows(5, 15));
  last.add(f.bottomRows(40), y.bottomRows(40));
  some.add(f.middleRows(20, 30), y.middleRows(20, 30));
  RidgeMoments rest = first;
  rest += last;
  MatrixXd kept_f(60, 6), kept_y(60, 2);
  kept_f << f.topRows(20), f.bottomRows(40);
  kept_y << y.topRows(20), y.bottomRows(40);
  const RidgeDecoder wanted(kept_f.leftCols(4), kept_y, 0.01), found = RidgePath(rest.leading(4)).decoder(0.01);
  const MatrixXd a = wanted.predict(f.leftCols(4)), b = found.predict(f.leftCols(4));
  EXPECT_LE((a - b).norm(), 1e-11 * a.norm());
  // what is missed of rows that the decoder was not fitted to, from moments and from rows
  const MatrixXd hidden = y.middleRows(20, 30) - b.middleRows(20, 30);
  const Eigen::RowVectorXd missed = found.missed(some.leading(4));
  for (Index t = 0; t < 2; ++t) EXPECT_NEAR(missed(t), hidden.col(t).squaredNorm(), 1e-10 * hidden.col(t).squaredNorm());
  rest += some;
  RidgeMoments all(f.row(0), y.row(0));
  all.add(f, y);
  EXPECT_LE((rest.gram() - all.gram()).norm(), 1e-12 * all.gram().norm());
}

TEST(RidgePath, KnowsTheConditionNumber) {
  MatrixXd f(4, 2);
  f << 3, 0, -3, 0, 0, 1, 0, -1;
  RidgeMoments moments(f.row(0), f.row(0).head(1));
  moments.add(f, f.leftCols(1));
  EXPECT_NEAR(RidgePath(moments).condition(), 9, 1e-13);
  f.col(1).setConstant(2);
  RidgeMoments flat(f.row(0), f.row(0).head(1));
  flat.add(f, f.leftCols(1));
  EXPECT_GT(RidgePath(flat).condition(), 1e15);
}

TEST(Decode, ErrorsAreThoseOfRowsHeldOut) {
  std::vector<double> angles;
  const Model model = circle_model(210, 6, &angles);
  const Table targets = column(angles);
  DecodeOptions options;
  options.period = 2 * std::numbers::pi;
  options.ridge = 1e-3;
  options.modes = {2, 5};
  options.folds = 4;
  const Decoding found = decode(model, targets, options);
  ASSERT_EQ(found.by_modes.size(), 2u);
  EXPECT_EQ(found.rows, 210u);
  const auto fold = random_folds(210, 4, options.seed);
  for (const DecodedModes& row : found.by_modes) {
    const auto m = static_cast<Index>(row.modes);
    MatrixXd f(210, m), a(210, 1);
    for (Index i = 0; i < 210; ++i) {
      a(i, 0) = angles[static_cast<std::size_t>(i)];
      for (Index j = 0; j < m; ++j) f(i, j) = model.psi(static_cast<std::size_t>(i), static_cast<std::size_t>(j));
    }
    const MatrixXd y = circle_points(a, *options.period);
    double absolute = 0, squares = 0;
    for (std::size_t held = 0; held < 4; ++held) {
      std::vector<Index> in, out;
      for (std::size_t i = 0; i < 210; ++i) (fold[i] == held ? out : in).push_back(static_cast<Index>(i));
      const RidgeDecoder decoder(f(in, Eigen::all), y(in, Eigen::all), 1e-3);
      const MatrixXd guess = circle_angles(decoder.predict(f(out, Eigen::all)), *options.period);
      for (std::size_t i = 0; i < out.size(); ++i) {
        const double error = circular_distance(guess(static_cast<Index>(i), 0), a(out[i], 0), *options.period);
        absolute += error / 210;
        squares += error * error / 210;
        if (row.modes == 5) {
          EXPECT_NEAR(found.decoded(static_cast<std::size_t>(out[i]), 0), guess(static_cast<Index>(i), 0), 1e-10);
        }
      }
    }
    EXPECT_NEAR(row.errors[0].mean_absolute, absolute, 1e-11);
    EXPECT_NEAR(row.errors[0].root_mean_square, std::sqrt(squares), 1e-11);
    EXPECT_NEAR(row.errors[0].unexplained, held_out_error(f, y, fold, 1e-3), 1e-10);
    EXPECT_EQ(row.ridge, 1e-3);
  }
  EXPECT_LT(found.by_modes[0].errors[0].mean_absolute, 0.06);
  EXPECT_GT(found.guess[0], 1);  // a quarter turn is what no knowledge at all misses by
}

TEST(Decode, ChoosesThePenaltyWithoutTheRowsThatJudge) {
  // Noise features, few rows: without a penalty the decoder fits noise, and cross-validation must see that.
  Model model;
  model.n = 60;
  model.eigenvalues.assign(30, 0.5);
  model.psi = Table(60, 30, true);
  const Random random(9, 0);
  std::vector<double> y;
  for (std::size_t i = 0; i < 60; ++i) {
    for (std::size_t j = 0; j < 30; ++j) model.psi.set(i, j, random.normal(i * 30 + j));
    y.push_back(model.psi(i, 0) + random.normal(5000 + i));
  }
  DecodeOptions options;
  options.modes = {30};
  options.ridge = 0;
  const double free = decode(model, column(y), options).by_modes[0].errors[0].unexplained;
  options.ridge.reset();
  const DecodedModes chosen = decode(model, column(y), options).by_modes[0];
  EXPECT_LT(chosen.errors[0].unexplained, 0.8 * free);
  EXPECT_GE(chosen.ridge, 0.1);
  // a target that is nothing but noise: a choice made with the judging rows in sight would now and then look better than the mean
  for (std::size_t i = 0; i < 60; ++i) y[i] = random.normal(90000 + i);
  EXPECT_GT(decode(model, column(y), options).by_modes[0].errors[0].unexplained, 0.99);
}

TEST(Decode, RowsWithoutTargetsAreDecodedAndThoseWithoutModesAreNot) {
  std::vector<double> angles;
  Model model = circle_model(100, 4, &angles);
  std::vector<double> values = angles;
  values[7] = nan;
  model.psi.set(11, 2, nan);
  DecodeOptions options;
  options.period = 2 * std::numbers::pi;
  const Decoding found = decode(model, column(values), options);
  EXPECT_EQ(found.rows, 98u);
  EXPECT_LT(circular_distance(found.decoded(7, 0), angles[7], *options.period), 0.3);
  EXPECT_TRUE(std::isnan(found.decoded(11, 0)));
  ASSERT_EQ(found.by_modes.size(), 3u);  // 1, 2, 4
  EXPECT_EQ(found.by_modes[1].modes, 2u);
}

TEST(Decode, BlocksHoldOutRunsOfRows) {
  // Each run of 20 rows has a level of its own that one mode carries and nothing else: known to its neighbours, not to other runs.
  Model model;
  model.n = 100;
  model.eigenvalues.assign(5, 0.5);
  model.psi = Table(100, 5, true);
  std::vector<double> y;
  for (std::size_t i = 0; i < 100; ++i) {
    model.psi.set(i, i / 20, 1);
    y.push_back(static_cast<double>((i / 20) * (i / 20)));
  }
  DecodeOptions options;
  options.ridge = 1e-6;
  options.modes = {5};
  EXPECT_LT(decode(model, column(y), options).by_modes[0].errors[0].mean_absolute, 1e-3);
  options.blocks = true;
  EXPECT_GT(decode(model, column(y), options).by_modes[0].errors[0].mean_absolute, 3);
}

TEST(Decode, RefusesWhatDoesNotFitTogether) {
  std::vector<double> angles;
  const Model model = circle_model(40, 3, &angles);
  const Table targets = column(angles);
  const auto kind_of = [&](const Model& m, const Table& t, const DecodeOptions& o) {
    try {
      decode(m, t, o);
    } catch (const Error& error) {
      return error.kind();
    }
    return Failure::interrupted;
  };
  DecodeOptions options;
  options.modes = {4};
  EXPECT_EQ(kind_of(model, targets, options), Failure::misuse);
  options.modes = {0};
  EXPECT_EQ(kind_of(model, targets, options), Failure::misuse);
  options.modes = {};
  options.folds = 2;  // one judges, one chooses, none is left
  EXPECT_EQ(kind_of(model, targets, options), Failure::misuse);
  options.folds = 30;
  EXPECT_EQ(kind_of(model, targets, options), Failure::input);
  options.folds = 5;
  for (const double ridge : {-1.0, nan, std::numeric_limits<double>::infinity()}) {
    options.ridge = ridge;
    EXPECT_EQ(kind_of(model, targets, options), Failure::misuse);
  }
  options.ridge = 1e-8;
  EXPECT_EQ(kind_of(model, column({1, 2}), options), Failure::misuse);
  EXPECT_EQ(kind_of(Model(), column({}), options), Failure::misuse);
  std::vector<double> infinite = angles;
  infinite[3] = std::numeric_limits<double>::infinity();
  EXPECT_EQ(kind_of(model, column(infinite), options), Failure::input);
  options.period = 0;
  EXPECT_EQ(kind_of(model, targets, options), Failure::misuse);
}

TEST(AngleUnit, IsDoubtedWhereTheRangeIsThatOfTheOther) {
  EXPECT_EQ(doubt_of_unit(column({-3.1, 3.14, nan}), AngleUnit::radians).what, "");
  EXPECT_EQ(doubt_of_unit(column({0, 6.2832}), AngleUnit::radians).what, "");
  EXPECT_NE(doubt_of_unit(column({-3.1, 179}), AngleUnit::radians).what.find("degrees"), std::string::npos);
  EXPECT_EQ(doubt_of_unit(column({-3.1, 179}), AngleUnit::degrees).what, "");
  EXPECT_NE(doubt_of_unit(column({-3.1, 3.14}), AngleUnit::degrees).what.find("radians"), std::string::npos);
  // one stray value: neither are radians degrees for it, nor degrees radians
  std::vector<double> few(200, 1.5);
  few[16] = 400;
  const UnitDoubt stray = doubt_of_unit(column(few), AngleUnit::radians);
  EXPECT_FALSE(stray.other_unit);
  EXPECT_EQ(stray.row, 16u);
  EXPECT_EQ(stray.what.find("degrees"), std::string::npos) << stray.what;
  EXPECT_NE(doubt_of_unit(column(few), AngleUnit::degrees).what.find("radians"), std::string::npos);
  EXPECT_EQ(doubt_of_unit(column({nan, nan}), AngleUnit::degrees).what, "");  // nothing is known
  EXPECT_EQ(period(*angle_unit_from_name("deg")), 360);
  EXPECT_NEAR(period(*angle_unit_from_name("rad")), 2 * std::numbers::pi, 1e-15);
  EXPECT_FALSE(angle_unit_from_name("grad"));
}

TEST(AngleUnit, IsJudgedOfEachColumnAndPartByItself) {
  Table angles(200, 2, true);  // rows 0 to 99 and 100 to 199 are parts
  std::vector<std::size_t> part(200);
  for (std::size_t i = 0; i < 200; ++i) {
    part[i] = i / 100;
    for (std::size_t c = 0; c < 2; ++c) angles.set(i, c, std::sin(static_cast<double>(i)) * 3);
  }
  EXPECT_TRUE(doubt_of_unit(angles, AngleUnit::degrees, part).everywhere);
  for (std::size_t i = 100; i < 200; ++i) angles.set(i, 1, angles(i, 1) * 57.3);
  for (const AngleUnit unit : {AngleUnit::radians, AngleUnit::degrees}) {
    const UnitDoubt doubt = doubt_of_unit(angles, unit, part);
    EXPECT_FALSE(doubt.what.empty());
    EXPECT_TRUE(doubt.other_unit && !doubt.everywhere);
    EXPECT_EQ(doubt.column, unit == AngleUnit::radians ? 1u : 0u);
    EXPECT_EQ(doubt.row, unit == AngleUnit::radians ? 100u : 0u);
  }
  std::vector<std::size_t> single(200);  // a row is a part: some lie near zero, whatever their unit
  for (std::size_t i = 0; i < 200; ++i) single[i] = i;
  for (std::size_t i = 0; i < 200; ++i)
    for (std::size_t c = 0; c < 2; ++c) angles.set(i, c, std::sin(static_cast<double>(i)) * 170);
  EXPECT_EQ(doubt_of_unit(angles, AngleUnit::degrees, single).what, "");
}

// A long part and short ones, of `rows` each, in two columns, all in one unit, and the part `odd` in the other.
UnitDoubt doubt_of_short(std::size_t shorts, std::size_t rows, std::size_t odd, AngleUnit unit) {
  const std::size_t all = 300 + shorts * rows;
  Table angles(all, 2, true);
  std::vector<std::size_t> part(all);
  for (std::size_t i = 0; i < all; ++i) {
    part[i] = i < 300 ? 0 : 1 + (i - 300) / rows;
    for (std::size_t c = 0; c < 2; ++c) {
      const double degrees = 170 * std::sin(static_cast<double>(7 * i + 3 * c + 1));
      angles.set(i, c, (part[i] == odd) != (unit == AngleUnit::radians) ? degrees * std::numbers::pi / 180 : degrees);
    }
  }
  return doubt_of_unit(angles, unit, part);
}

TEST(AngleUnit, OfAShortPartIsJudgedByTheOthers) {
  for (const std::size_t rows : {4u, 12u, 19u}) {
    const UnitDoubt doubt = doubt_of_short(3, rows, 2, AngleUnit::degrees);
    EXPECT_TRUE(!doubt.what.empty() && doubt.other_unit && !doubt.everywhere);
    EXPECT_EQ(doubt.row, 300 + rows);
    EXPECT_EQ(doubt_of_short(3, rows, 9, AngleUnit::degrees).what, "");
    EXPECT_NE(doubt_of_short(3, rows, 2, AngleUnit::radians).what, "");
    EXPECT_EQ(doubt_of_short(3, rows, 9, AngleUnit::radians).what, "");
  }
  EXPECT_EQ(doubt_of_short(100, 1, 9, AngleUnit::degrees).what, "");  // one angle of many near zero
  // many short parts, none of which says much, are judged together
  Table angles(60, 1, true);
  std::vector<std::size_t> part(60);
  for (std::size_t i = 0; i < 60; ++i) angles.set(i, 0, i < 30 ? 170 : 1), part[i] = i < 30 ? 0 : i;
  EXPECT_EQ(doubt_of_unit(angles, AngleUnit::degrees, part).row, 30u);
  EXPECT_EQ(doubt_of_unit(angles, AngleUnit::degrees).what, "");
  // where others are few, they do not say what is improbable
  for (std::size_t i = 0; i < 60; ++i) angles.set(i, 0, i < 2 ? 170 : 1), part[i] = i < 2 ? 0 : 1;
  part.resize(20);
  Table few(20, 1, true);
  for (std::size_t i = 0; i < 20; ++i) few.set(i, 0, angles(i, 0));
  EXPECT_EQ(doubt_of_unit(few, AngleUnit::degrees, part).what, "");
}

TEST(AngleUnit, ZeroIsZeroInEither) {
  Table angles(100, 2, true);
  EXPECT_EQ(doubt_of_unit(angles, AngleUnit::degrees).what, "");
  for (std::size_t i = 0; i < 100; ++i) angles.set(i, 0, 170 * std::sin(static_cast<double>(i)));
  EXPECT_EQ(doubt_of_unit(angles, AngleUnit::degrees).what, "");
  for (std::size_t i = 0; i < 100; ++i) angles.set(i, 0, 3 * std::sin(static_cast<double>(i)));
  EXPECT_TRUE(doubt_of_unit(angles, AngleUnit::degrees).everywhere);
}

TEST(AngleUnit, OfTwoDoubtsTheOtherUnitIsTheGraver) {
  Table angles(200, 2, true);
  for (std::size_t i = 0; i < 200; ++i) angles.set(i, 0, 1), angles.set(i, 1, 170);
  angles.set(7, 0, 400);
  const UnitDoubt doubt = doubt_of_unit(angles, AngleUnit::radians);
  EXPECT_TRUE(doubt.other_unit);
  EXPECT_EQ(doubt.column, 1u);
}

}  // namespace
}  // namespace fd

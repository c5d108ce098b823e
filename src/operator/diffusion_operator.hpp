// The diffusion operator of a set of points at one bandwidth, symmetric form:
//   q = K 1,  d = q^-a K q^-a,  s = q^-a d^-1/2,  M = diag(s) K diag(s),  P = d^-1/2 M d^1/2.
// K_ii = 1 is added here, exactly; back-ends leave the diagonal out. The Perron pair is known: v0 = sqrt(d)/|sqrt(d)|, lambda0 = 1.
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "device/space.hpp"
#include "operator/operator.hpp"

namespace fd {

// Sweeps over a kernel, as users count them.
struct PassCount {
  std::size_t passes = 0;   // mass sweeps included
  std::size_t columns = 0;  // vectors times sweeps
};
inline void archive(Archive& archive, PassCount& count) { archive(count.passes, count.columns); }

// Rows that the others do not resolve: a walker on row i stays there with probability P_ii = M_ii, which is also the Rayleigh quotient of the
// row's indicator: where it is large the row makes a mode of its own. Rows above `most_return`, the sparsest `most_rows` of them if there are
// more, are set aside: they take part in the mass q, which is a density, but not in the walk: s = d = 0 there. P_ii grows with beta: up
// to that many a larger beta sets aside the same rows and more.
struct RowRule {
  double most_return = 1;  // 1: all rows take part; 0: the sparsest `most_rows` do not
  std::size_t most_rows = 0;
  // Rows that are not set aside, by source order, but for those that a walker hardly ever leaves; null: any may be. Where a walker rather stays
  // on more than an eighth of them than leaves, they are not resolved, and the operator is `sparse` where that is `judged`.
  const std::vector<char>* keep = nullptr;
  bool judged = true;
};
inline constexpr double rather_stays = 0.5, hardly_leaves = 0.9;

class DiffusionOperator final : public Operator {
 public:
  // Two passes: the mass (which also gives S_off at beta and 2 beta) and, for alpha != 0, the degree. With `carried`, right
  // eigenvectors psi of another bandwidth or rung, the second pass makes their image as well: s sqrt(d) psi = q^-a psi does not
  // need d, so a warm start's first pass and the degree are one. With a rule for rows one more pass, of one column: P_ii of all rows.
  DiffusionOperator(Space& space, const Points& points, double beta, double alpha, Watch* watch, Columns carried = {},
                    const RowRule& rule = {});
  // The same operator again, as it was archived; without what was carried.
  DiffusionOperator(Space& space, const Points& points, double beta, Watch* watch, Archive& saved);
  void archive(Archive& archive);
  void archive_progress(Archive& archive) override { archive(perron_wanted_, perron_residual_, applied_, count_); }

  const SharedLayout& layout() const override { return points_.layout(); }
  void restrict(Columns directions) override;
  void apply(Columns in, Columns out) override;
  // With kernel entries in tf32, where the back-end has something cheaper for that.
  double apply_low_precision(Columns in, Columns out, double permitted) override;

  double beta() const { return beta_; }
  const Points& points() const { return points_; }
  Columns perron() { return *perron_; }
  // What was carried, as v = v0 psi, and M v; null without.
  Panel* start() { return start_.get(); }
  Panel* start_image() { return start_image_.get(); }
  void forget_start() { start_.reset(), start_image_.reset(); }
  // |M v0 - v0|. After measure_perron() one of the next apply()s takes it along as one more column; if none did, asking for it costs a
  // pass. Negative where it was never wanted.
  void measure_perron() { perron_wanted_ = true; }
  double perron_residual();
  double s_off() const { return s_off_; }                 // sum over i != j of K_ij, over the rows i that take part
  double s_off_2beta() const { return s_off_2beta_; }     // the same at 2 beta
  std::size_t aside() const { return aside_; }            // rows set aside
  bool sparse() const { return sparse_; }                 // rows that are kept are not resolved: nothing but mass() is known
  const std::vector<double>& mass() const { return q_; }  // in the order of the source
  const std::vector<double>& degree() const { return d_; }
  // P_ii with all rows in the walk; empty without a rule for rows.
  const std::vector<double>& return_probability() const { return stays_; }
  const PassCount& count() const { return count_; }

 private:
  // q^-alpha of the rows that take part, 0 of the others.
  std::vector<double> weights(double alpha, const RowRule& rule);
  void find_return_probability(const std::vector<double>& weight, bool flat);
  void check_mass_and_degree() const;
  double negligible(Precision precision) const;
  void pass_begins();
  void product(Columns in, Columns out, std::optional<Precision> enough = {});  // out = M in
  bool perron_rides(std::size_t columns);  // in an application to so many: where there is room, else in the fifth
  void apply_with_perron(Columns in, Columns out);
  void note_perron(Columns image);  // M v0; leaves M v0 - v0 there

  Space& space_;
  const Points& points_;
  double beta_;
  Watch* watch_;
  std::vector<double> q_, d_, stays_;
  double s_off_ = 0, s_off_2beta_ = 0;
  double least_share_ = 1;  // min(q) min(w) / max(w), w = q^-alpha
  std::unique_ptr<Panel> taking_part_, scale_, scale_squared_, perron_, scaled_, start_, start_image_;
  bool perron_wanted_ = false;
  double perron_residual_ = -1;
  std::size_t applied_ = 0, aside_ = 0;
  bool sparse_ = false;
  PassCount count_;
};

}  // namespace fd

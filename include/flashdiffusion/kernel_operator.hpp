// The kernel of a set of points as a linear operator: the points are loaded once, products are as many as the caller likes. For
// people who bring their own solver; a single product is kernel_product.hpp. Products have the same bits for any number of threads.
// Calls from several threads are safe, and take turns. Knows nothing of normalisation: M = diag(s) K diag(s) is two scalings away.
#pragma once

#include <cstddef>
#include <memory>

#include <flashdiffusion/options.hpp>
#include <flashdiffusion/points.hpp>

namespace fd {

class KernelOperator {
 public:
  // K_ij = exp(-beta |x_i - x_j|^2), symmetric: a product evaluates each pair once. Uses of Options: precision (the last), backend, isa,
  // threads; the observer may stop the loading, and is not kept. The points are copied into the back-end's own form, so the view may go away.
  KernelOperator(PointsView x, double beta, const Options& options = {});
  // K_ij = exp(-beta |x_i - z_j|^2), x-rows × z-rows.
  KernelOperator(PointsView x, PointsView z, double beta, const Options& options = {});
  KernelOperator(KernelOperator&&) noexcept;
  KernelOperator& operator=(KernelOperator&&) noexcept;
  ~KernelOperator();

  std::size_t rows() const;
  std::size_t columns() const;
  double beta() const;

  // K W, W: columns() × any, and K^T W, W: rows() × any. Without the diagonal, K_ii = 1, a symmetric operator is K - I, and what is left is as
  // accurate beside itself as K is beside 1; a rectangular one has none, and throws Error(misuse).
  Table apply(PointsView w, Observer* observer = nullptr, bool diagonal = true) const;
  Table apply_transposed(PointsView w, Observer* observer = nullptr, bool diagonal = true) const;

 private:
  struct Loaded;
  std::unique_ptr<Loaded> loaded_;
};

}  // namespace fd

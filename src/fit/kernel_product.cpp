// The public primitive: an operator that is applied once.
#include <flashdiffusion/kernel_product.hpp>

#include <flashdiffusion/kernel_operator.hpp>

namespace fd {

Table kernel_product(PointsView x, PointsView w, double beta, const Options& options) {
  return KernelOperator(x, beta, options).apply(w, options.observer);
}

Table kernel_product(PointsView x, PointsView z, PointsView w, double beta, const Options& options) {
  return KernelOperator(x, z, beta, options).apply(w, options.observer);
}

}  // namespace fd

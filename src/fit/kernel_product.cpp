// The public primitive: an operator that is applied once.
#include <flashdiffusion/kernel_product.hpp>

#include <flashdiffusion/kernel_operator.hpp>

namespace fd {

Table kernel_product(PointsView x, PointsView w, double beta, const Options& options) {
  Options once = options;
  once.memory_bytes = 0;  // there is no second pass to keep anything for
  return KernelOperator(x, beta, once).apply(w, options.observer);
}

Table kernel_product(PointsView x, PointsView z, PointsView w, double beta, const Options& options) {
  return KernelOperator(x, z, beta, options).apply(w, options.observer);
}

}  // namespace fd

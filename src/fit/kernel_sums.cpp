#include "fit/kernel_sums.hpp"

namespace fd {

std::vector<double> kernel_sums(Backend& backend, double beta, const Points& x, const Points& z,
                                const std::vector<double>& weight, Watch* watch) {
  auto in = backend.panel(z.layout(), 1, x.precision()), out = backend.panel(x.layout(), 1, x.precision());
  backend.upload(weight.data(), *in);
  if (&x == &z) backend.xgemm(beta, x, *in, *out, watch);
  else backend.xgemm(beta, x, z, *in, *out, watch);
  std::vector<double> sums(x.rows());
  backend.download(*out, sums.data());
  return sums;
}

}  // namespace fd

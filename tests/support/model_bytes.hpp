// A model as bytes: what two fits that are the same must agree in.
#pragma once

#include <cstring>
#include <string>
#include <type_traits>
#include <vector>

#include <flashdiffusion/model.hpp>

namespace fd::test {

// All that a model says but for times, memory and provenance.
class ModelBytes {
 public:
  explicit ModelBytes(const Model& model) {
    add(model.kernel + "|" + model.outcome);
    for (const double value : {model.beta, model.alpha, model.perron, model.perron_residual, model.beta_exponent,
                               model.beta_exponent_error, model.converged ? 1.0 : 0.0})
      add(value);
    add(model.aside);
    for (const std::size_t count : {model.n, model.dimension, model.passes, model.full_passes, model.columns}) add(count);
    for (const auto* values : {&model.eigenvalues, &model.residuals, &model.q, &model.d, &model.mean}) add(*values);
    for (const Table* table : {&model.psi, &model.points}) table->visit([&](const auto& values) { add(values); });
    for (const Probe& probe : model.sweep) {
      for (const double value : {probe.beta, probe.s_off, probe.s_off_2beta, probe.n_eff, probe.d_hat, probe.perron_gap,
                                 probe.v_bias, probe.v_stat, probe.v_mach, probe.v})
        add(value);
      for (const std::size_t count : {probe.n, probe.localised, probe.passes}) add(count);
      add(probe.outcome);
      add(probe.eigenvalues);
    }
  }
  bool operator==(const ModelBytes&) const = default;

 private:
  template <class T>
  void add(const std::vector<T>& values) {
    add(values.size());
    for (const T value : values) add(value);
  }
  void add(const std::string& text) { add(std::vector<char>(text.begin(), text.end())); }
  template <class T>
  requires std::is_arithmetic_v<T>
  void add(T value) {
    const std::size_t at = bytes_.size();
    bytes_.resize(at + sizeof value);
    std::memcpy(bytes_.data() + at, &value, sizeof value);
  }
  std::vector<char> bytes_;
};

}  // namespace fd::test

// NumPy arrays as the library's views and back, without copies: a view of the caller's memory goes in, the memory of a Table comes out
// with the array as its owner. Arrays must be C-contiguous float32 or float64; the Python side sees to it.
#pragma once

#include <memory>
#include <utility>
#include <vector>

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>

#include <flashdiffusion/error.hpp>
#include <flashdiffusion/points.hpp>

namespace fd::python {

namespace nb = nanobind;

using Rows = nb::ndarray<nb::ro, nb::ndim<2>, nb::c_contig, nb::device::cpu>;

inline PointsView view_of(const Rows& array) {
  if (array.dtype() == nb::dtype<float>()) return {static_cast<const float*>(array.data()), array.shape(0), array.shape(1)};
  if (array.dtype() == nb::dtype<double>()) return {static_cast<const double*>(array.data()), array.shape(0), array.shape(1)};
  throw Error(Failure::misuse, "an array of another type than float32 and float64", "convert it first");
}

// `owner` keeps the values alive.
template <class T>
nb::object array_of(const std::vector<T>& values, nb::handle owner) {
  return nb::cast(nb::ndarray<nb::numpy, const T, nb::ndim<1>>(values.data(), {values.size()}, owner));
}

inline nb::object array_of(const Table& table, nb::handle owner) {
  return table.visit([&](const auto& values) {
    using T = typename std::decay_t<decltype(values)>::value_type;
    return nb::object(
        nb::cast(nb::ndarray<nb::numpy, const T, nb::ndim<2>>(values.data(), {table.rows(), table.columns()}, owner)));
  });
}

inline nb::object array_from(Table&& made) {
  auto table = std::make_unique<Table>(std::move(made));
  Table& kept = *table;
  const nb::capsule owner(table.release(), [](void* p) noexcept { delete static_cast<Table*>(p); });
  return kept.visit([&](auto& values) {
    using T = typename std::decay_t<decltype(values)>::value_type;
    return nb::object(nb::cast(nb::ndarray<nb::numpy, T, nb::ndim<2>>(values.data(), {kept.rows(), kept.columns()}, owner)));
  });
}

}  // namespace fd::python

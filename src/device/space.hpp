// The solver's only linear algebra: a back-end's tall-block verbs, with inner products summed over all ranks.
#pragma once

#include <algorithm>
#include <memory>
#include <vector>

#include "base/archive.hpp"
#include "device/backend.hpp"
#include "device/comm.hpp"

namespace fd {

class Space {
 public:
  Space(Backend& backend, Precision precision, Comm& comm) : backend_(backend), precision_(precision), comm_(comm) {}

  Backend& backend() { return backend_; }
  Precision precision() const { return precision_; }
  std::unique_ptr<Panel> panel(std::size_t rows, std::size_t columns) { return backend_.panel(rows, columns, precision_); }

  Eigen::MatrixXd gram(Columns a, Columns b) {
    Eigen::MatrixXd g = backend_.gram(a, b);
    comm_.sum(g.data(), static_cast<std::size_t>(g.size()));
    return g;
  }
  void combine(Columns a, const Eigen::MatrixXd& s, Columns y, bool accumulate = false) { backend_.combine(a, s, y, accumulate); }
  void randomize(Columns a, std::uint64_t seed, std::uint64_t stream) {
    backend_.randomize(a, seed + static_cast<std::uint64_t>(comm_.rank()) * 0x9E3779B97F4A7C15u, stream);
  }

  // Columns as they are, rows in the panel's own order, some at a time.
  void archive(Archive& archive, Columns a) {
    constexpr std::size_t some = 8;
    std::vector<double> host;
    std::vector<float> narrow;
    for (std::size_t first = 0; first < a.count; first += some) {
      const Columns part = a.part(first, std::min(some, a.count - first));
      host.resize(part.rows() * part.count);
      if (!archive.reading()) backend_.download(nullptr, part, host.data());
      if (traits(precision_).wide_panels) archive.bytes(host.data(), host.size() * sizeof(double));
      else {
        narrow.assign(host.begin(), host.end());
        archive.bytes(narrow.data(), narrow.size() * sizeof(float));
        host.assign(narrow.begin(), narrow.end());
      }
      if (archive.reading()) backend_.upload(nullptr, host.data(), part);
    }
  }
  // A panel to be read from what is left of an archive.
  std::unique_ptr<Panel> archived_panel(const Archive& archive, std::size_t rows, std::size_t columns) {
    const std::size_t bytes = traits(precision_).wide_panels ? sizeof(double) : sizeof(float);
    if (rows == 0 || columns > archive.left() / bytes / rows)
      throw Error(Failure::input, "a block of vectors in it is cut short");
    return panel(rows, columns);
  }
  // A whole panel with its shape; null stays null.
  void archive(Archive& archive, std::unique_ptr<Panel>& a) {
    std::size_t rows = a ? a->rows() : 0, columns = a ? a->columns() : 0;
    archive(rows, columns);
    if (archive.reading()) a = columns > 0 ? archived_panel(archive, rows, columns) : nullptr;
    if (a) this->archive(archive, Columns(*a));
  }

 private:
  Backend& backend_;
  Precision precision_;
  Comm& comm_;
};

}  // namespace fd

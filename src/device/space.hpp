// A back-end at one precision: the solver's only linear algebra, and panels that are archived.
#pragma once

#include <algorithm>
#include <memory>
#include <vector>

#include "base/archive.hpp"
#include "device/backend.hpp"

namespace fd {

class Space {
 public:
  Space(Backend& backend, Precision precision) : backend_(backend), precision_(precision) {}

  Backend& backend() { return backend_; }
  Precision precision() const { return precision_; }
  std::unique_ptr<Panel> panel(const SharedLayout& layout, std::size_t columns) {
    return backend_.panel(layout, columns, precision_);
  }

  Eigen::MatrixXd gram(Columns a, Columns b) { return backend_.gram(a, b); }
  void combine(Columns a, const Eigen::MatrixXd& s, Columns y, bool accumulate = false) { backend_.combine(a, s, y, accumulate); }
  void copy(Columns a, Columns y) { backend_.copy(a, y); }
  void randomize(Columns a, std::uint64_t seed, std::uint64_t stream) { backend_.randomize(a, seed, stream); }

  // Columns as they are, rows in the order of the source, some at a time.
  void archive(Archive& archive, Columns a) {
    constexpr std::size_t some = 8;
    std::vector<double> host;
    std::vector<float> narrow;
    for (std::size_t first = 0; first < a.count; first += some) {
      const Columns part = a.part(first, std::min(some, a.count - first));
      host.resize(part.rows() * part.count);
      if (!archive.reading()) backend_.download(part, host.data());
      if (traits(precision_).wide_panels) archive.bytes(host.data(), host.size() * sizeof(double));
      else {
        narrow.assign(host.begin(), host.end());
        archive.bytes(narrow.data(), narrow.size() * sizeof(float));
        host.assign(narrow.begin(), narrow.end());
      }
      if (archive.reading()) backend_.upload(host.data(), part);
    }
  }
  // A panel to be read from what is left of an archive.
  std::unique_ptr<Panel> archived_panel(const Archive& archive, const SharedLayout& layout, std::size_t columns) {
    const std::size_t bytes = traits(precision_).wide_panels ? sizeof(double) : sizeof(float);
    if (layout->here() == 0 || columns > archive.left() / bytes / layout->here())
      throw Error(Failure::input, "a block of vectors in it is cut short");
    return panel(layout, columns);
  }
  // A whole panel of the rows of a layout; null stays null.
  void archive(Archive& archive, const SharedLayout& layout, std::unique_ptr<Panel>& a) {
    std::size_t columns = a ? a->columns() : 0;
    archive(columns);
    if (archive.reading()) a = columns > 0 ? archived_panel(archive, layout, columns) : nullptr;
    if (a) this->archive(archive, Columns(*a));
  }

 private:
  Backend& backend_;
  Precision precision_;
};

}  // namespace fd

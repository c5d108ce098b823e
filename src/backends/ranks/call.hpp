// What rank 0 tells the others to do: a verb of Backend with its arguments, points and panels by number. Tables travel in messages of their own.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <Eigen/Core>

#include <flashdiffusion/comm.hpp>

#include "base/archive.hpp"
#include "device/backend.hpp"

namespace fd::ranks {

enum class Verb : std::uint8_t {
  open,  // a back-end of its own, as `request` says
  close,
  finish,  // no more calls
  load,
  panel,
  forget,  // points or a panel
  product,
  rectangle,
  mass,
  low_precision_error,
  gram,
  combine,
  copy,
  add,
  scale_rows,
  multiply_add,
  randomize,
  upload,
  download,
};

// A window of a panel that is known by its number.
struct Window {
  std::uint64_t panel = 0, first = 0, count = 0;
};
inline void archive(Archive& archive, Window& window) { archive(window.panel, window.first, window.count); }

struct Call {
  Verb verb = Verb::finish;
  std::uint64_t id = 0;     // of what is made, forgotten or, of points, used
  std::uint64_t other = 0;  // Z of a rectangle; the points that a panel's rows are those of, 0 for a plain layout
  std::uint64_t work = 0;   // number of a pass
  std::size_t rows = 0, columns = 0;
  Precision precision = Precision::fp32;
  Window a, b, y;
  double beta = 0, negligible = 0;
  bool has_enough = false, accumulate = false;
  Precision enough = Precision::fp32;
  std::uint64_t seed = 0, stream = 0;
  std::vector<double> matrix;  // column-major, of combine
  std::size_t matrix_rows = 0;
  // of open
  std::string backend, isa;
  int threads = 0;
  bool keeps = false, one_bandwidth = false;
  std::size_t keep_bytes = 0, rows_a_rank = 0;
  std::vector<int> devices;

  std::optional<Precision> permitted() const { return has_enough ? std::optional(enough) : std::nullopt; }
};
inline void archive(Archive& archive, Call& c) {
  archive(c.verb, c.id, c.other, c.work, c.rows, c.columns, c.precision, c.a, c.b, c.y, c.beta, c.negligible, c.has_enough,
          c.accumulate, c.enough, c.seed, c.stream, c.matrix, c.matrix_rows, c.backend, c.isa, c.threads, c.keeps,
          c.one_bandwidth, c.keep_bytes, c.rows_a_rank, c.devices);
}

// Whether rank 0 waits for a reply of every rank.
inline bool is_answered(Verb verb) {
  switch (verb) {
    case Verb::open:
    case Verb::load:
    case Verb::product:
    case Verb::rectangle:
    case Verb::mass:
    case Verb::low_precision_error:
    case Verb::gram:
    case Verb::download: return true;
    default: return false;
  }
}

// How a call went on a rank, with numbers that it gives.
struct Reply {
  bool failed = false;
  Failure kind = Failure::device;
  std::string what, hint;
  std::vector<double> numbers;
};
inline void archive(Archive& archive, Reply& r) { archive(r.failed, r.kind, r.what, r.hint, r.numbers); }

template <class T>
Comm::Message to_message(T record) {
  return std::make_shared<const std::vector<char>>(archived([&](Archive& writer) { writer(record); }));
}
template <class T>
T from_message(const Comm::Message& message) {
  T record;
  ArchiveReader reader(message->data(), message->size());
  reader(record);
  return record;
}

}  // namespace fd::ranks

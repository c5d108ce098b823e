#include "backends/ranks/half_ring.hpp"

#include <algorithm>
#include <memory>
#include <utility>

#include <flashdiffusion/error.hpp>

#include "base/archive.hpp"

namespace fd::ranks {
namespace {

// Columns of a panel in the order of its places, as a visitor needs them: it leaves the order of its rows at home.
std::vector<double> by_place(Backend& backend, Columns a) {
  std::vector<double> rows(a.rows() * a.count), places(rows.size());
  backend.download(a, rows.data());
  const Layout& layout = *a.panel->layout();
  for (std::size_t i = 0; i < a.rows(); ++i) {
    const double* const from = rows.data() + layout.local_row(i) * a.count;
    std::copy(from, from + a.count, places.begin() + static_cast<std::ptrdiff_t>(i * a.count));
  }
  return places;
}

// Y += what came home, in the order of places.
void add_by_place(Backend& backend, const std::vector<double>& places, Columns y) {
  std::vector<double> rows(places.size());
  const Layout& layout = *y.panel->layout();
  for (std::size_t i = 0; i < y.rows(); ++i)
    std::copy_n(places.data() + i * y.count, y.count, rows.data() + layout.local_row(i) * y.count);
  const auto sums = backend.panel(y.panel->layout(), y.count, y.precision());
  backend.upload(rows.data(), *sums);
  const auto n = static_cast<Eigen::Index>(y.count);
  backend.combine(*sums, Eigen::MatrixXd::Identity(n, n), y, true);
}

// Numbers as the panels of a precision hold them.
void archive_numbers(Archive& archive, Precision precision, std::vector<double>& numbers) {
  if (traits(precision).wide_panels) return archive(numbers);
  std::vector<float> narrow(numbers.begin(), numbers.end());
  archive(narrow);
  if (archive.reading()) numbers.assign(narrow.begin(), narrow.end());
}

Comm::Message numbers_message(Precision precision, std::vector<double> numbers) {
  return std::make_shared<const std::vector<char>>(
      archived([&](Archive& writer) { archive_numbers(writer, precision, numbers); }));
}

ArchiveReader reader_of(const Comm::Message& message) { return {message->data(), message->size()}; }

// Another rank's points and weights.
Guest receive_visitor(Backend& backend, const Comm::Message& message, bool lent) {
  ArchiveReader reader = reader_of(message);
  Guest visitor{lent ? backend.borrow_points(reader) : backend.visitor(reader), nullptr, nullptr};
  std::size_t columns = 0;
  reader(columns);
  if (columns == 0) return visitor;
  if (lent) {
    visitor.w = backend.panel(visitor.points->layout(), columns, visitor.points->precision());
    backend.borrow(reader, *visitor.w);
    return visitor;
  }
  std::vector<double> weights;
  archive_numbers(reader, visitor.points->precision(), weights);
  visitor.w = backend.panel(visitor.points->layout(), columns, visitor.points->precision());
  backend.upload(weights.data(), *visitor.w);
  return visitor;
}

}  // namespace

// A part of a pass, for the watch of the whole; ends it where a stop was asked for.
class HalfRing::Part final : public Watch {
 public:
  Part(HalfRing& ring, std::size_t part, std::size_t parts)
      : ring_(ring), before_(static_cast<double>(part)), parts_(static_cast<double>(parts)) {}
  void tick(double fraction) override {
    ring_.comm_.progress();
    if (ring_.comm_.stop_asked(ring_.work_)) throw Error(Failure::interrupted, "interrupted");
    if (ring_.watch_ != nullptr) ring_.watch_->tick((before_ + fraction) / parts_);
  }
  TaskTimes* task_times() override { return ring_.watch_ != nullptr ? ring_.watch_->task_times() : nullptr; }

 private:
  HalfRing& ring_;
  double before_, parts_;
};

void HalfRing::compute(std::size_t part, std::size_t parts, const Local& work) {
  if (error_) return;
  try {
    Part watch(*this, part, parts);
    if (comm_.stop_asked(work_)) throw Error(Failure::interrupted, "interrupted");
    work(&watch);
  } catch (...) {
    fail(std::current_exception());
  }
}

void HalfRing::fail(std::exception_ptr why) {
  error_ = std::move(why);
  comm_.ask_stop(work_);
}

// An empty message stands for a visit that failed.
Comm::Message HalfRing::visit(Points* points, Columns w) {
  Comm::Message message = std::make_shared<const std::vector<char>>();
  compute(0, 1, [&](Watch*) {
    std::vector<double> weights;
    if (w.panel != nullptr && !lends()) weights = by_place(backend_, w);
    const auto write = [&](Archive& writer) {
      lends() ? backend_.lend_points(*points, writer) : backend_.send_points(*points, writer);
      std::size_t columns = w.count;
      writer(columns);
      if (lends()) return columns > 0 ? backend_.lend(w, writer) : void();
      if (columns > 0) archive_numbers(writer, points->precision(), weights);
    };
    message = std::make_shared<const std::vector<char>>(archived(write, lends() ? 0 : archived_size(write)));
  });
  return message;
}

void HalfRing::symmetric(const Shares& shares, Here here, std::size_t columns, const Local& local, const Pair& pair) {
  const std::size_t ring = shares.sharing(), me = static_cast<std::size_t>(comm_.rank());
  if (me >= ring) return;
  if (lends()) return symmetric_lent(shares, here, columns, local, pair);
  const std::size_t steps = ring / 2, parts = 2 * steps + 1;  // a symmetric part is half as much work as a pair
  const auto guest = [&](std::size_t step) { return static_cast<int>((me + step) % ring); };
  const auto host = [&](std::size_t step) { return static_cast<int>((me + ring - step) % ring); };
  const Precision precision = here.points->precision();
  const Comm::Message nothing = std::make_shared<const std::vector<char>>();  // of a rank that failed; made while there is memory
  // Added up in the order of steps; taken one step late, so that hosts have had time and sums do not gather on their way.
  const auto take_home = [&](std::size_t step) {
    const Comm::Message message = comm_.receive(host(step));
    compute(parts - 1, parts, [&](Watch*) {
      if (message->empty()) throw Error(Failure::interrupted, "another rank failed");
      std::vector<double> sums;
      ArchiveReader reader = reader_of(message);
      archive_numbers(reader, precision, sums);
      add_by_place(backend_, sums, here.y);
    });
  };
  if (steps > 0) {
    const Comm::Message mine = visit(here.points, here.w);
    for (std::size_t step = 1; step <= steps; ++step) comm_.send(host(step), mine);
    comm_.expect(guest(1));  // each visitor comes while the one before it is computed with
  }
  compute(0, parts, local);
  for (std::size_t step = 1; step <= steps; ++step) {
    Comm::Message message = comm_.receive(guest(step));
    if (step < steps) comm_.expect(guest(step + 1));
    const Share share = 2 * step < ring ? Share::all : me < ring / 2 ? Share::even : Share::odd;
    Comm::Message answer = nothing;
    compute(2 * step - 1, parts, [&](Watch* watch) {
      if (message->empty()) throw Error(Failure::interrupted, "another rank failed");
      const Guest visitor = receive_visitor(backend_, message, false);
      message.reset();  // as large as the visitor
      const auto y = backend_.panel(visitor.points->layout(), columns, precision);
      std::vector<double> sums(y->rows() * columns, 0.0);
      backend_.upload(sums.data(), *y);
      pair(*visitor.points, visitor.weights(), *y, share, watch);
      backend_.download(*y, sums.data());
      answer = numbers_message(precision, std::move(sums));
    });
    comm_.send(guest(step), std::move(answer));
    if (step > 1) take_home(step - 1);
  }
  if (steps > 0) take_home(steps);
  if (error_) std::rethrow_exception(error_);
}

void HalfRing::product(double beta, const Shares& shares, Here here, std::optional<Precision> enough, double negligible) {
  symmetric(
      shares, here, here.w.count,
      [&](Watch* watch) { backend_.xgemm(beta, *here.points, here.w, here.y, watch, enough, negligible); },
      [&](const Points& z, Columns w_z, Columns y_z, Share share, Watch* watch) {
        backend_.xgemm_pair(beta, *here.points, z, here.w, w_z, here.y, y_z, share, watch, enough, negligible);
      });
}

void HalfRing::mass(double beta, const Shares& shares, Here here, double negligible) {
  symmetric(
      shares, here, 2, [&](Watch* watch) { backend_.mass(beta, *here.points, here.y, watch, negligible); },
      [&](const Points& z, Columns, Columns y_z, Share share, Watch* watch) {
        backend_.mass_pair(beta, *here.points, z, here.y, y_z, share, watch, negligible);
      });
}

void HalfRing::rectangle(double beta, const Shares& x_shares, const Shares& z_shares, Points* x, Points* z, Columns w, Columns y,
                         std::optional<Precision> enough) {
  const auto me = static_cast<std::size_t>(comm_.rank());
  if (me < z_shares.sharing()) {
    const bool others = x_shares.sharing() > 1 || me >= x_shares.sharing();
    const Comm::Message mine = others ? visit(z, w) : nullptr;
    for (std::size_t rank = 0; rank < x_shares.sharing(); ++rank)
      if (rank != me) comm_.send(static_cast<int>(rank), mine);
  }
  const std::size_t guests = z_shares.sharing();
  for (std::size_t rank = 0; me < x_shares.sharing() && rank < guests; ++rank) {
    Comm::Message message = rank == me ? nullptr : comm_.receive(static_cast<int>(rank));
    compute(rank, guests, [&](Watch* watch) {
      if (message && message->empty()) throw Error(Failure::interrupted, "another rank failed");
      const bool visits = message != nullptr;
      const Guest visitor = visits ? receive_visitor(backend_, message, lends()) : Guest();
      message.reset();
      const auto part = backend_.panel(y.panel->layout(), y.count, y.precision());
      backend_.xgemm(beta, *x, visits ? *visitor.points : *z, visits ? visitor.weights() : w, *part, watch, enough);
      const auto n = static_cast<Eigen::Index>(y.count);
      backend_.combine(*part, Eigen::MatrixXd::Identity(n, n), y, rank > 0);
    });
  }
  if (error_) std::rethrow_exception(error_);
}

}  // namespace fd::ranks

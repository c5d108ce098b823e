#include "backends/ranks/half_ring.hpp"

#include <algorithm>
#include <memory>
#include <utility>

#include <flashdiffusion/error.hpp>

#include "base/archive.hpp"

namespace fd::ranks {
namespace {

// Columns that are on the host at a time, as doubles.
constexpr std::size_t some = 4;
template <class F>
void each_few(Columns a, F&& f) {
  for (std::size_t first = 0; first < a.count; first += some) f(a.part(first, std::min(some, a.count - first)));
}

std::size_t bytes_of(Columns a) {
  return a.rows() * a.count * (traits(a.precision()).wide_panels ? sizeof(double) : sizeof(float));
}

// Numbers as the panels of a precision hold them, a few columns after the other, in the order of places: a visitor leaves the order of its rows at
// home.
template <class T>
void archive_few(Archive& archive, Backend& backend, Columns few) {
  const Layout& layout = *few.panel->layout();
  std::vector<double> rows(few.rows() * few.count);
  std::vector<T> places(rows.size());
  if (archive.reading()) archive.bytes(places.data(), places.size() * sizeof(T));
  else backend.download(few, rows.data());
  for (std::size_t i = 0; i < few.rows(); ++i) {
    T* const place = places.data() + i * few.count;
    double* const row = rows.data() + layout.local_row(i) * few.count;
    if (archive.reading()) std::copy_n(place, few.count, row);
    else
      for (std::size_t c = 0; c < few.count; ++c) place[c] = static_cast<T>(row[c]);
  }
  if (archive.reading()) backend.upload(rows.data(), few);
  else archive.bytes(places.data(), places.size() * sizeof(T));
}
void archive_columns(Archive& archive, Backend& backend, Columns a) {
  each_few(a, [&](Columns few) {
    traits(a.precision()).wide_panels ? archive_few<double>(archive, backend, few) : archive_few<float>(archive, backend, few);
  });
}

void set_zero(Backend& backend, Columns a) {
  const std::vector<double> zeros(a.rows() * std::min(some, a.count), 0.0);
  each_few(a, [&](Columns few) { backend.upload(zeros.data(), few); });
}

// Y += A
void add(Backend& backend, Columns a, Columns y) {
  const auto n = static_cast<Eigen::Index>(a.count);
  backend.combine(a, Eigen::MatrixXd::Identity(n, n), y, true);
}

ArchiveReader reader_of(const Comm::Message& message) { return {message->data(), message->size()}; }

// Y += what came home.
void add_archived(Archive& archive, Backend& backend, Columns y) {
  const auto sums = backend.panel(y.panel->layout(), std::min(some, y.count), y.precision());
  each_few(y, [&](Columns few) {
    const Columns part(*sums, 0, few.count);
    archive_columns(archive, backend, part);
    add(backend, part, few);
  });
}

// The guest that a message brings, its points and weights.
Guest received(Backend& backend, const Comm::Message& message, bool lent) {
  ArchiveReader reader = reader_of(message);
  Guest guest{lent ? backend.borrow_points(reader) : backend.visitor(reader), nullptr, nullptr};
  std::size_t columns = 0;
  reader(columns);
  if (columns == 0) return guest;
  guest.w = backend.panel(guest.points->layout(), columns, guest.points->precision());
  lent ? backend.borrow(reader, *guest.w) : archive_columns(reader, backend, *guest.w);
  return guest;
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
  if (!error_) error_ = std::move(why);
  comm_.ask_stop(work_);
}

// An empty message stands for one that its sender could not make, or that there was no memory for here: it has been taken all the same.
Comm::Message HalfRing::receive(int from) {
  try {
    return comm_.receive(from);
  } catch (...) {
    fail(std::current_exception());
    return nothing_;
  }
}

Comm::Message HalfRing::visit(const Sent& mine, Columns w) {
  Comm::Message message = nothing_;
  compute(0, 1, [&](Watch*) {
    std::size_t columns = w.count;
    const bool lent = lends();
    message = std::make_shared<const std::vector<char>>(archived(
        [&](Archive& writer) {
          lent ? backend_.lend_points(*mine.points, writer) : backend_.send_points(*mine.points, writer);
          writer(columns);
          if (columns == 0) return;
          lent ? backend_.lend(w, writer) : archive_columns(writer, backend_, w);
        },
        lent ? 0 : mine.bytes + sizeof columns + (columns > 0 ? bytes_of(w) : 0)));
  });
  return message;
}

void HalfRing::host(std::size_t part, std::size_t parts, Comm::Message message,
                    const std::function<void(const Guest&, Watch*)>& work) {
  compute(part, parts, [&](Watch* watch) {
    if (message->empty()) throw Error(Failure::interrupted, "another rank failed");
    const Guest visitor = received(backend_, message, lends());
    message.reset();  // as large as the visitor
    work(visitor, watch);
  });
}

void HalfRing::symmetric(const Shares& shares, Here here, std::size_t columns, const Local& local, const Pair& pair) {
  const std::size_t ring = shares.sharing(), me = static_cast<std::size_t>(comm_.rank());
  if (me >= ring) return;
  if (lends()) return symmetric_lent(shares, here, columns, local, pair);
  const std::size_t steps = ring / 2, parts = 2 * steps + 1;  // a symmetric part is half as much work as a pair
  const auto guest = [&](std::size_t step) { return static_cast<int>((me + step) % ring); };
  const auto host_of = [&](std::size_t step) { return static_cast<int>((me + ring - step) % ring); };
  // Added up in the order of steps; taken one step late, so that hosts have had time and sums do not gather on their way.
  const auto take_home = [&](std::size_t step) {
    const Comm::Message message = receive(host_of(step));
    compute(parts - 1, parts, [&](Watch*) {
      if (message->empty()) throw Error(Failure::interrupted, "another rank failed");
      ArchiveReader reader = reader_of(message);
      add_archived(reader, backend_, here.y);
    });
  };
  if (steps > 0) {
    const Comm::Message mine = visit(here.sent, here.w);
    for (std::size_t step = 1; step <= steps; ++step) comm_.send(host_of(step), mine);
    comm_.expect(guest(1));  // each visitor comes while the one before it is computed with
  }
  compute(0, parts, local);
  for (std::size_t step = 1; step <= steps; ++step) {
    Comm::Message message = receive(guest(step));
    if (step < steps) comm_.expect(guest(step + 1));
    const Share share = 2 * step < ring ? Share::all : me < ring / 2 ? Share::even : Share::odd;
    std::unique_ptr<Panel> y;
    host(2 * step - 1, parts, std::move(message), [&](const Guest& visitor, Watch* watch) {
      y = backend_.panel(visitor.points->layout(), columns, here.sent.points->precision());
      set_zero(backend_, *y);
      pair(*visitor.points, visitor.weights(), *y, share, watch);
    });
    Comm::Message answer = nothing_;  // made when the visitor has left
    compute(2 * step - 1, parts, [&](Watch*) {
      answer = std::make_shared<const std::vector<char>>(
          archived([&](Archive& writer) { archive_columns(writer, backend_, *y); }, bytes_of(*y)));
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
      [&](Watch* watch) { backend_.xgemm(beta, *here.sent.points, here.w, here.y, watch, enough, negligible); },
      [&](const Points& z, Columns w_z, Columns y_z, Share share, Watch* watch) {
        backend_.xgemm_pair(beta, *here.sent.points, z, here.w, w_z, here.y, y_z, share, watch, enough, negligible);
      });
}

void HalfRing::mass(double beta, const Shares& shares, Here here, double negligible) {
  symmetric(
      shares, here, 2, [&](Watch* watch) { backend_.mass(beta, *here.sent.points, here.y, watch, negligible); },
      [&](const Points& z, Columns, Columns y_z, Share share, Watch* watch) {
        backend_.mass_pair(beta, *here.sent.points, z, here.y, y_z, share, watch, negligible);
      });
}

void HalfRing::rectangle(double beta, const Shares& x_shares, const Shares& z_shares, Points* x, const Sent& z, Columns w,
                         Columns y, std::optional<Precision> enough) {
  const auto me = static_cast<std::size_t>(comm_.rank());
  if (me < z_shares.sharing()) {
    const bool others = x_shares.sharing() > 1 || me >= x_shares.sharing();
    const Comm::Message mine = others ? visit(z, w) : nullptr;
    for (std::size_t rank = 0; rank < x_shares.sharing(); ++rank)
      if (rank != me) comm_.send(static_cast<int>(rank), mine);
  }
  const std::size_t guests = z_shares.sharing();
  for (std::size_t rank = 0; me < x_shares.sharing() && rank < guests; ++rank) {
    const auto product = [&](const Points& guest, Columns weights, Watch* watch) {
      if (rank == 0) return backend_.xgemm(beta, *x, guest, weights, y, watch, enough);
      const auto part = backend_.panel(y.panel->layout(), y.count, y.precision());
      backend_.xgemm(beta, *x, guest, weights, *part, watch, enough);
      add(backend_, *part, y);
    };
    if (rank == me) compute(rank, guests, [&](Watch* watch) { product(*z.points, w, watch); });
    else
      host(rank, guests, receive(static_cast<int>(rank)),
           [&](const Guest& visitor, Watch* watch) { product(*visitor.points, visitor.weights(), watch); });
  }
  if (error_) std::rethrow_exception(error_);
}

}  // namespace fd::ranks

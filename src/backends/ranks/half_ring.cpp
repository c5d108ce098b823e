#include "backends/ranks/half_ring.hpp"

#include <algorithm>
#include <memory>
#include <utility>

#include <flashdiffusion/error.hpp>

#include "base/archive.hpp"

namespace fd::ranks {
namespace {

std::size_t bytes_of(Columns a, std::size_t rows) {
  return rows * a.count * (traits(a.precision()).wide_panels ? sizeof(double) : sizeof(float));
}

Places all_rows(Columns a) { return {0, a.rows()}; }

ArchiveReader reader_of(const Comm::Message& message) { return {message->data(), message->size()}; }

// The guest that a message brings, its points and weights.
Guest received(Backend& backend, const Comm::Message& message, Lender* lender) {
  ArchiveReader reader = reader_of(message);
  Guest guest{lender != nullptr ? lender->borrow_points(reader) : backend.visitor(reader), nullptr, nullptr};
  std::size_t columns = 0;
  reader(columns);
  if (columns == 0) return guest;
  guest.w = backend.panel(guest.points->layout(), columns, guest.points->precision());
  if (lender != nullptr) lender->borrow(reader, *guest.w);
  else backend.receive_rows(reader, *guest.w, all_rows(*guest.w), false);
  return guest;
}

}  // namespace

// A stretch of a pass, for the watch of the whole; ends it where a stop was asked for.
class HalfRing::Stretch final : public Watch {
 public:
  Stretch(HalfRing& ring, std::size_t part, std::size_t parts)
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
    Stretch watch(*this, part, parts);
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

Comm::Message HalfRing::visit(const Sent& mine, const Part& part, Columns w) {
  Comm::Message message = nothing_;
  compute(0, 1, [&](Watch*) {
    std::size_t columns = w.count;
    Lender* const lends = lender();
    const auto write = [&](Archive& writer) {
      if (lends != nullptr) lends->lend_points(*mine.points, writer);
      else backend_.send_points(*mine.points, part.places, writer);
      writer(columns);
      if (columns == 0) return;
      if (lends != nullptr) lends->lend(w, writer);
      else backend_.send_rows(w, part.places, writer);
    };
    const std::size_t bytes = part.bytes + sizeof columns + (columns > 0 ? bytes_of(w, part.places.count) : 0);
    message = std::make_shared<const std::vector<char>>(archived(write, lends != nullptr ? 0 : bytes));
  });
  return message;
}

void HalfRing::host(std::size_t part, std::size_t parts, Comm::Message message,
                    const std::function<void(const Guest&, Watch*)>& work) {
  compute(part, parts, [&](Watch* watch) {
    if (message->empty()) throw Error(Failure::interrupted, "another rank failed");
    const Guest visitor = received(backend_, message, lender());
    message.reset();  // as large as the visitor
    work(visitor, watch);
  });
}

void HalfRing::symmetric(const Shares& shares, Here here, std::size_t columns, const Local& local, const Pair& pair) {
  const std::size_t ring = shares.sharing(), me = static_cast<std::size_t>(comm_.rank());
  if (me >= ring) return;
  if (lender() != nullptr) return symmetric_lent(shares, here, columns, local, pair);
  // Parts of visitors come one after the other, step by step; `at` counts them all.
  const std::vector<Part>& mine = *here.sent.parts;
  const std::size_t parts = mine.size(), steps = ring / 2, all = steps * parts;
  const std::size_t stretches = 2 * all + parts;  // rows here among themselves are half as much work as a pair
  const auto stretch = [&](std::size_t at) { return parts + 2 * at; };
  const auto guest = [&](std::size_t at) { return static_cast<int>((me + at / parts + 1) % ring); };
  const auto host_of = [&](std::size_t at) { return static_cast<int>((me + ring - at / parts - 1) % ring); };
  const auto send_mine = [&](std::size_t at) { comm_.send(host_of(at), visit(here.sent, mine[at % parts], here.w)); };
  // Added up in the order of visits; taken one late, so that hosts have had time and sums do not gather on their way.
  const auto take_home = [&](std::size_t at) {
    const Comm::Message message = receive(host_of(at));
    compute(stretches - 1, stretches, [&](Watch*) {
      if (message->empty()) throw Error(Failure::interrupted, "another rank failed");
      ArchiveReader reader = reader_of(message);
      backend_.receive_rows(reader, here.y, mine[at % parts].places, true);
    });
  };
  if (all > 0) {
    send_mine(0);
    comm_.expect(guest(0));  // each visitor comes while the one before it is computed with
  }
  compute(0, stretches, local);
  for (std::size_t at = 0; at < all; ++at) {
    if (at + 1 < all) send_mine(at + 1);
    Comm::Message message = receive(guest(at));
    if (at + 1 < all) comm_.expect(guest(at + 1));
    const Share share = 2 * (at / parts + 1) < ring ? Share::all : me < ring / 2 ? Share::even : Share::odd;
    std::unique_ptr<Panel> y;
    host(stretch(at), stretches, std::move(message), [&](const Guest& visitor, Watch* watch) {
      y = backend_.panel(visitor.points->layout(), columns, here.sent.points->precision());
      const Columns sums(*y);
      backend_.combine(sums.part(0, 0), Eigen::MatrixXd::Zero(0, static_cast<Eigen::Index>(columns)), sums, false);  // zero
      pair(*visitor.points, visitor.weights(), sums, share, watch, {at == 0, at + 1 == all});
    });
    Comm::Message answer = nothing_;  // made when the visitor has left
    compute(stretch(at), stretches, [&](Watch*) {
      answer = std::make_shared<const std::vector<char>>(
          archived([&](Archive& writer) { backend_.send_rows(*y, all_rows(*y), writer); }, bytes_of(*y, y->rows())));
    });
    comm_.send(guest(at), std::move(answer));
    if (at > 0) take_home(at - 1);
  }
  if (all > 0) take_home(all - 1);
  if (error_) std::rethrow_exception(error_);
}

void HalfRing::product(double beta, const Shares& shares, Here here, std::optional<Precision> enough, double negligible) {
  symmetric(
      shares, here, here.w.count,
      [&](Watch* watch) { backend_.xgemm(beta, *here.sent.points, here.w, here.y, watch, enough, negligible); },
      [&](const Points& z, Columns w_z, Columns y_z, Share share, Watch* watch, Turn turn) {
        backend_.xgemm_pair(beta, *here.sent.points, z, here.w, w_z, here.y, y_z, share, watch, enough, negligible, turn);
      });
}

void HalfRing::mass(double beta, const Shares& shares, Here here, double negligible) {
  symmetric(
      shares, here, 2, [&](Watch* watch) { backend_.mass(beta, *here.sent.points, here.y, watch, negligible); },
      [&](const Points& z, Columns, Columns y_z, Share share, Watch* watch, Turn turn) {
        backend_.mass_pair(beta, *here.sent.points, z, here.y, y_z, share, watch, negligible, turn);
      });
}

void HalfRing::rectangle(double beta, const Shares& x_shares, const Shares& z_shares, Points* x, const Sent& z, Columns w,
                         Columns y, std::optional<Precision> enough) {
  const auto me = static_cast<std::size_t>(comm_.rank());
  if (me < z_shares.sharing()) {
    const bool others = x_shares.sharing() > 1 || me >= x_shares.sharing();
    std::size_t bytes = 0;
    for (const Part& part : *z.parts) bytes += part.bytes;
    const Comm::Message mine = others ? visit(z, {{0, z.points->rows()}, bytes}, w) : nullptr;
    for (std::size_t rank = 0; rank < x_shares.sharing(); ++rank)
      if (rank != me) comm_.send(static_cast<int>(rank), mine);
  }
  const std::size_t guests = z_shares.sharing();
  for (std::size_t rank = 0; me < x_shares.sharing() && rank < guests; ++rank) {
    const auto product = [&](const Points& guest, Columns weights, Watch* watch) {
      if (rank == 0) return backend_.xgemm(beta, *x, guest, weights, y, watch, enough);
      const auto part = backend_.panel(y.panel->layout(), y.count, y.precision());
      backend_.xgemm(beta, *x, guest, weights, *part, watch, enough);
      backend_.add(*part, y);
    };
    if (rank == me) compute(rank, guests, [&](Watch* watch) { product(*z.points, w, watch); });
    else
      host(rank, guests, receive(static_cast<int>(rank)),
           [&](const Guest& visitor, Watch* watch) { product(*visitor.points, visitor.weights(), watch); });
  }
  if (error_) std::rethrow_exception(error_);
}

}  // namespace fd::ranks

// The half ring of ranks that lend to each other: the same steps, sums in the same order and so the same bits, but messages say where things lie. A visitor is
// borrowed while tiles of the step before are made; its points stay for the next pass where there is memory for all visitors.
#include <memory>
#include <utility>

#include <flashdiffusion/error.hpp>

#include "backends/ranks/half_ring.hpp"
#include "base/archive.hpp"

namespace fd::ranks {
namespace {

// A panel like `wanted` where there is none, or one of another width.
void make_room(Backend& backend, const Points& points, std::size_t columns, std::unique_ptr<Panel>& panel) {
  if (panel && panel->columns() == columns) return;
  panel.reset();
  panel = backend.panel(points.layout(), columns, points.precision());
}

// The visitor of a message, of whose points a kept guest has a copy already.
void receive_guest(Backend& backend, Lender& lender, const Comm::Message& message, std::size_t sums, Guest& guest) {
  ArchiveReader reader(message->data(), message->size());
  if (guest.points) lender.skip_points(reader);
  else guest.points = lender.borrow_points(reader);
  std::size_t weights = 0;
  reader(weights);
  if (weights > 0) {
    make_room(backend, *guest.points, weights, guest.w);
    lender.borrow(reader, *guest.w);
  } else guest.w.reset();
  make_room(backend, *guest.points, sums, guest.y);
}

}  // namespace

void HalfRing::symmetric_lent(const Shares& shares, Here here, std::size_t columns, const Local& local, const Pair& pair) {
  const std::size_t ring = shares.sharing(), me = static_cast<std::size_t>(comm_.rank());
  Lender& lender = *this->lender();
  const std::size_t steps = ring / 2, parts = 2 * steps + 1;
  const auto guest = [&](std::size_t step) { return static_cast<int>((me + step) % ring); };
  const auto host = [&](std::size_t step) { return static_cast<int>((me + ring - step) % ring); };
  const auto one = static_cast<Eigen::Index>(columns);
  const auto receive = [&](int from, const std::function<void(const Comm::Message&)>& use) {
    const Comm::Message message = this->receive(from);
    compute(0, 1, [&](Watch*) {
      if (message->empty()) throw Error(Failure::interrupted, "another rank failed");
      use(message);
    });
  };
  const auto fetch = [&](std::size_t step) {
    receive(guest(step), [&](const Comm::Message& message) {
      receive_guest(backend_, lender, message, columns, (*here.guests)[guest(step)]);
    });
  };
  std::unique_ptr<Panel> home;
  const auto take_home = [&](std::size_t step) {
    receive(host(step), [&](const Comm::Message& message) {
      ArchiveReader reader(message->data(), message->size());
      make_room(backend_, *here.sent.points, columns, home);
      lender.borrow(reader, *home);
      backend_.add(*home, here.y);
    });
  };
  if (steps > 0) {
    const Comm::Message mine = visit(here.sent, here.sent.parts->front(), here.w);
    for (std::size_t step = 1; step <= steps; ++step) comm_.send(host(step), mine);
    fetch(1);
  }
  compute(0, parts, local);
  for (std::size_t step = 1; step <= steps; ++step) {
    if (step < steps) fetch(step + 1);
    const Share share = 2 * step < ring ? Share::all : me < ring / 2 ? Share::even : Share::odd;
    Guest& visitor = (*here.guests)[guest(step)];
    Comm::Message answer = nothing_;
    compute(2 * step - 1, parts, [&](Watch* watch) {
      const Columns y(*visitor.y);
      backend_.combine(y.part(0, 0), Eigen::MatrixXd::Zero(0, one), y, false);  // no terms: zero
      pair(*visitor.points, visitor.weights(), y, share, watch, {});
      answer = std::make_shared<const std::vector<char>>(archived([&](Archive& writer) { lender.lend(y, writer); }));
      if (!lender.keeps_visitors(*here.sent.points, steps)) visitor.points.reset();
    });
    comm_.send(guest(step), std::move(answer));
    if (step > 1) take_home(step - 1);
  }
  if (steps > 0) take_home(steps);
  if (!error_) return;
  for (auto& [rank, visitor] : *here.guests) visitor.points.reset(), visitor.w.reset();  // waits for what is on its way: lenders
  home.reset();                                                                          // may go when this call is over
  std::rethrow_exception(error_);
}

}  // namespace fd::ranks

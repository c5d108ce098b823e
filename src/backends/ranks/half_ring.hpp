// Kernel passes over the rows of all ranks. Each unordered pair of shards is evaluated once, by one of the two: rank r is host to the points and
// weights of ranks r + 1, ..., r + R/2, counted in a ring of the R ranks that have rows; both directions come from one evaluation of the tiles, and the
// visitor's sums travel home. Of an even number the two ranks that face each other take every other tile each. Points visit in parts, each sent when its
// host is at the part before it: beside its own rows a rank holds a part of a visitor, and the messages of a few.
//
// Guarantees: sums are added up in an order that depends on the number of ranks alone. A rank that fails, or is told to stop, goes on exchanging and
// computes no more, so that nobody waits for it; what went wrong is thrown at the end. Does not know: what a fit is.
#pragma once

#include <cstddef>
#include <cstdint>
#include <exception>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <vector>

#include <flashdiffusion/comm.hpp>

#include "backends/ranks/shares.hpp"
#include "device/backend.hpp"

namespace fd::ranks {

// Another rank's points, with the weights that they bring and the sums that they take home.
struct Guest {
  std::unique_ptr<Points> points;
  std::unique_ptr<Panel> w, y;
  Columns weights() const { return w ? Columns(*w) : Columns(); }
};
using Guests = std::map<int, Guest>;  // by rank

// A part of a rank's points as it visits others, in so many bytes.
struct Part {
  Places places;
  std::size_t bytes = 0;
};
// Points as they visit other ranks: in parts, as many on every rank, which are counted once. Null where a rank has no rows.
struct Sent {
  Points* points = nullptr;
  const std::vector<Part>* parts = nullptr;
};
// A rank's own rows. `guests`: kept from pass to pass, as long as the points, where ranks lend.
struct Here {
  Sent sent;
  Columns w, y;  // of mass y alone
  Guests* guests = nullptr;
};

class HalfRing {
 public:
  HalfRing(Comm& comm, Backend& backend, std::uint64_t work, Watch* watch)
      : comm_(comm), backend_(backend), work_(work), watch_(watch) {}

  void fail(std::exception_ptr why);  // the first reason counts; before a pass: it is exchanged, and not computed

  void product(double beta, const Shares& shares, Here here, std::optional<Precision> enough, double negligible);
  void mass(double beta, const Shares& shares, Here here, double negligible);
  // Y = K(X, Z) W, the rows of both spread over ranks: every rank with rows of X is host to all rows of Z.
  void rectangle(double beta, const Shares& x_shares, const Shares& z_shares, Points* x, const Sent& z, Columns w, Columns y,
                 std::optional<Precision> enough);

 private:
  class Stretch;
  using Local = std::function<void(Watch*)>;
  using Pair = std::function<void(const Points& z, Columns w_z, Columns y_z, Share, Watch*, Turn)>;
  void symmetric(const Shares& shares, Here here, std::size_t columns, const Local& local, const Pair& pair);
  // The same where ranks lend to each other (half_ring_lent.cpp).
  void symmetric_lent(const Shares& shares, Here here, std::size_t columns, const Local& local, const Pair& pair);
  Lender* lender() const { return comm_.in_one_process() ? backend_.lender() : nullptr; }
  Comm::Message visit(const Sent& mine, const Part& part, Columns w);
  // Computes with the visitor that a message brings, unless something went wrong.
  void host(std::size_t part, std::size_t parts, Comm::Message message, const std::function<void(const Guest&, Watch*)>& work);
  Comm::Message receive(int from);
  void compute(std::size_t part, std::size_t parts, const Local& work);  // unless something went wrong

  Comm& comm_;
  Backend& backend_;
  std::uint64_t work_;
  Watch* watch_;
  std::exception_ptr error_;
  const Comm::Message nothing_ =
      std::make_shared<const std::vector<char>>();  // of a rank that failed; made while there is memory
};

}  // namespace fd::ranks

#include "backends/ranks/rank_backend.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <map>
#include <optional>
#include <utility>

#include <flashdiffusion/error.hpp>

#include "backends/ranks/call.hpp"
#include "backends/ranks/serve.hpp"
#include "backends/ranks/shard.hpp"
#include "backends/ranks/thread_ranks.hpp"
#include "base/pieces.hpp"
#include "base/row_census.hpp"
#include "base/threads_a_rank.hpp"

namespace fd {
namespace {

using ranks::Call;
using ranks::Reply;
using ranks::Shares;
using ranks::Verb;
using ranks::Window;

class RankBackend;

// What points and panels are on rank 0's side: a number. Its end ends them on all ranks.
class Handle {
 public:
  Handle(RankBackend& backend, std::uint64_t id) : backend_(backend), id_(id) {}
  ~Handle();
  Handle(const Handle&) = delete;
  Handle& operator=(const Handle&) = delete;
  std::uint64_t id() const { return id_; }

 private:
  RankBackend& backend_;
  std::uint64_t id_;
};

struct RankPanel final : Panel {
  RankPanel(const SharedLayout& layout, std::size_t columns, Precision precision, RankBackend& backend, std::uint64_t id)
      : Panel(layout, columns, precision), handle(backend, id) {}
  Handle handle;
};

struct RankPoints final : Points {
  RankPoints(std::size_t rows, std::size_t columns, Precision promised, RankBackend& backend, std::uint64_t id)
      : where(plain_layout(rows)), columns(columns), promise(promised), handle(backend, id) {}
  const SharedLayout& layout() const override { return where; }
  std::size_t dimension() const override { return columns; }
  Precision precision() const override { return promise; }
  SharedLayout where;
  std::size_t columns;
  Precision promise;
  Handle handle;
};

std::uint64_t id_of(const Points& points) { return static_cast<const RankPoints&>(points).handle.id(); }

Window window(Columns c) {
  return c.panel == nullptr ? Window{} : Window{static_cast<RankPanel*>(c.panel)->handle.id(), c.first, c.count};
}

class RankBackend final : public Backend {
 public:
  explicit RankBackend(const BackendRequest& request) {
    if (request.comm == nullptr) threads_.emplace(request.ranks, [](Comm& comm) { ranks::serve(comm); });
    comm_ = request.comm != nullptr ? request.comm : &threads_->rank0();
    Call open;
    open.verb = Verb::open;
    open.backend = request.name;
    open.isa = request.isa;
    // of threads of one process and of memory each rank has its share
    open.threads = threads_a_rank(request.threads, request.comm == nullptr ? size() : 1);
    open.keeps = request.keep_bytes.has_value();
    open.keep_bytes = request.keep_bytes.value_or(0) / static_cast<std::size_t>(size());
    open.one_bandwidth = request.one_bandwidth;
    open.rows_a_rank = request.rows_a_rank;
    open.devices = request.devices;
    try {
      shard_ = std::make_unique<ranks::Shard>(*comm_, open);
      open.backend = local().name();  // ranks that chose for themselves might not understand each other
      tell(open);
      answered([] { return std::vector<double>(); });
    } catch (...) {
      end();
      throw;
    }
  }
  ~RankBackend() override { end(); }
  RankBackend(const RankBackend&) = delete;
  RankBackend& operator=(const RankBackend&) = delete;

  std::string name() const override { return local().name(); }
  std::string description() const override { return std::to_string(size()) + " ranks of " + local().description(); }
  std::string isa() const override { return local().isa(); }

  std::unique_ptr<Points> load(PointSource& centred, Precision precision, const std::optional<Whole>&) override {
    Call call;
    call.verb = Verb::load;
    call.id = ++last_id_;
    call.rows = centred.rows();
    call.columns = centred.dimension();
    call.precision = precision;
    auto points = std::make_unique<RankPoints>(call.rows, call.columns, precision, *this, call.id);
    tell(call);
    std::vector<double> own;
    Whole whole;
    std::exception_ptr error;
    try {
      whole = spread(centred, call, own);
    } catch (...) {
      error = std::current_exception();
    }
    const Comm::Message end = ranks::to_message(std::vector<double>());
    const Shares shares = shard_->shares(call.rows);
    for (int rank = 1; rank < size(); ++rank) {
      comm_->send(rank, end);
      Whole part = whole;
      part.first = shares.first(static_cast<std::size_t>(rank));
      comm_->send(rank, ranks::to_message(part));
    }
    answered([&]() -> std::vector<double> {
      if (error) std::rethrow_exception(error);
      shard_->load(call, std::move(own), call.columns, whole);
      return {};
    });
    of_layout_[points->where.get()] = call.id;
    return points;
  }

  std::unique_ptr<Panel> panel(const SharedLayout& layout, std::size_t columns, Precision precision) override {
    Call call;
    call.verb = Verb::panel;
    call.id = ++last_id_;
    call.rows = layout->rows();
    call.columns = columns;
    call.precision = precision;
    if (const auto known = of_layout_.find(layout.get()); known != of_layout_.end()) call.other = known->second;
    auto panel = std::make_unique<RankPanel>(layout, columns, precision, *this, call.id);
    everywhere(call);
    return panel;
  }

  void xgemm(double beta, const Points& x, Columns w, Columns y, Watch* watch, std::optional<Precision> enough,
             double negligible) override {
    pass(Verb::product, beta, x, nullptr, w, y, watch, enough, negligible);
  }
  void xgemm(double beta, const Points& x, const Points& z, Columns w, Columns y, Watch* watch,
             std::optional<Precision> enough) override {
    pass(Verb::rectangle, beta, x, &z, w, y, watch, enough, 0);
  }
  void mass(double beta, const Points& x, Columns y, Watch* watch, double negligible) override {
    pass(Verb::mass, beta, x, nullptr, {}, y, watch, {}, negligible);
  }

  double low_precision_error(double beta, const Points& x, Precision enough) const override {
    Call call;
    call.verb = Verb::low_precision_error;
    call.id = id_of(x);
    call.beta = beta;
    call.enough = enough;
    double largest = 0;
    for (const std::vector<double>& numbers : everywhere(call)) largest = std::max(largest, numbers.front());
    return largest;
  }
  Kept kept(std::size_t rows, std::size_t dimension, Precision precision) const override {
    const Kept here = local().kept(rows, dimension, precision);
    const auto ranks = static_cast<double>(size());
    return {std::min(1.0, ranks * here.share), here.share > 0 ? std::min(1.0 / here.share, ranks) * here.bytes : 0};
  }
  bool keeps_as_a_rule(std::size_t rows, std::size_t dimension, Precision precision) const override {
    return local().keeps_as_a_rule(rows, dimension, precision);
  }
  MachineLimit limit(Precision precision) override {
    MachineLimit limit = local().limit(precision);
    limit.flops *= size();
    limit.exp_seconds /= size();
    return limit;
  }

  // Rows that visit are the ranks' own business.
  void xgemm_pair(double, const Points&, const Points&, Columns, Columns, Columns, Columns, Share, Watch*,
                  std::optional<Precision>, double, Turn) override {
    throw no_visitors();
  }
  void mass_pair(double, const Points&, const Points&, Columns, Columns, Share, Watch*, double, Turn) override {
    throw no_visitors();
  }
  void send_points(const Points&, Places, Archive&) override { throw no_visitors(); }
  std::unique_ptr<Points> visitor(Archive&) override { throw no_visitors(); }
  void send_rows(Columns, Places, Archive&) override { throw no_visitors(); }
  void receive_rows(Archive&, Columns, Places, bool) override { throw no_visitors(); }

  Eigen::MatrixXd gram(Columns a, Columns b) override {
    Call call;
    call.verb = Verb::gram;
    call.a = window(a);
    call.b = window(b);
    Eigen::MatrixXd g = Eigen::MatrixXd::Zero(static_cast<Eigen::Index>(a.count), static_cast<Eigen::Index>(b.count));
    for (const std::vector<double>& numbers : everywhere(call))  // in the order of ranks
      g += Eigen::Map<const Eigen::MatrixXd>(numbers.data(), g.rows(), g.cols());
    return g;
  }
  void combine(Columns a, const Eigen::MatrixXd& s, Columns y, bool accumulate) override {
    Call call;
    call.verb = Verb::combine;
    call.a = window(a);
    call.y = window(y);
    call.matrix.assign(s.data(), s.data() + s.size());
    call.matrix_rows = static_cast<std::size_t>(s.rows());
    call.accumulate = accumulate;
    everywhere(call);
  }
  void copy(Columns a, Columns y) override { from_to(Verb::copy, a, y); }
  void add(Columns a, Columns y) override { from_to(Verb::add, a, y); }
  void scale_rows(Columns scale, Columns a, Columns y) override { by_rows(Verb::scale_rows, scale, a, y); }
  void multiply_add(Columns scale, Columns a, Columns y) override { by_rows(Verb::multiply_add, scale, a, y); }
  void randomize(Columns a, std::uint64_t seed, std::uint64_t stream) override {
    Call call;
    call.verb = Verb::randomize;
    call.a = window(a);
    call.seed = seed;
    call.stream = stream;
    everywhere(call);
  }
  void upload(const double* host, Columns a) override {
    Call call;
    call.verb = Verb::upload;
    call.a = window(a);
    const Shares shares = shard_->shares(a.rows());
    std::vector<Comm::Message> rows;  // all there is memory for, before any rank waits for its own
    for (std::size_t rank = 1; rank < static_cast<std::size_t>(size()); ++rank) {
      const double* const from = host + shares.first(rank) * a.count;
      rows.push_back(ranks::to_message(std::vector<double>(from, from + shares.count(rank) * a.count)));
    }
    tell(call);
    for (int rank = 1; rank < size(); ++rank) comm_->send(rank, std::move(rows[static_cast<std::size_t>(rank) - 1]));
    shard_->upload(call, host);
  }
  void download(Columns a, double* host) override {
    Call call;
    call.verb = Verb::download;
    call.a = window(a);
    tell(call);
    const Shares shares = shard_->shares(a.rows());
    answered([&] { return shard_->download(call); },
             [&](std::size_t rank, const std::vector<double>& rows) {
               std::copy(rows.begin(), rows.end(), host + shares.first(rank) * a.count);
             });
  }

 private:
  friend class Handle;
  static Error no_visitors() { return {Failure::device, "a back-end over ranks has no visitors"}; }
  int size() const { return comm_->size(); }
  Backend& local() { return shard_->backend(); }
  const Backend& local() const { return std::as_const(*shard_).backend(); }

  void tell(const Call& call) const {
    const Comm::Message message = ranks::to_message(call);
    for (int rank = 1; rank < size(); ++rank) comm_->send(rank, message);
  }

  // Does rank 0's part and takes the other ranks' replies, all of them whatever happens, and their numbers one rank after the other. An error is thrown, a
  // failure rather than the interruption of others that it led to.
  template <class F, class Take>
  void answered(F&& own, Take&& take) const {
    std::optional<Error> error;
    const auto note = [&](Error one) {
      if (!error || (error->kind() == Failure::interrupted && one.kind() != Failure::interrupted)) error = std::move(one);
    };
    std::exception_ptr other;
    try {
      take(0, own());
    } catch (const Error& one) {
      note(one);
    } catch (...) {
      other = std::current_exception();
    }
    for (int rank = 1; rank < size(); ++rank) {
      Reply reply;
      try {
        reply = ranks::from_message<Reply>(comm_->receive(rank));
        if (!reply.failed && !other && !error) take(static_cast<std::size_t>(rank), std::move(reply.numbers));
      } catch (const Error& one) {  // taken, and no memory for it
        note(one);
      } catch (...) {
        other = std::current_exception();
      }
      if (reply.failed) {
        const std::string where = reply.kind == Failure::interrupted ? "" : " (rank " + std::to_string(rank) + ")";
        note({reply.kind, reply.what + where, reply.hint});
      }
    }
    if (other) std::rethrow_exception(other);
    if (error) throw Error(*error);
  }
  template <class F>
  std::vector<std::vector<double>> answered(F&& own) const {
    std::vector<std::vector<double>> all;
    answered(own, [&](std::size_t, std::vector<double> numbers) { all.push_back(std::move(numbers)); });
    return all;
  }

  std::vector<std::vector<double>> everywhere(const Call& call, Watch* watch = nullptr) const {
    tell(call);
    const auto own = [&] { return shard_->run(call, watch); };
    if (ranks::is_answered(call.verb)) return answered(own);
    return {own()};
  }

  void pass(Verb verb, double beta, const Points& x, const Points* z, Columns w, Columns y, Watch* watch,
            std::optional<Precision> enough, double negligible) {
    Call call;
    call.verb = verb;
    call.work = comm_->new_work();
    call.beta = beta;
    call.id = id_of(x);
    call.other = z != nullptr ? id_of(*z) : 0;
    call.a = window(w);
    call.y = window(y);
    call.has_enough = enough.has_value();
    call.enough = enough.value_or(Precision::fp32);
    call.negligible = negligible;
    everywhere(call, watch);
    if (watch != nullptr) watch->tick(1);
  }

  void from_to(Verb verb, Columns a, Columns y) {
    Call call;
    call.verb = verb;
    call.a = window(a);
    call.y = window(y);
    everywhere(call);
  }

  void by_rows(Verb verb, Columns scale, Columns a, Columns y) {
    Call call;
    call.verb = verb;
    call.a = window(scale);
    call.b = window(a);
    call.y = window(y);
    everywhere(call);
  }

  // Sends every rank its rows as they are read; returns what they are part of.
  Whole spread(PointSource& centred, const Call& call, std::vector<double>& own) {
    const Shares shares = shard_->shares(call.rows);
    Whole whole;
    whole.table = call.id;
    whole.rows = call.rows;
    RowCensus census(call.columns, traits(call.precision).wide_panels);
    own.reserve(shares.count(0) * call.columns);
    std::size_t rank = 0;
    in_pieces(centred, [&](std::size_t first, std::size_t count, const double* x) {
      for (std::size_t i = 0; i < count; ++i) census.add(x + i * call.columns);
      for (std::size_t row = first; row < first + count;) {
        while (row >= shares.first(rank + 1)) ++rank;
        const std::size_t last = std::min(first + count, shares.first(rank + 1));
        const double* const from = x + (row - first) * call.columns;
        std::vector<double> part(from, from + (last - row) * call.columns);
        if (rank == 0) own.insert(own.end(), part.begin(), part.end());
        else comm_->send(static_cast<int>(rank), ranks::to_message(std::move(part)));
        row = last;
      }
    });
    whole.largest_square = census.largest_square();
    whole.largest_coordinate = census.largest_coordinate();
    whole.copies = census.copies();
    return whole;
  }

  void forget(std::uint64_t id) noexcept {
    try {
      std::erase_if(of_layout_, [&](const auto& one) { return one.second == id; });
      Call call;
      call.verb = Verb::forget;
      call.id = id;
      everywhere(call);
    } catch (...) {  // no memory for a message: it is kept a little longer
    }
  }

  void end() noexcept {
    try {
      Call call;
      call.verb = threads_ ? Verb::finish : Verb::close;
      tell(call);
    } catch (...) {  // the ranks of this process would wait for ever
      if (threads_) std::terminate();
    }
  }

  std::optional<ranks::ThreadRanks> threads_;
  Comm* comm_ = nullptr;
  std::unique_ptr<ranks::Shard> shard_;
  std::uint64_t last_id_ = 0;
  std::map<const Layout*, std::uint64_t> of_layout_;  // the points whose layout it is
};

Handle::~Handle() { backend_.forget(id_); }

}  // namespace

std::unique_ptr<Backend> make_rank_backend(const BackendRequest& request) { return std::make_unique<RankBackend>(request); }

}  // namespace fd

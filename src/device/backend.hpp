// What a back-end must do: kernel passes, and the linear algebra of tall blocks. It works on the rows it was given; one of them (backends/ranks)
// spreads its rows over others. It knows nothing of operators, solvers or flows.
//
// Promises: kernel entries keep the precision's eta; every result is the same bits for any number of threads; Gram sums are
// carried in fp64; no memory is allocated inside a pass once a pass of that width has run.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <Eigen/Core>

#include <flashdiffusion/error.hpp>
#include <flashdiffusion/points.hpp>
#include <flashdiffusion/precision.hpp>

#include "base/archive.hpp"
#include "device/layout.hpp"
#include "device/lender.hpp"
#include "device/machine_limit.hpp"
#include "device/panel.hpp"
#include "device/points.hpp"
#include "device/watch.hpp"

namespace fd {

class Comm;

// What the rows that a back-end loads are part of, where other ranks have the rest: choices of arithmetic are made for the whole, so that all ranks
// make the same. Without it the rows are all there are.
struct Whole {
  std::uint64_t table = 0;  // which one: rows of the same table on two ranks are known to hold copies or not
  std::size_t rows = 0;     // of all ranks together; those loaded begin with `first`
  std::size_t first = 0;
  double largest_square = 0, largest_coordinate = 0;  // of |x| and of |x_c|, over all rows
  bool copies = false;                                // some rows are the same
};
inline void archive(Archive& archive, Whole& w) {
  archive(w.table, w.rows, w.first, w.largest_square, w.largest_coordinate, w.copies);
}

// Of the tiles of a product of two ranks' rows, which both ranks have: all, or every other one, in the manner of a chess-board.
enum class Share { all, even, odd };

// Adjacent places of a panel.
struct Places {
  std::size_t first = 0, count = 0;
};

// Where a visitor comes in a row of visitors with the same weights here: a back-end may hold back the sums of rows here until the last.
struct Turn {
  bool first = true, last = true;
};

class Backend {
 public:
  virtual ~Backend() = default;
  virtual std::string name() const = 0;         // in the registry: cpu, reference, ...
  virtual std::string description() const = 0;  // e.g. "cpu AVX2, 2 threads"
  virtual std::string isa() const = 0;

  // `centred` has its mean removed and no constant columns; it is read twice, in pieces.
  virtual std::unique_ptr<Points> load(PointSource& centred, Precision precision, const std::optional<Whole>& whole = {}) = 0;
  // Of the rows of a layout: that of points, or a plain one.
  virtual std::unique_ptr<Panel> panel(const SharedLayout& layout, std::size_t columns, Precision precision) = 0;

  // Y = (K - I) W for K_ij = exp(-beta |x_i - x_j|^2): the diagonal is left to the caller, who knows it exactly. `enough`: a promise
  // looser than the points' own that is good enough here; `low_precision_error` says what it costs.
  // `negligible`: entries up to this size may be left out.
  virtual void xgemm(double beta, const Points& x, Columns w, Columns y, Watch* watch, std::optional<Precision> enough = {},
                     double negligible = 0) = 0;
  // Y = K(X, Z) W; rows of Y follow x, rows of W follow z.
  virtual void xgemm(double beta, const Points& x, const Points& z, Columns w, Columns y, Watch* watch,
                     std::optional<Precision> enough = {}) = 0;
  // How far, in the norm, a normalised kernel is off in a product with `enough`; 0: not further than without.
  virtual double low_precision_error([[maybe_unused]] double beta, [[maybe_unused]] const Points& x,
                                     [[maybe_unused]] Precision enough) const {
    return 0;
  }
  // What is kept of the kernel of so many points from pass to pass, within the memory that was offered when the back-end was made.
  struct Kept {
    double share = 0, bytes = 0;
  };
  virtual Kept kept([[maybe_unused]] std::size_t rows, [[maybe_unused]] std::size_t dimension,
                    [[maybe_unused]] Precision precision) const {
    return {};
  }
  // Whether tiles of so many points are kept where memory is not scarce: a rule that does not look at the memory there is, for bits of a result may
  // depend on it.
  virtual bool keeps_as_a_rule([[maybe_unused]] std::size_t rows, [[maybe_unused]] std::size_t dimension,
                               [[maybe_unused]] Precision precision) const {
    return false;
  }
  // What this machine's arithmetic allows, measured now, in some hundredths of a second; not known where nobody measured it.
  virtual MachineLimit limit([[maybe_unused]] Precision precision) { return {}; }
  // Column 0: sum over j != i of K_ij; column 1: of K_ij^2, which is K at 2 beta.
  virtual void mass(double beta, const Points& x, Columns y, Watch* watch, double negligible = 0) = 0;

  // For rows of two ranks, X here and Z visiting. Y_x += K(X, Z) W_z and Y_z += K(Z, X) W_x from one evaluation of the entries; with a share, of
  // every other tile alone: the two ranks of a pair that take `even` and `odd`, each with the other's rows visiting, evaluate each pair of rows once.
  virtual void xgemm_pair(double beta, const Points& x, const Points& z, Columns w_x, Columns w_z, Columns y_x, Columns y_z,
                          Share share, Watch* watch, std::optional<Precision> enough = {}, double negligible = 0,
                          Turn turn = {}) = 0;
  // The same for the sums of mass().
  virtual void mass_pair(double beta, const Points& x, const Points& z, Columns y_x, Columns y_z, Share share, Watch* watch,
                         double negligible = 0, Turn turn = {}) = 0;
  // Points, and what panels hold of the same places, on their way to another rank's back-end of the same kind, and there: all of them or some. A visitor's panels
  // hold its rows in the order of its places at home. `parts`: into how many a rank's points are cut when they visit, where no rank has more than `rows` rows.
  virtual std::size_t parts([[maybe_unused]] std::size_t rows) const { return 1; }
  virtual Places places(const Points& points, [[maybe_unused]] std::size_t part, [[maybe_unused]] std::size_t parts) const {
    return {0, points.rows()};
  }
  virtual void send_points(const Points& points, Places some, Archive& to) = 0;
  virtual std::unique_ptr<Points> visitor(Archive& from) = 0;
  virtual void send_rows(Columns a, Places some, Archive& to) = 0;
  virtual void receive_rows(Archive& from, Columns y, Places some, bool accumulate) = 0;  // Y = what comes, or Y += it

  virtual Lender* lender() { return nullptr; }  // for ranks of one process whose back-ends reach each other's memory

  virtual void copy(Columns a, Columns y) = 0;             // Y = A; Y may begin before A in the same panel
  virtual void add(Columns a, Columns y) = 0;              // Y += A
  virtual Eigen::MatrixXd gram(Columns a, Columns b) = 0;  // A^T B
  // Y = A S, or Y += A S; Y may be the first columns of A when not accumulating.
  virtual void combine(Columns a, const Eigen::MatrixXd& s, Columns y, bool accumulate) = 0;
  virtual void scale_rows(Columns scale, Columns a, Columns y) = 0;    // Y_ic = scale_i A_ic; Y may be A
  virtual void multiply_add(Columns scale, Columns a, Columns y) = 0;  // Y_ic += scale_i A_ic
  // Independent standard normals: row i of the layout's rows() gets number i of a stream, whichever place and rank it has.
  virtual void randomize(Columns a, std::uint64_t seed, std::uint64_t stream) = 0;
  // host: rows × a.count, row-major, in the order of the source.
  virtual void upload(const double* host, Columns a) = 0;
  virtual void download(Columns a, double* host) = 0;
};

struct BackendRequest {
  std::string name = "auto";  // auto, or one of backend_names()
  std::string isa;            // of the cpu back-end; empty: FLASHDIFFUSION_ISA, else the best this machine has
  int threads = 0;
  // Memory for tiles of the kernel that are kept from pass to pass; results do not depend on how much it is. Nothing: there are few passes, and
  // tiles are made in the form that is quickest to make.
  std::optional<std::size_t> keep_bytes = {};
  bool one_bandwidth = false;     // all passes are at the same one: what is kept need not do for others
  std::vector<int> devices = {};  // of back-ends that have several to choose from; empty: the first that answers
  // Rows spread over ranks: processes that share `comm`, of which this is rank 0, or threads of this one. Threads and memory are then those of all ranks
  // of a process together. Ranks that would have fewer than `rows_a_rank` rows of a table have none.
  Comm* comm = nullptr;
  int ranks = 1;
  std::size_t rows_a_rank = 2048;
};

// The registry: the only place that knows concrete back-ends.
std::unique_ptr<Backend> make_backend(const BackendRequest& request);
std::vector<std::string> backend_names();

// Ranks other than 0: the calls of rank 0's back-ends over ranks, until it dismisses them.
void serve_ranks(Comm& comm);
void dismiss_ranks(Comm& comm);
std::vector<std::string> instruction_sets();  // that the cpu back-end can use here, best first

}  // namespace fd

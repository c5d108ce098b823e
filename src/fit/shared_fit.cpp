// A fit by several ranks: rank 0 decides, the others do what its back-end tells them, and all end in the same way.
#include <exception>
#include <new>
#include <string>
#include <utility>

#include <flashdiffusion/error.hpp>
#include <flashdiffusion/fit.hpp>

#include "base/archive.hpp"
#include "device/backend.hpp"

namespace fd {
namespace {

// How the fit ended, for the ranks that only served.
struct Ending {
  bool failed = false;
  Failure kind = Failure::device;
  std::string what, hint;
};
void archive(Archive& archive, Ending& e) { archive(e.failed, e.kind, e.what, e.hint); }

void announce(Comm& comm, Ending ending) {
  dismiss(comm);
  const auto message = std::make_shared<const std::vector<char>>(archived([&](Archive& writer) { archive(writer, ending); }));
  for (int rank = 1; rank < comm.size(); ++rank) comm.send(rank, message);
}

}  // namespace

void serve(Comm& comm) { serve_ranks(comm); }
void dismiss(Comm& comm) { dismiss_ranks(comm); }

std::optional<Model> fit(PointSource& points, const Options& options, Comm& comm) {
  if (comm.rank() != 0) {
    serve(comm);
    const Comm::Message message = comm.receive(0);
    ArchiveReader reader(message->data(), message->size());
    Ending ending;
    archive(reader, ending);
    if (ending.failed) throw Error(ending.kind, ending.what, ending.hint);
    return std::nullopt;
  }
  Options shared = options;
  shared.comm = &comm;
  try {
    Model model = fit(points, shared);
    announce(comm, {});
    return model;
  } catch (const Error& error) {
    announce(comm, {true, error.kind(), error.what(), error.hint()});
    throw;
  } catch (const std::bad_alloc&) {
    announce(comm, {true, Failure::memory, "not enough memory", ""});
    throw;
  } catch (const std::exception& error) {
    announce(comm, {true, Failure::device, error.what(), ""});
    throw;
  }
}

std::optional<Model> fit(PointsView points, const Options& options, Comm& comm) {
  if (comm.rank() != 0) points = PointsView();  // not looked at, and may be null
  ViewSource source(points);
  return fit(source, options, comm);
}

}  // namespace fd

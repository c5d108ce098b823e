// Points read by another process: a source whose format library cannot be trusted with a damaged file. The child opens the file
// and serves its rows; a crash, a loop without end or a request for absurd memory in there is an Error here, while it is opened
// and on every later read. A file that becomes shorter while it is read is an Error too.
//
// The cost is one copy of the rows through a socket. In a process that has several threads already nothing is forked, and the
// source that `open` returns is read directly.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include <flashdiffusion/points.hpp>

namespace fd {

using OpenPoints = std::function<std::unique_ptr<PointSource>()>;

std::unique_ptr<PointSource> isolated_points(const std::string& path, const OpenPoints& open);

}  // namespace fd

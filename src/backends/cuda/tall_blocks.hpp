// The verbs of tall blocks on a GPU.
#pragma once

#include <cstdint>

#include <Eigen/Core>

#include "backends/cuda/cuda_panel.hpp"
#include "device/backend.hpp"

namespace fd::cuda {

class TallBlocks {
 public:
  explicit TallBlocks(SharedDevice device) : device_(std::move(device)) {}

  Eigen::MatrixXd gram(Columns a, Columns b);
  void combine(Columns a, const Eigen::MatrixXd& s, Columns y, bool accumulate);
  void move(Columns a, Columns y, bool add);  // Y = A, or Y += A; Y may overlap A where it replaces it
  void scale_rows(Columns scale, Columns a, Columns y, bool add);
  void randomize(Columns a, std::uint64_t seed, std::uint64_t stream);
  void upload(const double* host, Columns a);
  void download(Columns a, double* host);
  void send_rows(Columns a, Places some, Archive& to);
  void receive_rows(Archive& from, Columns y, Places some, bool accumulate);
  void lend(Columns a, Archive& to);
  HostBuffer& staging() { return staging_; }

 private:
  template <class F>
  void each_piece(Columns a, F&& f);
  SharedDevice device_;
  HostBuffer staging_;
  Buffer values_, partial_, sum_, lent_;
  LentEvents lent_events_;
};

}  // namespace fd::cuda

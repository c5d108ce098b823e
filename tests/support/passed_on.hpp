// A back-end that passes everything on to another: what a test changes it overrides.
#pragma once

#include <memory>
#include <string>
#include <utility>

#include "device/backend.hpp"

namespace fd::test {

class PassedOn : public Backend {
 public:
  explicit PassedOn(std::unique_ptr<Backend> inner) : inner_(std::move(inner)) {}

  std::string name() const override { return inner_->name(); }
  std::string description() const override { return inner_->description(); }
  std::string isa() const override { return inner_->isa(); }
  std::unique_ptr<Points> load(PointSource& centred, Precision precision, const std::optional<Whole>& whole) override {
    return inner_->load(centred, precision, whole);
  }
  std::unique_ptr<Panel> panel(const SharedLayout& layout, std::size_t columns, Precision precision) override {
    return inner_->panel(layout, columns, precision);
  }
  void xgemm(double beta, const Points& x, Columns w, Columns y, Watch* watch, std::optional<Precision> enough,
             double negligible) override {
    inner_->xgemm(beta, x, w, y, watch, enough, negligible);
  }
  void xgemm(double beta, const Points& x, const Points& z, Columns w, Columns y, Watch* watch,
             std::optional<Precision> enough) override {
    inner_->xgemm(beta, x, z, w, y, watch, enough);
  }
  double low_precision_error(double beta, const Points& x, Precision enough) const override {
    return inner_->low_precision_error(beta, x, enough);
  }
  void mass(double beta, const Points& x, Columns y, Watch* watch, double negligible) override {
    inner_->mass(beta, x, y, watch, negligible);
  }
  void xgemm_pair(double beta, const Points& x, const Points& z, Columns w_x, Columns w_z, Columns y_x, Columns y_z, Share share,
                  Watch* watch, std::optional<Precision> enough, double negligible, Turn turn) override {
    inner_->xgemm_pair(beta, x, z, w_x, w_z, y_x, y_z, share, watch, enough, negligible, turn);
  }
  void mass_pair(double beta, const Points& x, const Points& z, Columns y_x, Columns y_z, Share share, Watch* watch,
                 double negligible, Turn turn) override {
    inner_->mass_pair(beta, x, z, y_x, y_z, share, watch, negligible, turn);
  }
  std::size_t parts(std::size_t rows) const override { return inner_->parts(rows); }
  Places places(const Points& points, std::size_t part, std::size_t parts) const override {
    return inner_->places(points, part, parts);
  }
  void send_points(const Points& points, Places some, Archive& to) override { inner_->send_points(points, some, to); }
  void send_rows(Columns a, Places some, Archive& to) override { inner_->send_rows(a, some, to); }
  void receive_rows(Archive& from, Columns y, Places some, bool accumulate) override {
    inner_->receive_rows(from, y, some, accumulate);
  }
  void copy(Columns a, Columns y) override { inner_->copy(a, y); }
  void add(Columns a, Columns y) override { inner_->add(a, y); }
  std::unique_ptr<Points> visitor(Archive& from) override { return inner_->visitor(from); }
  Eigen::MatrixXd gram(Columns a, Columns b) override { return inner_->gram(a, b); }
  void combine(Columns a, const Eigen::MatrixXd& s, Columns y, bool accumulate) override { inner_->combine(a, s, y, accumulate); }
  void scale_rows(Columns scale, Columns a, Columns y) override { inner_->scale_rows(scale, a, y); }
  void multiply_add(Columns scale, Columns a, Columns y) override { inner_->multiply_add(scale, a, y); }
  void randomize(Columns a, std::uint64_t seed, std::uint64_t stream) override { inner_->randomize(a, seed, stream); }
  void upload(const double* host, Columns a) override { inner_->upload(host, a); }
  void download(Columns a, double* host) override { inner_->download(a, host); }

 private:
  std::unique_ptr<Backend> inner_;
};

}  // namespace fd::test

// The result of a fit, and the only input of transform, report and the model file. Plain data.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include <flashdiffusion/options.hpp>
#include <flashdiffusion/points.hpp>
#include <flashdiffusion/precision.hpp>

namespace fd {

// One evaluation of the resolution potential at one bandwidth: a row of the model file's /sweep.
struct Probe {
  std::size_t n = 0;
  Precision precision = Precision::fp32;
  double beta = 0;
  double s_off = 0;        // sum over i != j of K_ij(beta)
  double s_off_2beta = 0;  // the same at 2 beta
  double n_eff = 0;        // s_off^2 / (n s_off_2beta)
  double d_hat = 0;        // -2 d log S_off / d log beta over the octave above beta
  double perron_gap = 0;   // 1 - lambda_1 (past the admitted components)
  double v_bias = 0, v_stat = 0, v_mach = 0, v = 0;
  std::size_t localised = 0;  // requested modes that live on a few rows (effective support 1 / sum v^4)
  std::size_t aside = 0;      // rows set aside: a walker stays on them rather than leave
  std::size_t passes = 0;
  double seconds = 0;
  std::string outcome;              // "resolved", "wall", "flat", "sparse", "not converged", "failed"
  std::vector<double> eigenvalues;  // what the probe knew; not all of it need be converged
};

struct Model {
  std::string kernel = "gaussian";
  double beta = 0;
  double alpha = 0.5;
  std::size_t n = 0;
  std::size_t dimension = 0;
  Precision precision = Precision::fp32;
  bool converged = false;
  std::string outcome;                // one sentence: what the numbers are worth
  double perron = 1;                  // the trivial eigenvalue
  double perron_residual = 0;         // |M v0 - v0|: whether later passes repeat what q and d were summed from
  std::vector<double> eigenvalues;    // nontrivial, descending
  std::vector<double> residuals;      // |Mv - lambda v| of each, measured
  Table psi;                          // n × modes, right eigenvectors of P; sum_i pi_i psi_i^2 = 1, largest entry positive
  std::vector<double> q, d;           // kernel mass and degree
  std::vector<double> mean;           // the origin: of the input columns, or their medians where a few rows dwarf the rest
  Table points;                       // n × dimension, origin subtracted; empty when the fit was asked not to keep them
  std::vector<std::string> names;     // of the rows, where the source had them
  std::uint64_t points_checksum = 0;  // of the values of the points, row after row; 0: not known
  std::vector<std::size_t>
      aside;  // rows that took no part in the fit and were placed by extension, counted from 0; their d is zero
  std::vector<Probe> sweep;
  // beta ~ n^exponent over the rungs of the ladder (Singer: 2 / (d + 4) to 2 / (d + 6)); NaN for fewer than two, its standard error for
  // fewer than three.
  double beta_exponent = std::numeric_limits<double>::quiet_NaN();
  double beta_exponent_error = std::numeric_limits<double>::quiet_NaN();
  std::string provenance;       // JSON
  std::size_t passes = 0;       // sweeps over a kernel, mass sweeps included
  std::size_t full_passes = 0;  // those at the full n
  std::size_t columns = 0;      // vectors times sweeps
  double seconds = 0;
  double forecast_seconds =
      std::numeric_limits<double>::quiet_NaN();  // before the fit; NaN where it was too small to be forecast
  std::size_t forecast_passes = 0;
  // Of these passes at the limit of the machine's arithmetic; NaN where it was not measured.
  double least_seconds = std::numeric_limits<double>::quiet_NaN();
  std::uint64_t peak_rss_bytes = 0;

  std::size_t modes() const { return eigenvalues.size(); }

  // Diffusion coordinates lambda^time psi of new points, m × modes: the Nyström extension with the same alpha. A point beyond the
  // kernel's reach of every fitted one is placed where that extension tends, with the nearest fitted points, as rows set aside by a fit are.
  // A note to the observer names such rows (counted from 1), and `beyond_reach` holds them (counted from 0).
  //
  // time: finite, zero or above; anything else is misuse. An eigenvalue that rounding left above 1 counts as 1. A power of one that is not
  // positive (rounding leaves some just below 0) exists for whole times only; at other times that coordinate is 0, and before time 1 also where
  // the precision cannot tell the eigenvalue from 0, by which it would be divided. A note to the observer says so. A model whose arrays
  // lead to a coordinate that is not finite is damaged: Error(input).
  std::vector<float> transform(PointsView fresh, double time = 1) const;
  Table transform(PointSource& fresh, double time, const Options& options,
                  std::vector<std::size_t>* beyond_reach = nullptr) const;

  // Coordinates of the fitted points themselves, at times as above.
  Table embedding(double time = 1) const;
};

// The model file (HDF5). Files appear whole, by rename, or not at all.
void save_model(const Model& model, const std::string& path);
// with_arrays false: attributes, spectrum and sweep only. A file that is not what save_model writes throws Error(input): cut short, changed
// bits, shapes or values that contradict each other. In a process with one thread the HDF5 library meets the file in a child process first,
// so that a crash of it is an error too.
Model load_model(const std::string& path, bool with_arrays = true);

}  // namespace fd

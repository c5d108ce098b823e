// Points in a dataset or a sparse matrix of an HDF5 file (also AnnData's .h5ad), read by hyperslab: the whole is never copied. Any
// integer, boolean or floating type that HDF5 converts to double, any layout and filter this HDF5 has. AnnData's names of observations,
// or /names of as many rows as the table (where coordinates and models have them), become row names; which table was taken is noted.
#pragma once

#include <memory>
#include <string>

#include <flashdiffusion/points.hpp>
#include <flashdiffusion/read_points.hpp>

namespace fd {

// Without a dataset: the only table of numbers in the file; in an AnnData file /obsm/X_pca, else /X. Otherwise the error
// lists what there is, with shapes. `vectors`: a dataset of one dimension is a column, and is taken where there is no table.
std::unique_ptr<PointSource> open_hdf5_points(const std::string& path, const std::string& dataset,
                                              const ReadOptions& options = {});

}  // namespace fd

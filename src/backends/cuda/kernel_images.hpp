// The kernels as nvcc made them, part of the library: for each file machine code of some chips and PTX, which a driver compiles for newer ones. Made by
// cmake/embed_kernels.cmake.
#pragma once

#include <string>
#include <vector>

namespace fd::cuda {

struct KernelImage {
  int capability;  // 80, 90, …
  bool compiled;   // machine code; else PTX, a text that ends with 0
  const void* data;
};

struct KernelFile {
  std::string name;
  std::vector<KernelImage> images;
};

const std::vector<KernelFile>& kernel_files();
std::string kernel_compiler();  // e.g. "CUDA 13.0"

}  // namespace fd::cuda

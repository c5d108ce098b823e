// flashdiffusion-bench: figures as ratios, each measured in one run. A new benchmark is a file and a row here.
#include "bench/verb.hpp"

namespace {

constexpr const char* footer = R"(Examples:
  flashdiffusion-bench xgemm --dimension 12,32 --block 1,8
  flashdiffusion-bench solver --case torus --json
  flashdiffusion-bench accuracy --n 20000
  flashdiffusion-bench fit --n 1500,8000
  flashdiffusion-bench bandwidth --points points.npy --labels classes.csv

FLASHDIFFUSION_THREADS sets the number of threads, FLASHDIFFUSION_ISA the instruction set.
Exit status: 0 done, 1 a promise was broken, 2 wrong use or bad input, 3 I/O, memory or device failure, 130 interrupted.)";

}  // namespace

int main(int argc, char** argv) {
  using namespace fd::cli;
  const Program program{"flashdiffusion-bench",
                        "Benchmarks of FlashDiffusion against this machine's own limits and other people's programs.",
                        footer,
                        {{"xgemm", "the kernel product against this machine's own limit and against OpenBLAS", declare_xgemm},
                         {"solver", "passes, columns and seconds of the eigensolver, beside ARPACK and Spectra", declare_solver},
                         {"accuracy", "row errors of the kernel product against sums in long double", declare_accuracy},
                         {"fit", "whole fits of many kinds of tables, beside numpy and scikit-learn", declare_fit},
                         {"bandwidth", "what the map keeps against beta, with the selectors' choices marked", declare_bandwidth},
                         {"completions", "prints a completion script for bash, zsh or fish", declare_completions}}};
  return run_program(program, argc, argv);
}

// flashdiffusion: the program that is shipped. A new verb is a file and a row here.
#include "cli/verb.hpp"
#include "common/program_ranks.hpp"
#include "reproduce/verb.hpp"

namespace {

constexpr const char* footer = R"(Examples:
  flashdiffusion demo
  flashdiffusion estimate points.npy -k 8
  flashdiffusion fit points.npy -k 8 -o model.h5
  flashdiffusion report model.h5 -o report.html
  flashdiffusion info model.h5
  flashdiffusion transform model.h5 new.csv -o coordinates.npy
  flashdiffusion decode model.h5 angles.csv --circular deg -o decoded.csv
  flashdiffusion support points.npy --beta 8.75
  flashdiffusion reproduce t6 --quick

FLASHDIFFUSION_THREADS sets the number of threads, FLASHDIFFUSION_ISA the instruction set.
Exit status: 0 done, 1 not converged, 2 wrong use or bad input, 3 I/O, memory or device failure, 130 interrupted.)";

}  // namespace

int main(int argc, char** argv) {
  using namespace fd::cli;
  const Program program{"flashdiffusion",
                        "Exact dense diffusion maps without the N x N kernel.",
                        footer,
                        {{"fit", "points in, diffusion map out: writes a model file", declare_fit},
                         {"transform", "diffusion coordinates of new points", declare_transform},
                         {"report", "one page that shows what a fit found", declare_report},
                         {"decode", "what the modes say of anything measured on the same rows", declare_decode},
                         {"support", "what a graph of nearest neighbours would keep of the kernel", declare_support},
                         {"info", "what is in a model or a file of points", declare_info},
                         {"estimate", "time, memory and passes of a fit, before running it", declare_estimate},
                         {"demo", "a complete fit on data it makes itself", declare_demo},
                         {"reproduce", "the paper's experiments, ours beside its figures", declare_reproduce},
                         {"selftest", "checks this build on this machine against the reference", declare_selftest},
                         {"completions", "prints a completion script for bash, zsh or fish", declare_completions}},
                        {{"bench", "benchmarks are a program of their own: flashdiffusion-bench (`make build` builds it)"}}};
  return run_on_ranks([&] { return run_program(program, argc, argv); });
}

#include <cmath>
#include <utility>

#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include <flashdiffusion/error.hpp>

#include "cli/fit_arguments.hpp"
#include "common/validators.hpp"

namespace fd::cli {

void BandwidthArguments::declare(CLI::App& app, const char* group) {
  app.add_option("--beta", beta, "beta itself")->check(real_number)->type_name("B")->group(group);
  app.add_option("--sigma", sigma, "beta = 1 / (2 S^2)")->check(real_number)->type_name("S")->group(group);
  app.add_option("--gamma", gamma, "beta = G, as in scikit-learn")->check(real_number)->type_name("G")->group(group);
  app.add_option("--epsilon", epsilon, "with --epsilon-convention: beta = 1/(4E), 1/(2E), 1/E")
      ->check(real_number)
      ->type_name("E")
      ->group(group);
  app.add_option("--epsilon-convention", convention, "whose epsilon it is")
      ->type_name("")
      ->check(CLI::IsMember({"pydiffmap", "datafold", "mdanalysis"}))
      ->group(group);
}

std::optional<double> BandwidthArguments::value(const char* otherwise) const {
  std::vector<std::pair<const char*, double>> given;
  if (beta) given.emplace_back("--beta", *beta);
  if (sigma) given.emplace_back("--sigma", *sigma);
  if (gamma) given.emplace_back("--gamma", *gamma);
  if (epsilon) given.emplace_back("--epsilon", *epsilon);
  if (given.size() > 1)
    throw Error(Failure::misuse, fmt::format("{} and {} both fix the bandwidth", given[0].first, given[1].first),
                "give one of them");
  if (!convention.empty() && !epsilon)
    throw Error(Failure::misuse, "--epsilon-convention says what --epsilon means, and there is no --epsilon",
                "add --epsilon E, or use --beta, --sigma or --gamma");
  if (given.empty()) return std::nullopt;

  const auto [option, number] = given[0];
  if (!std::isfinite(number) || number <= 0)
    throw Error(Failure::misuse, fmt::format("{} {}: a bandwidth is a finite number above zero", option, number), otherwise);
  if (epsilon && convention.empty())
    throw Error(Failure::misuse, "--epsilon means different things in different programs",
                "add --epsilon-convention pydiffmap (beta = 1/4E), datafold (1/2E) or mdanalysis (1/E)");
  double result = number;
  if (sigma) result = 1 / (2 * number * number);
  if (epsilon) result = 1 / ((convention == "pydiffmap" ? 4 : convention == "datafold" ? 2 : 1) * number);
  if (!std::isfinite(result) || result <= 0)
    throw Error(Failure::misuse, fmt::format("{} {}: beta would be {}", option, number, result), "give a less extreme value");
  return result;
}

std::string BandwidthArguments::origin() const {
  if (beta) return fmt::format("given by --beta {}", *beta);
  if (sigma) return fmt::format("given by --sigma {}", *sigma);
  if (gamma) return fmt::format("given by --gamma {}", *gamma);
  if (epsilon) return fmt::format("given by --epsilon {} of {}", *epsilon, convention);
  return {};
}

}  // namespace fd::cli

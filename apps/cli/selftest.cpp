// flashdiffusion selftest: what back-ends promise (selftest_contract.hpp), asked of every one of this build on this machine: every instruction set,
// every device, ranks, every precision.
#include <algorithm>
#include <memory>
#include <vector>

#include <fmt/format.h>
#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

#include <flashdiffusion/version.hpp>

#include "cli/selftest_contract.hpp"
#include "cli/verb.hpp"
#include "common/console.hpp"
#include "common/exit_status.hpp"
#include "device/backend.hpp"
#include "device/devices.hpp"

namespace fd::cli {
namespace {

constexpr Precision precisions[] = {Precision::fp64, Precision::fp32, Precision::tf32, Precision::bf16};

// A back-end as it can be had here.
struct Place {
  std::string backend, isa;  // isa: asked for by name
  std::string where;         // "GPU 1", "2 ranks"; empty: there is but one place
  std::vector<int> devices;
  int ranks = 1;

  std::unique_ptr<Backend> make(int threads) const {
    BackendRequest request{backend, isa, threads};
    request.devices = devices, request.ranks = ranks, request.rows_a_rank = 1;
    return make_backend(request);
  }
};

struct Row {
  Place place;
  std::string isa, precision;
  Verdict verdict;
  std::string failure;  // it did not get to the end
  bool good() const { return failure.empty() && verdict.good(); }
};

struct Absent {
  std::string backend, why;
};

// Every instruction set, every device by itself, and ranks that share the rows: one a device, or two of a back-end that has one place.
std::vector<Place> places_of(const std::string& name) {
  std::vector<Place> places;
  if (name == "cpu")
    for (const std::string& isa : instruction_sets()) places.push_back({name, isa, "", {}});
  const std::vector<DeviceFacts> devices = devices_of(name);
  Place all{name, "", "2 ranks", {}, 2};
  for (const DeviceFacts& device : devices) {
    places.push_back({name, "", "GPU " + std::to_string(device.number), {device.number}});
    all.devices.push_back(device.number);
  }
  if (places.empty()) places.push_back({name, "", "", {}});
  if (devices.size() > 1) all.ranks = static_cast<int>(devices.size()), all.where = std::to_string(devices.size()) + " GPUs";
  places.push_back(all);
  return places;
}

void check_place(const Place& place, Backend& reference, std::vector<Row>& rows, std::vector<Absent>& absent) {
  std::unique_ptr<Backend> tested, again;
  try {
    tested = place.make(3), again = place.make(1);
  } catch (const Error& error) {
    if (error.kind() != Failure::device) throw;
    absent.push_back({place.backend + (place.where.empty() ? "" : " " + place.where), error.what()});
    return;
  }
  for (const Precision precision : precisions) {
    Row row{place, tested->isa(), std::string(traits(precision).name), {}, {}};
    try {
      row.verdict = check_contract(*tested, *again, reference, precision);
    } catch (const Error& error) {
      if (error.kind() != Failure::device && error.kind() != Failure::memory) throw;
      row.failure = error.what();  // after which a device may refuse whatever it is asked
    }
    rows.push_back(row);
    if (!row.failure.empty()) return;
  }
}

std::vector<Row> check_all(std::vector<Absent>& absent) {
  std::vector<Row> rows;
  const auto reference = make_backend({"reference", "", 1});
  for (const std::string& name : backend_names()) {
    std::vector<Place> places;
    try {
      places = places_of(name);
    } catch (const Error& error) {
      if (error.kind() != Failure::device) throw;
      absent.push_back({name, error.what()});
    }
    for (const Place& place : places) check_place(place, *reference, rows, absent);
  }
  return rows;
}

nlohmann::ordered_json document_of(const std::vector<Row>& rows, const std::vector<Absent>& absent, bool ok) {
  nlohmann::ordered_json document = {
      {"build", build_description()}, {"rows", nlohmann::json::array()}, {"absent", nlohmann::json::array()}, {"ok", ok}};
  for (const Absent& one : absent) document["absent"].push_back({{"backend", one.backend}, {"why", one.why}});
  for (const Row& row : rows) {
    const bool ended = row.failure.empty();
    document["rows"].push_back({{"backend", row.place.backend},
                                {"isa", row.isa},
                                {"where", row.place.where},
                                {"devices", row.place.devices},
                                {"ranks", row.place.ranks},
                                {"precision", row.precision},
                                {"error", ended ? nlohmann::ordered_json(row.verdict.error) : nullptr},
                                {"share_of_bound", ended ? nlohmann::ordered_json(row.verdict.share) : nullptr},
                                {"worst", row.verdict.worst},
                                {"same_for_any_threads", row.verdict.same_bits},
                                {"failure", row.failure},
                                {"ok", row.good()}});
  }
  return document;
}

std::string text_of(const std::vector<Row>& rows, const std::vector<Absent>& absent) {
  std::string text = build_description() + "\n\n" +
                     fmt::format("{:<11}{:<12}{:<10}{:<11}{:<11}{:<10}{:<9}{:<7}{}\n", "back-end", "isa", "where", "precision",
                                 "error", "of bound", "threads", "", "nearest to its bound");
  for (const Row& row : rows) {
    text += fmt::format("{:<11}{:<12}{:<10}{:<11}", row.place.backend, row.isa, row.place.where, row.precision);
    text +=
        row.failure.empty()
            ? fmt::format("{:<11.1e}{:<10}{:<9}{:<7}{}\n", row.verdict.error, fmt::format("{:.1f} %", 100 * row.verdict.share),
                          row.verdict.same_bits ? "same" : "DIFFER", row.good() ? "ok" : "WRONG", row.verdict.worst)
            : fmt::format("FAILED: {}\n", row.failure);
  }
  for (const Absent& one : absent) text += fmt::format("{:<11}not here: {}\n", one.backend, one.why);
  return text;
}

int run_selftest(bool json) {
  std::vector<Absent> absent;
  const std::vector<Row> rows = check_all(absent);
  const auto bad = std::count_if(rows.begin(), rows.end(), [](const Row& row) { return !row.good(); });
  print_result(json ? document_of(rows, absent, bad == 0).dump(2) + "\n" : text_of(rows, absent));
  if (bad == 0) return done;
  complain(fmt::format("{} of {} combinations give wrong numbers or fail", bad, rows.size()),
           "avoid them with FLASHDIFFUSION_ISA, --devices or --backend cpu, and report the table above");
  return numbers;
}

}  // namespace

Action declare_selftest(CLI::App& app, const std::vector<std::string>&) {
  auto json = std::make_shared<bool>(false);
  app.add_flag("--json", *json, "one JSON document on standard output");
  app.footer("Examples:\n  flashdiffusion selftest\n  flashdiffusion selftest --json");
  return [json] { return run_selftest(*json); };
}

}  // namespace fd::cli

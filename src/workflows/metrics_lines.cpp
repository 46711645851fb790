#include "radir/workflows/metrics_lines.h"

#include <algorithm>

#include <map>

#include "radir/files/json_object.h"

namespace radir::workflows {
namespace {

constexpr std::size_t kMostLineBytes = 4096;
// What no run comes to, so that sums over all networks are exact.
constexpr std::int64_t kMostNetworks = 1000;
constexpr std::int64_t kMostEpochs = 1'000'000'000'000;

MetricsLine metrics_line_from_json(const std::string& where,
                                   std::string_view text) {
  using Json = files::JsonObject::Json;
  RADIR_CHECK(text.size() <= kMostLineBytes, IoError, where, ": has ",
              text.size(), " bytes, but the limit is ", kMostLineBytes);
  const auto document = files::parse_json<Json>(where, text, {});
  files::JsonObject json(document, where);
  MetricsLine line;
  train::EpochReport& report = line.report;
  line.network = json.integer("network", 1, kMostNetworks);
  report.epoch = json.integer("epoch", 1, kMostEpochs);
  report.step = json.integer("step");
  report.nll = json.number("nll");
  report.kl = json.number("kl");
  report.kl_weight = json.number("kl_weight");
  report.learning_rate = json.number("learning_rate");
  report.seconds = json.number("seconds");
  json.finish();
  return line;
}

}  // namespace

std::string to_json(const MetricsLine& line) {
  const train::EpochReport& report = line.report;
  const files::JsonObject::Json json = {{"network", line.network},
                                        {"epoch", report.epoch},
                                        {"step", report.step},
                                        {"nll", report.nll},
                                        {"kl", report.kl},
                                        {"kl_weight", report.kl_weight},
                                        {"learning_rate", report.learning_rate},
                                        {"seconds", report.seconds}};
  return json.dump();
}

TrainingHistory::TrainingHistory(std::int64_t epochs)
    : every_(std::max<std::int64_t>(1, epochs / train::kHistoryPoints)) {}

void TrainingHistory::add(std::int64_t restart,
                          const train::EpochReport& report) {
  train::EpochReport& last = last_[restart];
  epochs_done_ += report.epoch - last.epoch;
  last = report;
  if (report.epoch % every_ != 0) return;
  lines_ += to_json({restart + 1, report}) + "\n";
}

nlohmann::ordered_json TrainingHistory::final_losses() const {
  nlohmann::ordered_json networks = nlohmann::ordered_json::array();
  for (const auto& [restart, report] : last_) {
    networks.push_back({{"nll", report.nll}, {"kl", report.kl}});
  }
  return networks;
}

std::vector<MetricsLine> read_metrics_lines(const std::string& name,
                                            std::string_view text) {
  std::vector<MetricsLine> lines;
  std::map<std::int64_t, std::int64_t> epochs;  // so far, of each network
  while (!text.empty()) {
    const std::string where =
        name + ", line " + std::to_string(lines.size() + 1);
    const std::size_t length = text.find('\n');
    lines.push_back(metrics_line_from_json(where, text.substr(0, length)));
    text.remove_prefix(length < text.size() ? length + 1 : text.size());

    const MetricsLine& line = lines.back();
    std::int64_t& epoch = epochs[line.network];
    RADIR_CHECK(line.report.epoch > epoch, IoError, where, ": network ",
                line.network, " comes to epoch ", line.report.epoch,
                " after epoch ", epoch);
    epoch = line.report.epoch;
  }
  return lines;
}

}  // namespace radir::workflows

#include "radir/experiments/run_report.h"

#include <filesystem>
#include <limits>
#include <map>
#include <nlohmann/json.hpp>
#include <sstream>
#include <vector>

#include "radir/core/error.h"
#include "radir/core/version.h"
#include "radir/experiments/compress_report.h"
#include "radir/experiments/inspect.h"
#include "radir/io/byte_source.h"
#include "radir/io/checkpoint.h"
#include "radir/io/run_folder.h"
#include "radir/report/chart.h"
#include "radir/report/page.h"

namespace radir::experiments {
namespace {

using io::RunFolder;
using Json = nlohmann::ordered_json;

/// Of each curve; more could not be told apart.
constexpr std::size_t kDrawnEpochs = 400;

/// What the training of one network reported.
struct Curve {
  std::string name;
  std::vector<train::EpochReport> epochs;
};

std::string read_text(const std::string& path) {
  return io::read_all(*io::open_byte_source(path),
                      std::numeric_limits<std::size_t>::max());
}

/// The name of the command that began the run.
std::string command_of(const RunFolder& folder, const Json& config) {
  const Json command = config.value("command", Json());
  RADIR_CHECK(command.is_object() && command.value("name", Json()).is_string(),
              IoError, folder.config_file(),
              ": does not say what was asked for; the file is damaged");
  return command.at("name");
}

/// The curves that `radir train` leaves in metrics.jsonl.
std::vector<Curve> read_metrics(const std::string& path) {
  std::map<std::int64_t, Curve> curves;
  std::istringstream text(read_text(path));
  std::string line;
  for (std::int64_t number = 1; std::getline(text, line); ++number) {
    try {
      const Json json = Json::parse(line);
      train::EpochReport report;
      json.at("epoch").get_to(report.epoch);
      json.at("nll").get_to(report.nll);
      json.at("kl").get_to(report.kl);
      json.at("seconds").get_to(report.seconds);
      curves[json.at("network")].epochs.push_back(report);
    } catch (const Json::exception& error) {
      detail::throw_error<IoError>(path, ", line ", number,
                                   ": is damaged: ", error.what());
    }
  }
  std::vector<Curve> result;
  for (auto& [network, curve] : curves) {
    curve.name = "network " + std::to_string(network);
    result.push_back(std::move(curve));
  }
  return result;
}

/// The curves of the networks that have a checkpoint. The stages of a
/// compression follow each other and make one.
std::vector<Curve> read_checkpoints(const RunFolder& folder) {
  std::vector<Curve> curves;
  for (const std::string& part : folder.checkpoint_parts()) {
    if (part.rfind("trial-", 0) == 0) continue;
    auto epochs = io::read_checkpoint_history(folder.checkpoint_file(part));
    if (epochs.empty()) continue;
    if (part.rfind("stage-", 0) != 0) {
      curves.push_back({"network " + (part.empty() ? "1" : part), epochs});
      continue;
    }
    if (curves.empty()) curves.push_back({"all stages", {}});
    auto& all = curves.front().epochs;
    const train::EpochReport last =
        all.empty() ? train::EpochReport() : all.back();
    for (train::EpochReport& report : epochs) {
      report.epoch += last.epoch;
      report.seconds += last.seconds;
      all.push_back(report);
    }
  }
  return curves;
}

report::Chart chart(const std::vector<Curve>& curves, const char* title,
                    double train::EpochReport::*value) {
  report::Chart result;
  result.title = title;
  result.x.label = "epoch";
  result.y.label = "nats per example";
  for (const Curve& curve : curves) {
    report::Series series;
    if (curves.size() > 1) series.name = curve.name;
    const std::size_t stride = 1 + curve.epochs.size() / kDrawnEpochs;
    for (std::size_t i = 0; i < curve.epochs.size(); i += stride) {
      series.x.push_back(static_cast<double>(curve.epochs[i].epoch));
      series.y.push_back(curve.epochs[i].*value);
    }
    if (series.x.size() == 1) series.mark = report::Mark::Points;
    result.series.push_back(std::move(series));
  }
  return result;
}

report::Section loss_section(const std::vector<Curve>& curves) {
  report::Section section{"Loss", {}};
  if (curves.empty()) {
    section.blocks.push_back(
        report::Paragraph{"There is no epoch to show yet."});
    return section;
  }
  report::Table table;
  table.columns = {{"network", "network"},
                   {"epoch", "epochs"},
                   {"nll", "negative log-likelihood"},
                   {"kl", "divergence from the prior"},
                   {"seconds", "seconds", 3}};
  for (const Curve& curve : curves) {
    const train::EpochReport& last = curve.epochs.back();
    table.rows.push_back(
        {curve.name, last.epoch, last.nll, last.kl, last.seconds});
  }
  section.blocks.push_back(report::Figure{
      {report::to_svg(
           chart(curves, "Negative log-likelihood", &train::EpochReport::nll)),
       report::to_svg(chart(curves, "Divergence from the prior",
                            &train::EpochReport::kl))},
      "The two parts of the loss, per example: how badly drawn weights explain "
      "the training data (mean of the epoch), and how far they are from the "
      "prior (at its end)."});
  section.blocks.push_back(
      report::TableBlock{std::move(table), "At the last epoch shown."});
  return section;
}

report::Section model_section(const ModelInspection& inspection) {
  report::Section section{"Model", {}};
  std::ostringstream text;
  text << "Input " << inspection.input << ", likelihood "
       << inspection.likelihood << ", architecture " << inspection.architecture
       << ": " << inspection.flops << " FLOPs, " << inspection.parameters
       << " weights and biases, " << inspection.variational_parameters
       << " variational parameters.";
  section.blocks.push_back(report::Paragraph{text.str()});
  section.blocks.push_back(report::TableBlock{
      layer_table(inspection),
      "\"To spare\" are inputs that stand apart from the ones that matter; "
      "noise is relative to the weights: where the uncertainty is."});
  for (const LayerInspection& layer : inspection.layers) {
    section.blocks.push_back(
        report::Paragraph{layer.name + ": " + layer.posterior});
  }
  return section;
}

std::string text_of(const Json& value) {
  return value.is_string() ? value.get<std::string>() : value.dump();
}

/// Every setting but "command", which says the same once more as it was asked
/// for, and the candidates of a tuning, which are many.
report::Section settings_section(const Json& config) {
  report::Table table;
  table.columns = {{"setting", "setting"}, {"value", "value"}};
  for (const auto& [key, value] : config.items()) {
    if (key == "command" || key == "trials") continue;
    if (!value.is_object()) {
      table.rows.push_back({key, text_of(value)});
      continue;
    }
    for (const auto& [inner, leaf] : value.items()) {
      table.rows.push_back({key + "." + inner, text_of(leaf)});
    }
  }
  return {"Settings", {report::TableBlock{std::move(table), "config.json"}}};
}

std::string name_of(const RunFolder& folder) {
  const std::filesystem::path path =
      std::filesystem::absolute(folder.path()).lexically_normal();
  return (path.has_filename() ? path : path.parent_path()).filename().string();
}

/// "finished, 3 networks, 600 epochs in all"
std::string state_of(bool finished, const std::vector<Curve>& curves) {
  std::int64_t epochs = 0;
  for (const Curve& curve : curves) epochs += curve.epochs.back().epoch;
  std::ostringstream text;
  text << (finished ? "finished, " : "unfinished, ");
  if (curves.size() > 1) text << curves.size() << " networks, ";
  text << epochs << (epochs == 1 ? " epoch" : " epochs")
       << (curves.size() > 1 ? " in all" : "");
  return text.str();
}

/// " on houses.csv", as far as the configuration says.
std::string source_of(const Json& config) {
  const Json data = config.value("data", Json());
  return data.is_object() && data.contains("source")
             ? " on " + text_of(data["source"])
             : "";
}

RunReport training_page(const RunFolder& folder, const Json& config,
                        const std::string& command) {
  const bool finished = folder.is_finished();
  const std::vector<Curve> curves =
      finished ? read_metrics(folder.metrics_file()) : read_checkpoints(folder);
  RunReport result;
  result.state = state_of(finished, curves);
  report::Page page;
  page.title = "Run " + name_of(folder);
  page.lead =
      "radir " + command + source_of(config) + ": " + result.state + ".";
  page.sections.push_back(loss_section(curves));
  if (finished) {
    page.sections.push_back(
        model_section(inspect(io::read_model(folder.model_file()))));
  } else {
    result.missing =
        "the model and its figures are there once the run is finished; the "
        "curve ends at the last checkpoint";
    page.sections.front().blocks.push_back(
        report::Paragraph{"Not finished: " + result.missing +
                          ". If it was stopped, go on with: radir " + command +
                          " --resume " + folder.path()});
  }
  page.sections.push_back(settings_section(config));
  page.footer = std::string("radir ") + version() + ", run of radir " +
                text_of(config.value("program", Json("?"))) + ".";
  result.page = report::to_html(page);
  return result;
}

/// The page a compression gave when it ended, from what its model says.
RunReport compression_page(const RunFolder& folder, const Json& config) {
  const io::SavedModel model = io::read_model(folder.model_file());
  RunReport result;
  try {
    const std::string source = config.at("data").at("source");
    result.page =
        compress_report(compress_settings_from_json(model.training), source,
                        compress_result_from_json(model.metrics));
  } catch (const Json::exception& error) {
    detail::throw_error<IoError>(folder.config_file(),
                                 ": is damaged: ", error.what());
  } catch (const IoError& error) {
    detail::throw_error<IoError>(folder.model_file(), ": ", error.what());
  }
  result.state = "finished";
  result.missing =
      "the loss of each epoch is not kept by a compression that is finished";
  return result;
}

}  // namespace

RunReport report_run(const std::string& path) {
  const RunFolder folder = RunFolder::look_at(path);
  const Json config = Json::parse(folder.config());
  const std::string command = command_of(folder, config);
  if (command == "compress" && folder.is_finished()) {
    return compression_page(folder, config);
  }
  return training_page(folder, config, command);
}

}  // namespace radir::experiments

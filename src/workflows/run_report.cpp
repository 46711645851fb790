#include "radir/workflows/run_report.h"

#include <filesystem>
#include <sstream>
#include <vector>

#include "radir/core/error.h"
#include "radir/core/shell_text.h"
#include "radir/core/text_stream.h"
#include "radir/core/version.h"
#include "radir/data/column_reading.h"
#include "radir/files/byte_source.h"
#include "radir/files/json_object.h"
#include "radir/io/checkpoint.h"
#include "radir/io/model_file.h"
#include "radir/io/run_folder.h"
#include "radir/io/target_runs.h"
#include "radir/report/page.h"
#include "radir/report/table.h"
#include "radir/train/trainer.h"
#include "radir/workflows/assessment.h"
#include "radir/workflows/column_curves.h"
#include "radir/workflows/compress_report.h"
#include "radir/workflows/holdout.h"
#include "radir/workflows/importance.h"
#include "radir/workflows/inspect.h"
#include "radir/workflows/loss_curves.h"
#include "radir/workflows/run_findings.h"
#include "radir/workflows/table_settings.h"
#include "radir/workflows/training_run.h"
#include "workflows/table_report.h"
#include "workflows/targets_report.h"

namespace radir::workflows {
namespace {

using io::RunFolder;
using Json = files::JsonObject::Json;

/// Some hundred bytes for each of at most 400 epochs of 1000 networks.
constexpr std::size_t kMostMetricsBytes = std::size_t{1} << 28;

/// What started a run of the C interface or of Python, which no command
/// resumes.
constexpr const char* kFit = "fit";

/// The curves that `radir train` leaves in metrics.jsonl.
std::vector<LossCurve> read_metrics(const std::string& path) {
  return loss_curves(read_metrics_lines(
      path,
      files::read_all(*files::open_byte_source(path), kMostMetricsBytes)));
}

/// The curves of the networks that have a checkpoint. The stages of a
/// compression follow each other and make one.
std::vector<LossCurve> read_checkpoints(const RunFolder& folder) {
  std::vector<LossCurve> curves;
  for (const std::string& part : folder.checkpoint_parts()) {
    if (part.rfind("trial-", 0) == 0 || part.rfind(kHoldoutPart, 0) == 0) {
      continue;
    }
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

report::Section model_section(const ModelInspection& inspection) {
  report::Section section{"Model", {}};
  std::ostringstream text = text_stream();
  text << "Input " << inspection.input << ", likelihood "
       << inspection.likelihood << ", architecture " << inspection.architecture
       << ": " << inspection.flops << " FLOPs, " << inspection.parameters
       << " weights and biases, " << inspection.variational_parameters
       << " variational parameters.";
  section.blocks.push_back(report::Paragraph{text.str()});
  section.blocks.push_back(report::TableBlock{
      layer_table(inspection),
      "\"To spare\" are inputs that the network does not need; "
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
  return {"Settings",
          {report::TableBlock{std::move(table), "config.json"}},
          /*folded=*/true};
}

std::string name_of(const RunFolder& folder) {
  const std::filesystem::path path =
      std::filesystem::absolute(folder.path()).lexically_normal();
  return (path.has_filename() ? path : path.parent_path()).filename().string();
}

/// "finished, 3 networks, 600 epochs in all", or chains and iterations.
std::string state_of(bool finished, bool sampled,
                     const std::vector<LossCurve>& curves) {
  std::int64_t epochs = 0;
  for (const LossCurve& curve : curves) epochs += curve.epochs.back().epoch;
  std::ostringstream text = text_stream();
  text << (finished ? "finished, " : "unfinished, ");
  if (curves.size() > 1) {
    text << curves.size() << (sampled ? " chains, " : " networks, ");
  }
  text << epochs << (sampled ? " iteration" : " epoch")
       << (epochs == 1 ? "" : "s") << (curves.size() > 1 ? " in all" : "");
  return text.str();
}

/// " on houses.csv", as far as the configuration says.
std::string source_of(const Json& config) {
  const Json data = config.value("data", Json());
  return data.is_object() && data.contains("source")
             ? " on " + text_of(data["source"])
             : "";
}

/// Those of the run, the ignored ones included; a run of version 0.1 has none.
std::vector<data::ColumnReading> readings_of(const Json& config,
                                             const TableModel& model) {
  const Json data = config.value("data", Json());
  if (!data.is_object() || !data.contains("columns")) {
    return data::describe_columns(model.encoder);
  }
  return data::column_readings_from_json(data["columns"], "config.json");
}

/// What the page of a finished training says before the curves.
void add_findings(const RunFolder& folder, const Json& config,
                  const io::SavedModel& saved, const ReportOptions& options,
                  ThreadPool* pool, report::Page& page) {
  const TableModel model = table_model(folder.model_file(), saved);
  const std::optional<HeldOut> held_out = read_held_out(folder);
  const std::string& target = model.encoder.target().name;
  const auto append = [&](std::vector<report::Section> sections) {
    for (report::Section& section : sections) {
      page.sections.push_back(std::move(section));
    }
  };
  if (!options.test.empty()) {
    const Assessment test =
        assess_table(model, options.test, options.prediction, pool);
    page.sections.push_back(test_section(test, options.test));
    append(assessment_sections(test, target, "new rows"));
    page.sections.push_back(uncertain_section(test, "new rows"));
  }
  if (held_out) {
    page.headline = headline(*held_out);
    page.sections.push_back(score_section(*held_out, model.correction));
    append(assessment_sections(held_out->assessment, target, "held-out rows"));
  }
  page.sections.push_back(columns_section(column_strengths(model), held_out));
  const std::vector<ColumnCurve> curves = read_curves(folder);
  if (!curves.empty()) page.sections.push_back(curves_section(curves, target));
  if (held_out && !held_out->assessment.uncertain.empty()) {
    page.sections.push_back(
        uncertain_section(held_out->assessment, "held-out rows"));
  }
  page.sections.push_back(reading_section(readings_of(config, model)));
  if (auto trials = trials_section(config)) {
    page.sections.push_back(std::move(*trials));
  }
}

RunReport training_page(const RunFolder& folder, const Json& config,
                        const std::string& command,
                        const ReportOptions& options, ThreadPool* pool) {
  const bool finished = folder.is_finished();
  const std::vector<LossCurve> curves =
      finished ? read_metrics(folder.metrics_file()) : read_checkpoints(folder);
  RunReport result;
  const Json method = config.value("method", Json());
  const bool sampled =
      method.is_string() && is_sampler(method.get<std::string>());
  result.state = state_of(finished, sampled, curves);
  report::Page page;
  page.title = "Run " + name_of(folder);
  const bool by_program = command != kFit;
  page.lead = (by_program ? "radir " : "") + command + source_of(config) +
              ": " + result.state + ".";
  RADIR_CHECK(finished || options.test.empty(), ArgumentError, folder.path(),
              ": --test needs a finished run; this one is unfinished");
  if (finished) {
    const io::SavedModel model = io::read_model(folder.model_file());
    add_findings(folder, config, model, options, pool, page);
    page.sections.push_back(loss_section(curves));
    page.sections.push_back(model_section(inspect(model)));
  } else {
    page.sections.push_back(loss_section(curves));
    result.missing =
        "the model and its figures are available when the run is finished; the "
        "curve ends at the last checkpoint";
    page.sections.front().blocks.push_back(report::Paragraph{
        "Not finished: " + result.missing + ". If it was stopped, " +
        (by_program ? "resume with: radir " + command + " --resume " +
                          shell_word(folder.path())
                    : "the same call resumes it.")});
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
  const std::string source = files::JsonObject(config, folder.config_file())
                                 .object("data")
                                 .text("source");
  RunReport result;
  try {
    result.page =
        compress_report(compress_settings_from_json(model.training), source,
                        compress_result_from_json(model.metrics));
  } catch (const IoError& error) {
    detail::throw_error<IoError>(folder.model_file(), ": ", error.what());
  }
  result.state = "finished";
  result.missing =
      "a finished compression does not keep the loss of each epoch";
  return result;
}

}  // namespace

RunReport report_run(const std::string& path, const ReportOptions& options,
                     ThreadPool* pool) {
  const RunFolder folder = RunFolder::look_at(path);
  const std::vector<io::TargetRun> targets = io::target_runs(path);
  if (!targets.empty()) {
    RADIR_CHECK(options.test.empty(), ArgumentError, path, ": has several ",
                "targets; rows of a test table are scored for one at a time");
    return targets_page(path, name_of(folder), targets);
  }
  const Json config = Json::parse(folder.config());
  const std::string command = started_command(folder, config);
  RADIR_CHECK(command == "train" || command == "compress" || command == kFit,
              ArgumentError, folder.path(),
              ": contains a benchmark, which has no page; \"radir ", command,
              " --resume ", shell_word(folder.path()),
              "\" resumes it and prints its table");
  RADIR_CHECK(command == "train" || options.test.empty(), ArgumentError,
              folder.path(), ": --test needs a run of radir train");
  if (command == "compress" && folder.is_finished()) {
    return compression_page(folder, config);
  }
  return training_page(folder, config, command, options, pool);
}

}  // namespace radir::workflows

#include "radir/io/checkpoint.h"

#include <algorithm>
#include <numeric>
#include <utility>
#include <vector>

#include "radir/core/error.h"
#include "radir/core/version.h"
#include "radir/files/json_object.h"
#include "radir/io/safetensors.h"

namespace radir::io {
namespace {

using Json = files::JsonObject::Json;
using train::EpochReport;
using train::TrainerProgress;

constexpr const char* kCheckpointKey = "radir.checkpoint";
/// Raised when a file of the new form would be misread by an older program: the
/// second has a thinned history, with the numbers of its epochs.
constexpr std::int64_t kCheckpointVersion = 2;
constexpr std::int64_t kVersionOfAllEpochs = 1;
constexpr const char* kEpochs = "history.epoch";

/// The numbers of every epoch's report, each a tensor of its own.
constexpr std::pair<const char*, double EpochReport::*> kColumns[] = {
    {"history.nll", &EpochReport::nll},
    {"history.kl", &EpochReport::kl},
    {"history.kl_weight", &EpochReport::kl_weight},
    {"history.learning_rate", &EpochReport::learning_rate},
    {"history.seconds", &EpochReport::seconds}};

constexpr const char* kParameters = "parameters";
constexpr const char* kSelectedParameters = "selected_parameters";
constexpr const char* kHistory = "history.";

/// All other tensors are what the optimiser remembers, under its own names.
bool is_optimizer_slot(const std::string& name) {
  return name != kParameters && name != kSelectedParameters &&
         name.rfind(kHistory, 0) != 0;
}

/// The history as tensors: columns of equal length, and the validations apart
/// because not every epoch has one.
struct HistoryColumns {
  std::vector<std::vector<double>> numbers;
  std::vector<std::int64_t> epochs;
  std::vector<std::int64_t> steps;
  std::vector<std::uint8_t> selected;
  std::vector<std::int64_t> validation_epochs;
  std::vector<double> validation_nll;

  explicit HistoryColumns(const std::vector<EpochReport>& history)
      : numbers(std::size(kColumns)) {
    for (const EpochReport& report : history) {
      for (std::size_t i = 0; i < numbers.size(); ++i) {
        numbers[i].push_back(report.*kColumns[i].second);
      }
      epochs.push_back(report.epoch);
      steps.push_back(report.step);
      selected.push_back(report.selected ? 1 : 0);
      if (!report.validation_nll) continue;
      validation_epochs.push_back(report.epoch);
      validation_nll.push_back(*report.validation_nll);
    }
  }

  bool is_thinned() const {
    return !epochs.empty() &&
           epochs.back() != static_cast<std::int64_t>(epochs.size());
  }

  void add_to(SafetensorsWriter& writer) const {
    const auto add = [&writer](const char* name, const auto& values) {
      writer.add(name, {static_cast<std::int64_t>(values.size())},
                 values.data());
    };
    for (std::size_t i = 0; i < numbers.size(); ++i) {
      add(kColumns[i].first, numbers[i]);
    }
    if (is_thinned()) add(kEpochs, epochs);
    add("history.step", steps);
    add("history.selected", selected);
    add("history.validation_epoch", validation_epochs);
    add("history.validation_nll", validation_nll);
  }
};

/// Values of a tensor with one dimension, of any length.
template <typename V>
std::vector<V> column(const SafetensorsFile& file, const char* name) {
  return file.values<V>(name, {file.tensor(name).count()});
}

template <typename V>
std::vector<V> column(const SafetensorsFile& file, const char* name,
                      std::size_t length) {
  return file.values<V>(name, {static_cast<std::int64_t>(length)});
}

/// The epochs of the history; without their numbers it has all of them.
std::vector<std::int64_t> read_epochs(const SafetensorsFile& file,
                                      std::size_t count) {
  std::vector<std::int64_t> epochs(count);
  std::iota(epochs.begin(), epochs.end(), 1);
  if (file.tensors().count(kEpochs) == 0) return epochs;
  epochs = column<std::int64_t>(file, kEpochs, count);
  std::int64_t last = 0;
  for (const std::int64_t epoch : epochs) {
    RADIR_CHECK(epoch > last, IoError, file.name(), ": the epoch ", epoch,
                " follows the epoch ", last, "; the file is damaged");
    last = epoch;
  }
  return epochs;
}

std::vector<EpochReport> read_history(const SafetensorsFile& file) {
  const auto steps = column<std::int64_t>(file, "history.step");
  const auto selected =
      column<std::uint8_t>(file, "history.selected", steps.size());
  const std::vector<std::int64_t> numbers = read_epochs(file, steps.size());
  std::vector<EpochReport> history(steps.size());
  for (std::size_t i = 0; i < history.size(); ++i) {
    history[i].epoch = numbers[i];
    history[i].step = steps[i];
    history[i].selected = selected[i] != 0;
  }
  for (const auto& [name, member] : kColumns) {
    const auto values = column<double>(file, name, history.size());
    for (std::size_t i = 0; i < history.size(); ++i) {
      history[i].*member = values[i];
    }
  }
  const auto epochs = column<std::int64_t>(file, "history.validation_epoch");
  const auto nll =
      column<double>(file, "history.validation_nll", epochs.size());
  for (std::size_t i = 0; i < epochs.size(); ++i) {
    const auto found =
        std::lower_bound(numbers.begin(), numbers.end(), epochs[i]);
    RADIR_CHECK(found != numbers.end() && *found == epochs[i], IoError,
                file.name(), ": there is a validation of epoch ", epochs[i],
                ", but there are ", steps.size(),
                " epochs; the file is damaged");
    history[static_cast<std::size_t>(found - numbers.begin())].validation_nll =
        nll[i];
  }
  return history;
}

/// The configuration as a caller gives it; the order of its keys says nothing.
nlohmann::json parse_configuration(const std::string& text) {
  nlohmann::json json =
      nlohmann::json::parse(text, nullptr, /*allow_exceptions=*/false);
  RADIR_CHECK(json.is_object(), ArgumentError,
              "checkpoint: the configuration must be a JSON object, but is ",
              text);
  return json;
}

/// Refuses a checkpoint of other settings or data and names the first of them
/// that differs.
void check_configuration(const std::string& file, const std::string& there,
                         const std::string& here) {
  const nlohmann::json found = parse_configuration(there).flatten();
  const nlohmann::json wanted = parse_configuration(here).flatten();
  nlohmann::json all = wanted;
  all.update(found);
  for (const auto& [key, value] : all.items()) {
    const nlohmann::json a = found.value(key, nlohmann::json());
    const nlohmann::json b = wanted.value(key, nlohmann::json());
    RADIR_CHECK(a == b, IoError, file,
                ": this checkpoint belongs to another training: \"",
                key.substr(1), "\" is ", a.dump(), " there, but ", b.dump(),
                " here; resume with the settings and the data it was begun ",
                "with, or remove it to train from the start");
  }
}

/// Where a checkpoint says all but its numbers, for messages.
std::string where_in(const SafetensorsFile& file) {
  return file.name() + ": " + kCheckpointKey;
}

/// All but the numbers of a checkpoint whose format this program reads.
Json read_progress(const SafetensorsFile& file) {
  RADIR_CHECK(file.metadata().count(kCheckpointKey) == 1, IoError, file.name(),
              ": is a safetensors file, but not a checkpoint of radir (its "
              "metadata has no \"",
              kCheckpointKey, "\")");
  Json document = files::parse_json<Json>(where_in(file),
                                          file.metadata(kCheckpointKey), {});
  files::JsonObject json(document, where_in(file));
  const std::int64_t format = json.integer("format");
  const std::string program = json.text("program");
  RADIR_CHECK(format >= kVersionOfAllEpochs && format <= kCheckpointVersion,
              IoError, file.name(), ": the checkpoint has format ", format,
              ", but this program (version ", version(), ") reads format ",
              kCheckpointVersion, "; use the program that wrote it (version ",
              program, ")");
  return document;
}

template <typename T>
TrainerProgress<T> read_checkpoint(const SafetensorsFile& file,
                                   const std::string& configuration) {
  const Json document = read_progress(file);
  files::JsonObject json(document, where_in(file));
  json.at("format");
  json.at("program");
  check_configuration(file.name(), json.section("configuration"),
                      configuration);
  TrainerProgress<T> progress;
  progress.state.seed = json.seed("seed");
  progress.state.step = json.integer("step");
  progress.selected_epoch = json.integer("selected_epoch");
  progress.epoch_nll = json.number("epoch_nll");
  json.finish();
  progress.state.parameters = column<T>(file, kParameters);
  progress.parameters = column<T>(file, kSelectedParameters);
  for (const auto& [name, tensor] : file.tensors()) {
    if (!is_optimizer_slot(name)) continue;
    progress.state.optimizer.slots[name] = column<T>(file, name.c_str());
  }
  progress.history = read_history(file);
  return progress;
}

}  // namespace

template <typename T>
void write_checkpoint(const std::string& path,
                      const TrainerProgress<T>& progress,
                      const std::string& configuration) {
  const HistoryColumns history(progress.history);
  const Json json = {{"format", history.is_thinned() ? kCheckpointVersion
                                                     : kVersionOfAllEpochs},
                     {"program", version()},
                     {"configuration", parse_configuration(configuration)},
                     {"seed", progress.state.seed},
                     {"step", progress.state.step},
                     {"selected_epoch", progress.selected_epoch},
                     {"epoch_nll", progress.epoch_nll}};
  SafetensorsWriter writer;
  writer.set_metadata(kCheckpointKey, json.dump());
  const auto add = [&writer](const std::string& name,
                             const std::vector<T>& values) {
    writer.add(name, {static_cast<std::int64_t>(values.size())}, values.data());
  };
  add(kParameters, progress.state.parameters);
  add(kSelectedParameters, progress.parameters);
  for (const auto& [name, values] : progress.state.optimizer.slots) {
    add(name, values);
  }
  history.add_to(writer);
  writer.write(path);
}

template <typename T>
TrainerProgress<T> read_checkpoint(const std::string& path,
                                   const std::string& configuration) {
  return read_checkpoint<T>(SafetensorsFile(path), configuration);
}

template <typename T>
TrainerProgress<T> read_checkpoint(const std::string& name,
                                   std::string_view bytes,
                                   const std::string& configuration) {
  return read_checkpoint<T>(SafetensorsFile(name, bytes), configuration);
}

std::vector<EpochReport> read_checkpoint_history(const std::string& path) {
  const SafetensorsFile file(path);
  read_progress(file);
  return read_history(file);
}

template void write_checkpoint(const std::string&,
                               const TrainerProgress<float>&,
                               const std::string&);
template void write_checkpoint(const std::string&,
                               const TrainerProgress<double>&,
                               const std::string&);
template TrainerProgress<float> read_checkpoint(const std::string&,
                                                const std::string&);
template TrainerProgress<double> read_checkpoint(const std::string&,
                                                 const std::string&);
template TrainerProgress<float> read_checkpoint(const std::string&,
                                                std::string_view,
                                                const std::string&);
template TrainerProgress<double> read_checkpoint(const std::string&,
                                                 std::string_view,
                                                 const std::string&);

}  // namespace radir::io

#include "radir/workflows/train_targets.h"

#include <algorithm>
#include <filesystem>
#include <optional>
#include <set>
#include <utility>

#include "radir/core/error.h"
#include "radir/core/shell_text.h"
#include "radir/data/table.h"
#include "radir/data/table_source.h"
#include "radir/files/atomic_file.h"
#include "radir/io/run_folder.h"
#include "radir/workflows/run_config.h"
#include "radir/workflows/run_findings.h"
#include "radir/workflows/run_report.h"
#include "radir/workflows/table_search.h"
#include "radir/workflows/table_settings.h"
#include "workflows/table_problem.h"
#include "workflows/train_command.h"

namespace radir::workflows {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;
using Note = std::function<void(const std::string&)>;
using Names = std::vector<std::string>;

bool has(const Names& names, const std::string& name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

/// A reference that is no column itself is cut at its commas.
Names cut(const std::string& reference, const Names& columns) {
  if (has(columns, reference)) return {reference};
  Names parts;
  for (std::size_t begin = 0; begin <= reference.size();) {
    const std::size_t end =
        std::min(reference.find(',', begin), reference.size());
    parts.push_back(reference.substr(begin, end - begin));
    begin = end + 1;
  }
  return parts;
}

/// What `work` returns. Its errors begin with the name of the target.
template <typename Work>
auto for_target(const std::string& target, const Work& work) {
  const std::string prefix = "target \"" + target + "\": ";
  try {
    return work();
  } catch (const ArgumentError& error) {
    detail::throw_error<ArgumentError>(prefix, error.what());
  } catch (const IoError& error) {
    detail::throw_error<IoError>(prefix, error.what());
  } catch (const NumericalError& error) {
    detail::throw_error<NumericalError>(prefix, error.what());
  } catch (const UnsupportedError& error) {
    detail::throw_error<UnsupportedError>(prefix, error.what());
  } catch (const DomainError& error) {
    detail::throw_error<DomainError>(prefix, error.what());
  }
}

/// The columns of the options that are no targets, by their names.
struct OtherColumns {
  Names exclude, include, id, weights;

  OtherColumns(const TrainTableOptions& options, const Names& columns) {
    const data::TableSource source = source_of(options);
    const auto names_of = [&](const Names& references) {
      Names names;
      for (const std::string& reference : references) {
        if (reference.empty()) continue;
        names.push_back(
            columns[data::find_column(source.name(), columns, reference)]);
      }
      return names;
    };
    exclude = names_of(options.exclude);
    include = names_of(options.include);
    id = names_of({options.id});
    weights = names_of({options.weights});
  }
};

void check_targets(const TrainTableOptions& options, const Names& targets) {
  const data::TableSource source = source_of(options);
  const Names columns = data::column_names(source);
  const OtherColumns others(options, columns);
  for (const std::string& target : targets) {
    const auto check = [&](const Names& names, const char* option,
                           const char* why) {
      RADIR_CHECK(!has(names, target), ArgumentError, source.name(),
                  ": the column \"", target, "\" is a target, so it cannot ",
                  why, "; take it out of ", option, " or of --target");
    };
    check(others.exclude, "--exclude", "be excluded");
    check(others.include, "--include", "be an input");
    check(others.id, "--id", "name the rows");
    check(others.weights, "--weights", "hold weights");
  }
  const auto is_input = [&](const std::string& name) {
    return !has(targets, name) && !has(others.exclude, name) &&
           !has(others.id, name) && !has(others.weights, name) &&
           (others.include.empty() || has(others.include, name));
  };
  RADIR_CHECK(std::any_of(columns.begin(), columns.end(), is_input),
              ArgumentError, source.name(),
              ": no column is left as an input; name fewer targets");
}

/// Those of the run of one target.
TrainTableOptions options_of(const TrainTableOptions& options,
                             const Names& targets, const std::string& target) {
  TrainTableOptions own = options;
  own.target = target;
  for (const std::string& other : targets) {
    if (other != target) own.other_targets.push_back(other);
  }
  return own;
}

/// Whether training has left nothing there to resume from.
bool is_untouched(const io::TargetRun& run) {
  const Names names = io::RunFolder::names_in(run.path);
  return std::all_of(names.begin(), names.end(), [](const std::string& name) {
    return name == "config.json" || name == "lock";
  });
}

/// Removes runs in which nothing was done, with the folder that lists them.
void discard_untouched(const io::RunFolder& folder,
                       const std::vector<io::TargetRun>& runs) {
  if (!std::all_of(runs.begin(), runs.end(), is_untouched)) return;
  std::error_code error;
  for (const io::TargetRun& run : runs) {
    if (io::RunFolder::is_begun(run.path)) {
      io::RunFolder::open(run.path).discard_if_nothing_done();
    }
    fs::remove(run.path, error);  // where it is empty
  }
  fs::remove(fs::path(runs.front().path).parent_path(), error);
  folder.discard_if_nothing_done();
}

Json config_of(const TrainTableOptions& options,
               const std::vector<io::TargetRun>& runs) {
  const Json data = {{"source", source_of(options).name()}};
  const Json command = {{"name", kTrainCommand}};
  Json config = workflows::run_config(data, command);
  config["targets"] = io::to_json(runs);
  return config;
}

/// The first part of the table that can be read only once, if there is one.
std::optional<std::string> read_only_once(const TrainTableOptions& options) {
  std::error_code error;
  for (const std::string& part : source_of(options).parts) {
    if (part == "-") return "standard input";
    const fs::file_status status = fs::status(part, error);
    if (fs::exists(status) && !fs::is_regular_file(status) &&
        !fs::is_directory(status)) {
      return part;
    }
  }
  return std::nullopt;
}

/// Each target reads the table again.
void check_readable_again(const TrainTableOptions& options) {
  const auto once = read_only_once(options);
  RADIR_CHECK(!once, ArgumentError, once.value_or(""),
              " can be read only once; for several targets, write it to a ",
              "file");
}

/// Several workers would each have to know which target the others train.
void check_alone(const RunPlace& place) {
  RADIR_CHECK(place.shared == nullptr, ArgumentError,
              "several workers train one target at a time; give them the run ",
              "of one, or train without radir launch");
}

}  // namespace

Names target_columns(const TrainTableOptions& options,
                     const Names& references) {
  // The name of one target may have a comma.
  if (references.size() == 1 && read_only_once(options)) return references;
  check_readable_again(options);
  const data::TableSource source = source_of(options);
  const Names columns = data::column_names(source);
  Names targets;
  for (const std::string& reference : references) {
    for (const std::string& part : cut(reference, columns)) {
      const std::string& name =
          columns[data::find_column(source.name(), columns, part)];
      RADIR_CHECK(!has(targets, name), ArgumentError, source.name(),
                  ": the target \"", name, "\" is named twice");
      targets.push_back(name);
    }
  }
  return targets;
}

class TargetsTraining::Impl {
 public:
  Impl(io::RunFolder folder, std::vector<io::TargetRun> runs, RunPlace place)
      : folder_(std::move(folder)), runs_(std::move(runs)), place_(place) {}

  const std::vector<io::TargetRun>& targets() const { return runs_; }

  /// Where the table is now, and who hears about finished runs.
  void set_resumed(const std::string& table, const Note& note) {
    check_begun();
    is_resumed_ = true;
    table_ = table;
    note_ = note;
  }

  TrainTargetsResult run(const TrainTargetsHooks& hooks,
                         const Execution& execution) {
    TrainTargetsResult result;
    result.run = folder_.path();
    try {
      for (std::size_t i = 0; i < runs_.size(); ++i) {
        result.targets.push_back(train(i, hooks, execution));
      }
    } catch (const Interrupted&) {
      const std::string& words = hooks.training.checkpoints.resume_words;
      detail::throw_error<Interrupted>(
          "stopped; resume with: radir train --resume ",
          shell_word(folder_.path()), words.empty() ? "" : " " + words);
    } catch (const IoError&) {
      throw;
    } catch (...) {
      if (!is_resumed_) discard_untouched(folder_, runs_);
      throw;
    }
    result.report = written_report(hooks);
    return result;
  }

 private:
  void check_begun() const {
    const auto is_begun = [](const io::TargetRun& run) {
      return io::RunFolder::is_begun(run.path);
    };
    const auto gone = std::find_if_not(runs_.begin(), runs_.end(), is_begun);
    if (gone == runs_.end()) return;
    // Nothing is trained before all are begun.
    RADIR_CHECK(!std::all_of(runs_.begin(), runs_.end(), is_untouched), IoError,
                folder_.path(), ": was stopped before any training; remove ",
                "the folder and start the run again");
    detail::throw_error<IoError>(
        folder_.path(), ": the run of its target \"", gone->target,
        "\" is gone; begin it again, with the other targets excluded: radir ",
        "train TABLE --target ", shell_word(gone->target),
        " --exclude COLUMN,... --out ", shell_word(gone->path));
  }

  TrainTableResult train(std::size_t place, const TrainTargetsHooks& hooks,
                         const Execution& execution) {
    const io::TargetRun& run = runs_[place];
    return for_target(run.target, [&] {
      TableTraining training =
          TableTraining::resume(run.path, note_, table_, place_);
      if (hooks.on_target) hooks.on_target(place, training.columns());
      return training.run(hooks.training, execution);
    });
  }

  /// The page about all targets; a failure to write it loses nothing.
  std::string written_report(const TrainTargetsHooks& hooks) const {
    try {
      const std::string file = report_file(folder_);
      files::write_file(file, report_run(folder_.path()).page);
      return file;
    } catch (const IoError& error) {
      const auto& warn = hooks.training.checkpoints.warn;
      if (warn)
        warn(std::string("the report was not written: ") + error.what());
      return "";
    }
  }

  io::RunFolder folder_;
  std::vector<io::TargetRun> runs_;
  RunPlace place_;
  bool is_resumed_ = false;
  std::string table_;
  Note note_;
};

TargetsTraining::TargetsTraining(std::unique_ptr<Impl> impl)
    : impl_(std::move(impl)) {}
TargetsTraining::~TargetsTraining() = default;
TargetsTraining::TargetsTraining(TargetsTraining&&) noexcept = default;
TargetsTraining& TargetsTraining::operator=(TargetsTraining&&) noexcept =
    default;

TargetsTraining TargetsTraining::begin(TrainTableOptions options,
                                       const Names& targets, std::string out,
                                       const Note& note,
                                       const RunPlace& place) {
  check_alone(place);
  check_readable_again(options);
  const std::set<std::string> names(targets.begin(), targets.end());
  RADIR_CHECK(names.size() > 1 && names.size() == targets.size(), ArgumentError,
              "several targets are two at least, each named once");
  if (out.empty()) out = free_run_name(options.table);
  check_free(out);
  check(options.settings);
  check_tuning(options.tune, options.tune_for, options.tune_budget);
  check_targets(options, targets);
  const auto runs = io::new_target_runs(out, targets);
  io::RunFolder folder = begin_run(out, config_of(options, runs), place);
  try {
    for (const io::TargetRun& run : runs) {
      const Note own = [&](const std::string& text) {
        note(run.target + ": " + text);
      };
      for_target(run.target, [&] {
        return TableTraining::begin(options_of(options, targets, run.target),
                                    run.path, note ? own : nullptr, place);
      });
    }
  } catch (...) {
    discard_untouched(folder, runs);
    throw;
  }
  return TargetsTraining(
      std::make_unique<Impl>(std::move(folder), runs, place));
}

TargetsTraining TargetsTraining::resume(const std::string& run,
                                        const Note& note,
                                        const std::string& table,
                                        const RunPlace& place) {
  check_alone(place);
  io::RunFolder folder = io::RunFolder::open(run);
  auto runs = io::target_runs(run);
  RADIR_CHECK(!runs.empty(), ArgumentError, run, ": has one target");
  auto impl = std::make_unique<Impl>(std::move(folder), std::move(runs), place);
  impl->set_resumed(table, note);
  return TargetsTraining(std::move(impl));
}

const std::vector<io::TargetRun>& TargetsTraining::targets() const {
  return impl_->targets();
}

TrainTargetsResult TargetsTraining::run(const TrainTargetsHooks& hooks,
                                        const Execution& execution) {
  return impl_->run(hooks, execution);
}

}  // namespace radir::workflows

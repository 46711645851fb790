#include "workflows/table_problem.h"

#include <numeric>
#include <utility>

#include "radir/core/error.h"
#include "radir/data/row_order.h"
#include "radir/files/sha256.h"
#include "radir/workflows/conformal.h"
#include "radir/workflows/row_weights.h"
#include "radir/workflows/table_fit.h"

namespace radir::workflows {
namespace {

data::Table read(TrainTableOptions& options) {
  data::TableOptions table_options;
  table_options.categorical = options.categorical;
  table_options.skip = options.exclude;
  table_options.skip.insert(table_options.skip.end(),
                            options.other_targets.begin(),
                            options.other_targets.end());
  if (!options.id.empty()) table_options.skip.push_back(options.id);
  table_options.only = options.include;
  if (!options.include.empty() && !options.weights.empty()) {
    table_options.only.push_back(options.weights);
  }
  table_options.target = options.target;
  table_options.as_is = options.as_is;
  data::Table table = data::read_source(source_of(options), table_options,
                                        options.settings.seed);
  const std::vector<std::string>& names = table.file_columns();
  for (std::string* column : {&options.target, &options.id, &options.weights}) {
    if (column->empty()) continue;
    *column = names[data::find_column(table.source(), names, *column)];
  }
  RADIR_CHECK(options.weights.empty() || options.weights != options.target,
              ArgumentError, table.source(), ": the column \"", options.weights,
              "\" is the target, so it cannot hold weights");
  return table;
}

bool has_weights(const TrainTableOptions& options) {
  return !options.weights.empty() || !options.class_weights.empty();
}

/// The rows to fit to, each as often as it counts.
std::vector<std::int64_t> counted_rows(const TrainTableOptions& options,
                                       data::Table& table) {
  std::vector<std::int64_t> weights;
  if (!options.weights.empty()) {
    weights = take_row_weights(table, options.weights);
  }
  if (!options.class_weights.empty()) {
    weights = times_class_weights(table, options.target, options.class_weights,
                                  std::move(weights));
  }
  return repeated_rows(data::content_order(table, weights), weights);
}

/// Likewise without weights. Version 0.1 took rows as they stand.
std::vector<std::int64_t> rows_once(const TrainTableOptions& options,
                                    const data::Table& table) {
  if (!options.as_is) return data::content_order(table);
  std::vector<std::int64_t> rows(static_cast<std::size_t>(table.rows()));
  std::iota(rows.begin(), rows.end(), 0);
  return rows;
}

}  // namespace

data::TableSource source_of(const TrainTableOptions& options) {
  data::TableSource source(options.table);
  source.parts.insert(source.parts.end(), options.more_tables.begin(),
                      options.more_tables.end());
  source.header = options.header;
  return source;
}

void TableProblem::encode_for(const TableSettings& settings) {
  workflows::encode_for(settings, *table, encoder, rows,
                        aside ? &*aside : nullptr);
  data["inputs"] = encoder.input_size();
  data["columns"] = data::to_json(data::describe_columns(encoder));
}

TableProblem load_problem(TrainTableOptions& options,
                          const std::function<void(const std::string&)>& note) {
  TableProblem problem;
  problem.table = read(options);
  if (options.conformal) {
    ConformalRows rows = set_aside(*problem.table, options.target,
                                   options.missing, options.settings.seed);
    problem.encoder = std::move(rows.encoder);
    problem.rows = std::move(rows.fitted);
    problem.aside = std::move(rows.aside);
  } else {
    const auto rows = has_weights(options)
                          ? counted_rows(options, *problem.table)
                          : rows_once(options, *problem.table);
    problem.encoder = data::TableEncoder::fit(*problem.table, options.target,
                                              options.missing, rows);
    problem.rows = problem.encoder.encode(*problem.table, true, rows);
  }
  for (const std::string& target : options.other_targets) {
    problem.encoder.set_note(target, "a target with a model of its own");
  }
  if (!options.weights.empty()) {
    problem.encoder.set_note(options.weights, "says how often a row counts");
  }
  if (!options.id.empty()) problem.encoder.set_id(options.id);
  if (note) {
    for (const std::string& text : problem.encoder.notes()) note(text);
  }
  workflows::encode_for(options.settings, *problem.table, problem.encoder,
                        problem.rows,
                        problem.aside ? &*problem.aside : nullptr);
  problem.data = {
      {"source", source_of(options).name()},
      {"target", options.target},
      {"rows", problem.rows.count},
      {"inputs", problem.encoder.input_size()},
      {"fingerprint", fingerprint(problem.rows)},
      {"encoding", files::sha256(problem.encoder.to_json())},
      {"columns", data::to_json(data::describe_columns(problem.encoder))}};
  if (problem.aside) {
    problem.data["rows_aside"] = problem.aside->count;
    problem.data["fingerprint_aside"] = fingerprint(*problem.aside);
  }
  return problem;
}

}  // namespace radir::workflows

#include "workflows/table_problem.h"

#include <utility>

#include "radir/core/error.h"
#include "radir/files/sha256.h"
#include "radir/workflows/conformal.h"
#include "radir/workflows/table_fit.h"

namespace radir::workflows {
namespace {

data::Table read(TrainTableOptions& options) {
  data::TableOptions table_options;
  table_options.categorical = options.categorical;
  table_options.skip = options.exclude;
  if (!options.id.empty()) table_options.skip.push_back(options.id);
  table_options.only = options.include;
  table_options.target = options.target;
  table_options.as_is = options.as_is;
  data::Table table = data::read_source(source_of(options), table_options,
                                        options.settings.seed);
  const std::vector<std::string>& names = table.file_columns();
  for (std::string* column : {&options.target, &options.id}) {
    if (column->empty()) continue;
    *column = names[data::find_column(table.source(), names, *column)];
  }
  return table;
}

}  // namespace

data::TableSource source_of(const TrainTableOptions& options) {
  data::TableSource source(options.table);
  source.parts.insert(source.parts.end(), options.more_tables.begin(),
                      options.more_tables.end());
  source.header = options.header;
  return source;
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
    problem.encoder = data::TableEncoder::fit(*problem.table, options.target,
                                              options.missing);
    problem.rows = problem.encoder.encode(*problem.table, true);
  }
  if (!options.id.empty()) problem.encoder.set_id(options.id);
  if (note) {
    for (const std::string& text : problem.encoder.notes()) note(text);
  }
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

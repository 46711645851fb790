#include "radir/workflows/table_model.h"

#include <algorithm>

#include "radir/core/error.h"
#include "radir/data/column_code.h"
#include "radir/io/model_file.h"
#include "radir/likelihood/likelihood.h"
#include "radir/likelihood/options.h"
#include "radir/likelihood/predictive_mixture.h"
#include "radir/train/evaluation.h"
#include "radir/train/model.h"
#include "radir/workflows/predict_table.h"
#include "radir/workflows/table_predictor.h"

namespace radir::workflows {
namespace {

void check_column(const data::Table& table, const data::ColumnCode& code) {
  const data::Column& column = table.column(code.name);
  // The encoder reads dates that are text.
  const bool text_of_date = code.type == data::ColumnType::Date &&
                            column.type() == data::ColumnType::Categorical;
  RADIR_CHECK(column.type() == code.type || text_of_date, IoError,
              table.source(), ": the column \"", code.name, "\" is ",
              data::to_string(column.type()), ", but the model needs it ",
              data::to_string(code.type),
              "; give its type when the table is read (TableOptions::types)");
}

/// Throws IoError unless the noise of each network is a distribution: a model
/// file can hold finite parameters that give none.
void check_noise(const std::string& name, const TableModel& model,
                 const train::Model& network) {
  const std::vector<float> outputs(
      static_cast<std::size_t>(network.output_size()), 0.0F);
  for (std::size_t k = 0; k < model.networks.size(); ++k) {
    const std::vector<double> own =
        train::likelihood_parameters(network, model.networks[k]);
    std::vector<likelihood::MixtureComponent> components;
    network.likelihood().add_components(
        {outputs.data(), network.output_size(), 1, network.output_size()},
        own.data(), components);
    try {
      likelihood::PredictiveMixture noise(std::move(components));
    } catch (const ArgumentError&) {
      detail::throw_error<IoError>(
          name, ": the likelihood's parameters of network ", k + 1,
          " give no noise with a finite variance; the file is damaged");
    }
  }
}

}  // namespace

void check_table(const data::TableEncoder& encoder, const data::Table& table,
                 bool with_target) {
  encoder.check_columns(table.source(), table.column_names(), with_target);
  for (const data::ColumnCode& code : encoder.inputs()) {
    check_column(table, code);
  }
  if (with_target) check_column(table, encoder.target());
}

void RowList::add(const std::vector<std::int64_t>& rows,
                  std::int64_t rows_before) {
  count += static_cast<std::int64_t>(rows.size());
  for (std::int64_t row : rows) {
    if (first.size() == kMostNamed) break;
    first.push_back(rows_before + row + 1);
  }
}

std::string RowList::names() const {
  std::string text = count == 1 ? "row" : "rows";
  const std::int64_t others = count - static_cast<std::int64_t>(first.size());
  for (std::size_t i = 0; i < first.size(); ++i) {
    const bool last = i > 0 && i + 1 == first.size() && others == 0;
    text += (i == 0 ? " " : last ? " and " : ", ") + std::to_string(first[i]);
  }
  return others == 0 ? text : text + " and " + std::to_string(others) + " more";
}

void add_unseen(const std::vector<data::UnseenLevels>& chunk,
                std::int64_t rows_before,
                std::vector<data::UnseenLevels>& total) {
  for (const data::UnseenLevels& levels : chunk) {
    const auto known = std::find_if(total.begin(), total.end(),
                                    [&](const data::UnseenLevels& other) {
                                      return other.column == levels.column;
                                    });
    if (known != total.end()) {
      known->count += levels.count;
    } else {
      total.push_back(levels);
      total.back().first_row += rows_before;
    }
  }
}

const std::vector<std::string>& TableModel::classes() const {
  return encoder.target().categories;
}

TablePrediction TableModel::predict(const data::Table& table,
                                    const TablePredictionOptions& options,
                                    ThreadPool* pool) const {
  check_table(encoder, table, /*with_target=*/false);
  TablePredictor predictor(*this, options.samples, options.seed, pool);
  return predict_rows(predictor, table, options.quantiles);
}

TableMetrics TableModel::evaluate(const data::Table& table,
                                  const TablePredictionOptions& options,
                                  ThreadPool* pool) const {
  check_table(encoder, table, /*with_target=*/true);
  TablePredictor predictor(*this, options.samples, options.seed, pool);
  TableScores scores(encoder, correction);
  RowList left_out;
  left_out.add(scores.add(predictor, encoder.encode(table, true)), 0);
  RADIR_CHECK(left_out.count == 0, NumericalError, table.source(), ": ",
              left_out.names(), " cannot be scored: values there are too ",
              "large for a float; correct or remove them");
  return scores.metrics();
}

void TableModel::save(const std::string& path) const {
  io::write_model(path, saved_model(*this));
}

io::SavedModel saved_model(const TableModel& model) {
  io::SavedModel saved;
  saved.spec = model.spec;
  saved.networks = model.networks;
  saved.weights = model.weights;
  saved.preprocessing = model.encoder.to_json();
  saved.conformal = model.correction.probabilities();
  saved.training_rows = model.seen_rows.to_json();
  return saved;
}

TableModel load_table_model(const std::string& path) {
  const std::string file = io::model_path(path);
  return table_model(file, io::read_model(file));
}

TableModel table_model(const std::string& name, io::SavedModel saved) {
  TableModel model;
  try {
    model.encoder = data::TableEncoder::from_json(saved.preprocessing);
  } catch (const IoError& error) {
    detail::throw_error<IoError>(name, ": ", error.what());
  }
  model.spec = std::move(saved.spec);
  model.networks = std::move(saved.networks);
  model.weights = std::move(saved.weights);
  const train::Model network(model.spec);
  const bool classes =
      model.spec.likelihood.kind == likelihood::Kind::Categorical;
  RADIR_CHECK(
      network.input_size() == model.encoder.input_size() &&
          classes == model.encoder.is_classification() &&
          (classes ? network.output_size() == model.encoder.target().width()
                   : network.target_size() == 1),
      IoError, name,
      ": its preprocessing does not fit its network; the file is "
      "damaged");
  if (!classes) check_noise(name, model, network);
  model.seen_rows =
      SeenRows::from_json(name + ": training_rows", saved.training_rows);
  if (!saved.conformal.empty()) {
    RADIR_CHECK(!classes, IoError, name,
                ": corrects quantiles, but predicts classes; the file is ",
                "damaged");
    model.correction =
        likelihood::QuantileCorrection(std::move(saved.conformal));
  }
  return model;
}

}  // namespace radir::workflows

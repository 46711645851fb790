#include <algorithm>
#include <limits>
#include <nlohmann/json.hpp>

#include "c_api/guard.h"
#include "c_api/model.h"
#include "c_api/table.h"
#include "radir/core/error.h"
#include "radir/data/table.h"
#include "radir/data/table_encoder.h"
#include "radir/likelihood/class_prediction.h"
#include "radir/likelihood/predictive_mixture.h"
#include "radir/likelihood/quantile_correction.h"
#include "radir/workflows/table_model.h"
#include "radir/workflows/table_predictor.h"

namespace radir::c_api {
namespace {

/// With it no size overflows before memory is asked for.
constexpr std::int64_t kMostSamples = 1'000'000'000;

/// The caller's options with every choice made.
radir_predict_options options_of(const radir_predict_options* given) {
  radir_predict_options options = {};
  if (given != nullptr) options = *given;
  if (options.samples == 0) {
    options.samples = workflows::TablePredictionOptions().samples;
  }
  RADIR_CHECK(options.samples > 0 && options.samples <= kMostSamples &&
                  options.threads >= 0 && options.threads <= 1024,
              ArgumentError, "predictions need from 1 to ", kMostSamples,
              " samples and from 0 to 1024 threads, but got ", options.samples,
              " and ", options.threads);
  return options;
}

/// Writes one number of a row where the caller wants it.
void put(double* array, std::size_t at, double value) {
  if (array != nullptr) array[at] = value;
}

void check_request(const radir_prediction& want, bool classes) {
  const bool numbers = want.mean != nullptr || want.sd != nullptr ||
                       want.epistemic_sd != nullptr ||
                       want.aleatoric_sd != nullptr ||
                       want.quantiles != nullptr || want.values != nullptr;
  const bool class_numbers = want.class_probabilities != nullptr ||
                             want.entropy != nullptr ||
                             want.mutual_information != nullptr;
  RADIR_CHECK(!(classes && numbers), ArgumentError,
              "the model predicts classes: it has no means or quantiles");
  RADIR_CHECK(classes || !class_numbers, ArgumentError,
              "the model predicts a number: it has no class probabilities");
  if (want.quantiles != nullptr) {
    check_pointer(want.probabilities, "probabilities");
    RADIR_CHECK(want.probability_count >= 0, ArgumentError,
                "probability_count must be at least 0, but is ",
                want.probability_count);
    for (std::int64_t q = 0; q < want.probability_count; ++q) {
      const double probability = want.probabilities[q];
      RADIR_CHECK(probability > 0 && probability < 1, ArgumentError,
                  "quantiles must be above 0 and below 1, but got ",
                  probability);
    }
  }
  const bool of_values = want.log_density != nullptr || want.cdf != nullptr ||
                         want.crps != nullptr;
  if (of_values) check_pointer(want.values, "values");
}

/// NaN for all rows; those with a prediction are overwritten.
void clear(const radir_prediction& want, std::int64_t rows,
           std::int64_t classes) {
  const auto fill = [&](double* array, std::int64_t width) {
    if (array == nullptr) return;
    std::fill_n(array, rows * width, std::numeric_limits<double>::quiet_NaN());
  };
  for (double* array : {want.mean, want.sd, want.epistemic_sd,
                        want.aleatoric_sd, want.log_density, want.cdf,
                        want.crps, want.entropy, want.mutual_information}) {
    fill(array, 1);
  }
  fill(want.quantiles, want.probability_count);
  fill(want.class_probabilities, classes);
}

void write_number(const radir_prediction& want, std::size_t row,
                  const likelihood::PredictiveMixture& p,
                  const likelihood::QuantileCorrection& correction) {
  put(want.mean, row, p.mean());
  put(want.sd, row, p.standard_deviation());
  put(want.epistemic_sd, row, p.epistemic_deviation());
  put(want.aleatoric_sd, row, p.aleatoric_deviation());
  if (want.quantiles != nullptr) {
    const auto count = static_cast<std::size_t>(want.probability_count);
    for (std::size_t q = 0; q < count; ++q) {
      want.quantiles[row * count + q] =
          p.quantile(correction(want.probabilities[q]));
    }
  }
  if (want.values == nullptr) return;
  const double value = want.values[row];
  if (want.log_density != nullptr) {
    want.log_density[row] = p.log_density(value);
  }
  if (want.cdf != nullptr) want.cdf[row] = p.cdf(value);
  if (want.crps != nullptr) want.crps[row] = p.crps(value);
}

void write_class(const radir_prediction& want, std::size_t row,
                 const likelihood::ClassPrediction& p) {
  if (want.class_probabilities != nullptr) {
    std::copy(p.probabilities.begin(), p.probabilities.end(),
              want.class_probabilities + row * p.probabilities.size());
  }
  put(want.entropy, row, p.entropy);
  put(want.mutual_information, row, p.mutual_information);
}

void predict(ModelObject& object, const data::Table& table,
             const radir_predict_options& options,
             const radir_prediction& want) {
  const data::TableEncoder& encoder = object.model().encoder;
  check_request(want, encoder.is_classification());
  workflows::check_table(encoder, table, /*with_target=*/false);
  const data::EncodedRows rows = encoder.encode(table, false);
  clear(want, table.rows(),
        static_cast<std::int64_t>(object.model().classes().size()));
  const auto row_of = [&](std::int64_t i) {
    return static_cast<std::size_t>(
        rows.table_rows[static_cast<std::size_t>(i)]);
  };
  object.predict(options, [&](workflows::TablePredictor& predictor) {
    if (encoder.is_classification()) {
      predictor.classification(
          rows, [&](std::int64_t i, const likelihood::ClassPrediction& p) {
            write_class(want, row_of(i), p);
          });
    } else {
      predictor.regression(
          rows, [&](std::int64_t i, const likelihood::PredictiveMixture& p) {
            write_number(want, row_of(i), p, predictor.correction());
          });
    }
  });
}

std::string evaluate(ModelObject& object, const data::Table& table,
                     const radir_predict_options& options) {
  const data::TableEncoder& encoder = object.model().encoder;
  workflows::check_table(encoder, table, /*with_target=*/true);
  const data::EncodedRows rows = encoder.encode(table, true);
  workflows::TableScores scores(encoder, object.model().correction);
  object.predict(options, [&](workflows::TablePredictor& predictor) {
    scores.add(predictor, rows);
  });
  nlohmann::ordered_json json = {{"rows", scores.count()}};
  for (const auto& [name, value] : scores.metrics()) json[name] = value;
  return json.dump();
}

}  // namespace

// The functions of the interface.
extern "C" {

radir_status radir_model_predict(radir_model model, radir_table table,
                                 const radir_predict_options* options,
                                 const radir_prediction* prediction) {
  return guarded([&] {
    check_pointer(prediction, "prediction");
    predict(*model_of(model), *table_of(table), options_of(options),
            *prediction);
  });
}

radir_status radir_model_predict_matrix(radir_model model, radir_type type,
                                        const void* values, int64_t rows,
                                        int64_t columns, int64_t row_stride,
                                        int64_t column_stride,
                                        const radir_predict_options* options,
                                        const radir_prediction* prediction) {
  return guarded([&] {
    check_pointer(prediction, "prediction");
    const auto object = model_of(model);
    const data::Table table(
        "matrix",
        matrix_columns(type, values, rows, columns, row_stride, column_stride));
    predict(*object, table, options_of(options), *prediction);
  });
}

radir_status radir_model_evaluate(radir_model model, radir_table table,
                                  const radir_predict_options* options,
                                  char* text, int64_t capacity,
                                  int64_t* length) {
  return guarded([&] {
    copy_text(evaluate(*model_of(model), *table_of(table), options_of(options)),
              text, capacity, length);
  });
}

}  // extern "C"
}  // namespace radir::c_api

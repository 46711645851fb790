#include "radir/workflows/column_curves.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "radir/core/error.h"
#include "radir/data/column_code.h"
#include "radir/data/table.h"
#include "radir/files/json_object.h"
#include "radir/likelihood/class_prediction.h"
#include "radir/likelihood/predictive_mixture.h"
#include "radir/workflows/table_predictor.h"
#include "workflows/encoded_subset.h"
#include "workflows/json_numbers.h"

namespace radir::workflows {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::int64_t kCurveRows = 50;
constexpr std::int64_t kCurveSamples = 50;
constexpr std::size_t kCurvePoints = 21;
constexpr std::size_t kMostCurveLevels = 12;
constexpr std::size_t kMostCurveClasses = 6;

/// Where a column's inputs are in an encoded row.
struct Place {
  std::int64_t first = 0;
  const data::ColumnCode* code = nullptr;

  bool is_numeric() const { return code->type == data::ColumnType::Numeric; }
  /// Whether each of its levels has an input.
  bool has_levels() const {
    return code->type == data::ColumnType::Categorical &&
           code->width() >= static_cast<std::int64_t>(code->categories.size());
  }
};

Place place_of(const data::TableEncoder& encoder, std::size_t column) {
  Place place;
  for (std::size_t c = 0; c < column; ++c) {
    place.first += encoder.inputs()[c].width();
  }
  place.code = &encoder.inputs()[column];
  return place;
}

/// Encoded values from the 2 % to the 98 % quantile of the rows.
std::vector<float> grid(const data::EncodedRows& rows, std::int64_t inputs,
                        std::int64_t first) {
  std::vector<float> values;
  for (std::int64_t row = 0; row < rows.count; ++row) {
    values.push_back(
        rows.inputs[static_cast<std::size_t>(row * inputs + first)]);
  }
  std::sort(values.begin(), values.end());
  const auto quantile = [&](double share) {
    return values[static_cast<std::size_t>(
        share * static_cast<double>(values.size() - 1) + 0.5)];
  };
  const float lowest = quantile(0.02), highest = quantile(0.98);
  if (!(lowest < highest)) return {lowest};
  std::vector<float> points;
  for (std::size_t i = 0; i < kCurvePoints; ++i) {
    const float t =
        static_cast<float>(i) / static_cast<float>(kCurvePoints - 1);
    points.push_back((1 - t) * lowest + t * highest);
  }
  return points;
}

/// Adds the point of the rows, which all have the same value of the column.
void add_number(TablePredictor& predictor, const data::EncodedRows& rows,
                ColumnCurve& curve) {
  const auto row_count = static_cast<std::size_t>(rows.count);
  std::vector<std::vector<double>> locations(row_count), weights(row_count);
  std::vector<double> variances(row_count);
  predictor.regression(
      rows, [&](std::int64_t row, const likelihood::PredictiveMixture& p) {
        const auto at = static_cast<std::size_t>(row);
        double total = 0;
        for (const likelihood::MixtureComponent& c : p.components()) {
          total += c.weight;
        }
        for (const likelihood::MixtureComponent& c : p.components()) {
          locations[at].push_back(p.draw_mean(c));
          weights[at].push_back(c.weight / total);
        }
        variances[at] = p.aleatoric_deviation() * p.aleatoric_deviation();
      });
  // Of each draw, over the rows.
  std::vector<double> means, shares;
  double variance = 0, count = 0;
  for (std::size_t row = 0; row < locations.size(); ++row) {
    if (locations[row].empty()) continue;
    means.resize(locations[row].size());
    shares.resize(means.size());
    for (std::size_t d = 0; d < means.size(); ++d) {
      means[d] += locations[row][d];
      shares[d] += weights[row][d];
    }
    variance += variances[row];
    ++count;
  }
  double mean = 0, squares = 0;
  for (std::size_t d = 0; d < means.size(); ++d) {
    mean += (means[d] /= count) * (shares[d] /= count);
  }
  for (std::size_t d = 0; d < means.size(); ++d) {
    squares += (means[d] - mean) * (means[d] - mean) * shares[d];
  }
  curve.mean.push_back(mean);
  curve.epistemic.push_back(std::sqrt(squares));
  curve.aleatoric.push_back(std::sqrt(variance / count));
}

void add_classes(TablePredictor& predictor, const data::EncodedRows& rows,
                 ColumnCurve& curve) {
  std::vector<std::vector<double>> found(static_cast<std::size_t>(rows.count));
  predictor.classification(
      rows, [&](std::int64_t row, const likelihood::ClassPrediction& p) {
        found[static_cast<std::size_t>(row)] = p.probabilities;
      });
  for (std::size_t c = 0; c < curve.classes.size(); ++c) {
    double sum = 0, count = 0;
    for (const std::vector<double>& probabilities : found) {
      if (probabilities.empty()) continue;
      sum += probabilities[c];
      ++count;
    }
    curve.probabilities[c].push_back(sum / count);
  }
}

ColumnCurve curve_of(TablePredictor& predictor, const data::EncodedRows& rows,
                     const data::EncodedRows& all_rows, std::size_t column) {
  const data::TableEncoder& encoder = predictor.encoder();
  const std::int64_t inputs = encoder.input_size();
  const Place place = place_of(encoder, column);
  ColumnCurve curve;
  curve.column = place.code->name;
  if (encoder.is_classification()) {
    const auto& classes = encoder.target().categories;
    curve.classes.assign(
        classes.begin(),
        classes.begin() + static_cast<std::ptrdiff_t>(
                              std::min(classes.size(), kMostCurveClasses)));
    curve.probabilities.resize(curve.classes.size());
  }
  const auto add_point = [&](const std::vector<float>& code) {
    data::EncodedRows changed = rows;
    for (std::int64_t row = 0; row < rows.count; ++row) {
      std::copy(code.begin(), code.end(),
                changed.inputs.data() + row * inputs + place.first);
    }
    encoder.is_classification() ? add_classes(predictor, changed, curve)
                                : add_number(predictor, changed, curve);
  };
  if (place.is_numeric()) {
    for (const float value : grid(all_rows, inputs, place.first)) {
      curve.values.push_back(place.code->mean +
                             place.code->scale * static_cast<double>(value));
      std::vector<float> code(static_cast<std::size_t>(place.code->width()));
      data::encode_number(*place.code, curve.values.back(), code.data());
      code.front() = value;
      add_point(code);
    }
    return curve;
  }
  if (!place.has_levels()) return curve;
  const auto& levels = place.code->categories;
  for (std::size_t l = 0; l < std::min(levels.size(), kMostCurveLevels); ++l) {
    curve.levels.push_back(levels[l]);
    std::vector<float> code(static_cast<std::size_t>(place.code->width()));
    code[l] = 1;
    add_point(code);
  }
  return curve;
}

bool is_finite(const std::vector<double>& values) {
  return std::all_of(values.begin(), values.end(),
                     [](double value) { return std::isfinite(value); });
}

}  // namespace

std::vector<ColumnCurve> column_curves(const TableModel& model,
                                       const data::EncodedRows& rows,
                                       const std::vector<std::size_t>& columns,
                                       ThreadPool* pool) {
  const data::EncodedRows some =
      encoded_sample(rows, model.encoder.input_size(), kCurveRows);
  TablePredictor predictor(model, kCurveSamples, 0, pool);
  std::vector<ColumnCurve> curves;
  for (const std::size_t column : columns) {
    ColumnCurve curve = curve_of(predictor, some, rows, column);
    bool drawable = curve.values.size() + curve.levels.size() > 0 &&
                    is_finite(curve.mean) && is_finite(curve.epistemic) &&
                    is_finite(curve.aleatoric);
    for (const auto& values : curve.probabilities) {
      drawable = drawable && is_finite(values);
    }
    if (drawable) curves.push_back(std::move(curve));
  }
  return curves;
}

Json to_json(const std::vector<ColumnCurve>& curves) {
  Json list = Json::array();
  for (const ColumnCurve& curve : curves) {
    list.push_back({{"column", curve.column},
                    {"values", curve.values},
                    {"levels", curve.levels},
                    {"mean", curve.mean},
                    {"epistemic", curve.epistemic},
                    {"aleatoric", curve.aleatoric},
                    {"classes", curve.classes},
                    {"probabilities", curve.probabilities}});
  }
  return {{"curves", list}};
}

std::vector<ColumnCurve> column_curves_from_json(const std::string& where,
                                                 const std::string& text) {
  const Json document =
      files::parse_json<Json>(where, text, files::JsonLimits());
  files::JsonObject json(document, where);
  std::vector<ColumnCurve> curves;
  for (files::JsonObject& object : json.objects("curves")) {
    ColumnCurve curve;
    curve.column = object.text("column");
    curve.values = numbers_from_json(object, "values");
    curve.levels = object.strings("levels");
    const std::size_t points = curve.values.size() + curve.levels.size();
    const auto numbers = [&](const char* key) {
      std::vector<double> list = numbers_from_json(object, key);
      object.check_type(list.empty() || list.size() == points, key,
                        "as long as the values");
      return list;
    };
    curve.mean = numbers("mean");
    curve.epistemic = numbers("epistemic");
    curve.aleatoric = numbers("aleatoric");
    curve.classes = object.strings("classes");
    curve.probabilities = matrix_from_json<double>(
        object, "probabilities", curve.classes.size(), points);
    object.check_type(curve.classes.empty() != curve.mean.empty() &&
                          curve.mean.size() == curve.epistemic.size() &&
                          curve.mean.size() == curve.aleatoric.size() &&
                          (curve.values.empty() || curve.levels.empty()),
                      "mean", "given for a numeric target alone");
    object.finish();
    curves.push_back(std::move(curve));
  }
  json.finish();
  return curves;
}

}  // namespace radir::workflows

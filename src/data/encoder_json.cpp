#include <array>
#include <limits>
#include <optional>
#include <set>

#include "radir/core/error.h"
#include "radir/data/data_kind.h"
#include "radir/data/table_encoder.h"
#include "radir/files/json_object.h"
#include "radir/likelihood/target_transform.h"

// Encoders in model files. Keys that version 0.1 did not know are written only
// where they say something, so that its files and ours are the same otherwise.

namespace radir::data {
namespace {

using Json = files::JsonObject::Json;

constexpr std::int64_t kMostHashedInputs = 1 << 20;
constexpr double kLargest = std::numeric_limits<double>::max();

const std::pair<ColumnType, const char*> kCodedTypes[] = {
    {ColumnType::Numeric, to_string(ColumnType::Numeric)},
    {ColumnType::Categorical, to_string(ColumnType::Categorical)},
    {ColumnType::Date, to_string(ColumnType::Date)}};

/// The flags of a code, by their keys.
template <typename Code>
auto flags_of(Code& code) {
  return std::array<std::pair<const char*, decltype(&code.other)>, 5>{
      {{"other", &code.other},
       {"year_cycle", &code.year_cycle},
       {"week_cycle", &code.week_cycle},
       {"day_cycle", &code.day_cycle},
       {"missing_input", &code.missing_input}}};
}

Json code_to_json(const ColumnCode& code) {
  Json json = {{"name", code.name}, {"type", to_string(code.type)}};
  if (code.type == ColumnType::Categorical) {
    json["categories"] = code.categories;
    if (code.hashed_inputs > 0) json["hashed_inputs"] = code.hashed_inputs;
  } else {
    if (code.type == ColumnType::Date) {
      json["date_order"] = choice_name(date_order_choices(), code.date_order);
    }
    json["mean"] = code.mean;
    json["scale"] = code.scale;
    if (code.resolution > 0) json["resolution"] = code.resolution;
    if (!code.transform.is_none()) {
      json["log"] = {{"offset", code.transform.offset()},
                     {"end", code.transform.end()}};
    }
    for (const NumberPiece& piece : code.pieces) {
      json["pieces"].push_back({{"from", piece.from},
                                {"to", piece.to},
                                {"mean", piece.mean},
                                {"scale", piece.scale}});
    }
  }
  for (const auto& [key, flag] : flags_of(code)) {
    if (*flag) json[key] = true;
  }
  return json;
}

/// The first name that appears twice.
std::optional<std::string> repeated(const std::vector<std::string>& names) {
  std::set<std::string> seen;
  for (const std::string& name : names) {
    if (!seen.insert(name).second) return name;
  }
  return std::nullopt;
}

void read_categories(files::JsonObject& json, ColumnCode& code) {
  code.categories = json.strings("categories");
  if (json.has("hashed_inputs")) {
    code.hashed_inputs = json.integer("hashed_inputs", 2, kMostHashedInputs);
  }
  const auto twice = repeated(code.categories);
  RADIR_CHECK(!twice, IoError, json.where(), ": the category \"", *twice,
              "\" appears twice");
}

void read_pieces(files::JsonObject& json, ColumnCode& code) {
  for (files::JsonObject& object : json.objects("pieces")) {
    NumberPiece piece;
    piece.from = object.number("from");
    piece.to = object.number("to");
    piece.mean = object.number("mean");
    piece.scale = object.number("scale");
    RADIR_CHECK(piece.from < piece.to && piece.scale > 0, IoError,
                object.where(),
                ": a piece needs from < to and a scale above 0");
    object.finish();
    code.pieces.push_back(piece);
  }
  RADIR_CHECK(static_cast<std::int64_t>(code.pieces.size()) <=
                  TableEncoder::kMostPieces,
              IoError, json.where(), ": has ", code.pieces.size(),
              " pieces, which is too many");
}

likelihood::TargetTransform read_transform(files::JsonObject json) {
  const double offset = json.number("offset");
  const double end = json.number("end");
  json.finish();
  try {
    return likelihood::TargetTransform::logarithm(offset, end);
  } catch (const ArgumentError& error) {
    detail::throw_error<IoError>(json.where(), ": ", error.what());
  }
}

ColumnCode column_from_json(files::JsonObject json) {
  ColumnCode code;
  code.name = json.text("name");
  code.type = json.choice("type", kCodedTypes);
  if (code.type == ColumnType::Categorical) {
    read_categories(json, code);
  } else {
    if (code.type == ColumnType::Date) {
      code.date_order = json.choice("date_order", date_order_choices());
    }
    code.mean = json.number("mean");
    code.scale = json.number("scale");
    if (code.type == ColumnType::Numeric && json.has("resolution")) {
      code.resolution = json.number("resolution", 0, kLargest);
    }
    if (code.type == ColumnType::Numeric && json.has("log")) {
      code.transform = read_transform(json.object("log"));
    }
    if (code.type == ColumnType::Numeric && json.has("pieces")) {
      read_pieces(json, code);
    }
    RADIR_CHECK(code.scale > 0, IoError, json.where(),
                ": the scale must be above 0, but is ", code.scale);
  }
  const bool is_date = code.type == ColumnType::Date;
  const bool is_category = code.type == ColumnType::Categorical;
  for (const auto& [key, flag] : flags_of(code)) {
    const bool fits = flag == &code.missing_input ||
                      (flag == &code.other ? is_category : is_date);
    if (fits && json.has(key)) *flag = json.boolean(key);
  }
  RADIR_CHECK(!is_category || code.width() > 1, IoError, json.where(),
              ": there must be at least two categories, but there are ",
              code.categories.size());
  json.finish();
  return code;
}

void check_names(const std::vector<ColumnCode>& inputs,
                 const ColumnCode& target, const std::string& id) {
  std::vector<std::string> names = {target.name};
  for (const ColumnCode& input : inputs) names.push_back(input.name);
  if (!id.empty()) names.push_back(id);
  const auto twice = repeated(names);
  RADIR_CHECK(!twice, IoError, "preprocessing: the column \"", *twice,
              "\" appears twice");
}

void check_target(const ColumnCode& target) {
  const bool plain = target.type == ColumnType::Categorical
                         ? target.hashed_inputs == 0 && !target.other
                         : target.type == ColumnType::Numeric;
  RADIR_CHECK(plain && !target.missing_input && target.pieces.empty(), IoError,
              "preprocessing.target: must be a number or classes");
}

}  // namespace

std::string TableEncoder::to_json() const {
  Json inputs = Json::array();
  for (const ColumnCode& code : inputs_) {
    inputs.push_back(code_to_json(code));
  }
  Json json = {{"kind", kTableKind},
               {"missing", to_string(missing_)},
               {"inputs", std::move(inputs)},
               {"target", code_to_json(target_)}};
  if (!id_.empty()) json["id"] = id_;
  return json.dump();
}

TableEncoder TableEncoder::from_json(const std::string& text) {
  RADIR_CHECK(data_kind(text) == kTableKind, IoError,
              "preprocessing: the model was not trained on a table");
  const Json document = files::parse_json<Json>("preprocessing", text, {});
  files::JsonObject json(document, "preprocessing");
  json.text("kind");
  TableEncoder encoder;
  encoder.missing_ = json.choice("missing", missing_value_choices());
  for (const files::JsonObject& input : json.objects("inputs")) {
    encoder.inputs_.push_back(column_from_json(input));
    RADIR_CHECK(encoder.inputs_.back().transform.is_none(), IoError,
                input.where(), ": an input has no logarithm");
    encoder.input_size_ += encoder.inputs_.back().width();
  }
  encoder.target_ = column_from_json(json.object("target"));
  check_target(encoder.target_);
  if (json.has("id")) encoder.id_ = json.text("id");
  check_names(encoder.inputs_, encoder.target_, encoder.id_);
  json.finish();
  return encoder;
}

}  // namespace radir::data

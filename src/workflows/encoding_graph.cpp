#include <algorithm>
#include <array>
#include <cctype>
#include <limits>

#include "radir/core/error.h"
#include "radir/data/column_code.h"
#include "radir/data/table.h"
#include "radir/data/table_encoder.h"
#include "radir/io/onnx_graph.h"
#include "workflows/prediction_graph.h"

namespace radir::workflows {
namespace {

using data::ColumnCode;
using data::ColumnType;
using io::OnnxElement;
using io::OnnxGraph;

constexpr double kTurn = 6.283185307179586;  // 2 pi
constexpr float kNaN = std::numeric_limits<float>::quiet_NaN();

/// Texts that are missing values, beside the empty one, in the spellings that
/// people use.
std::vector<std::string> missing_texts() {
  std::vector<std::string> result = {"", "NaN", "#N/A"};
  for (const char* word : {"?", "na", "n/a", "nan", "null", "none"}) {
    std::string lower = word, upper = word, capital = word;
    const auto to_upper = [](char& c) {
      c = static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
    };
    std::for_each(upper.begin(), upper.end(), to_upper);
    to_upper(capital.front());
    for (std::string& text : std::array{lower, upper, capital}) {
      if (std::find(result.begin(), result.end(), text) == result.end()) {
        result.push_back(std::move(text));
      }
    }
  }
  return result;
}

/// Arithmetic on doubles [batch, 1].
class Numbers {
 public:
  explicit Numbers(OnnxGraph& graph) : graph_(graph) {}

  std::string add(const std::string& a, const std::string& b) {
    return graph_.node("Add", {a, b});
  }
  std::string add(const std::string& a, double b) {
    return add(a, graph_.constant(b));
  }
  std::string sub(const std::string& a, const std::string& b) {
    return graph_.node("Sub", {a, b});
  }
  std::string mul(const std::string& a, double b) {
    return graph_.node("Mul", {a, graph_.constant(b)});
  }
  /// Division with a remainder from 0 to b, as floor does it.
  std::string floor_of(const std::string& a, double b) {
    return graph_.node("Floor", {graph_.node("Div", {a, graph_.constant(b)})});
  }
  /// 1 where a < b, else 0.
  std::string is_less(const std::string& a, double b) {
    return graph_.cast(graph_.node("Less", {a, graph_.constant(b)}),
                       OnnxElement::Double);
  }

 private:
  OnnxGraph& graph_;
};

/// Days since the start of the year, in years: H. Hinnant, chrono-compatible
/// low-level date algorithms; years are first counted from March.
std::string position_in_year(OnnxGraph& graph, const std::string& days) {
  Numbers n(graph);
  const std::string day = graph.node("Floor", {days});
  const std::string z = n.add(day, 719468);
  const std::string doe = n.sub(z, n.mul(n.floor_of(z, 146097), 146097));
  const std::string yoe = n.floor_of(
      n.sub(n.add(n.sub(doe, n.floor_of(doe, 1460)), n.floor_of(doe, 36524)),
            n.floor_of(doe, 146096)),
      365);
  const std::string doy = n.sub(
      doe,
      n.sub(n.add(n.mul(yoe, 365), n.floor_of(yoe, 4)), n.floor_of(yoe, 100)));
  // January and February are the last of them, days 306 and on. Others have 59
  // days before them, in a leap year 60.
  const auto divides = [&](double by) {
    return n.is_less(n.sub(yoe, n.mul(n.floor_of(yoe, by), by)), 0.5);
  };
  const std::string leap = n.add(n.sub(divides(4), divides(100)), divides(400));
  const std::string later = n.is_less(doy, 306);
  const std::string in_year =
      n.add(n.add(doy, -306), graph.node("Mul", {later, n.add(leap, 365)}));
  const std::string position =
      n.mul(n.add(in_year, n.sub(days, day)), 1 / 365.2425);
  return n.sub(position, graph.node("Floor", {position}));
}

std::string position_in_week(OnnxGraph& graph, const std::string& days) {
  Numbers n(graph);
  const std::string weeks = n.mul(n.add(days, 3), 1.0 / 7);
  return n.sub(weeks, graph.node("Floor", {weeks}));
}

std::string position_in_day(OnnxGraph& graph, const std::string& days) {
  return Numbers(graph).sub(days, graph.node("Floor", {days}));
}

/// Encodes columns one after another.
class Encoding {
 public:
  Encoding(OnnxGraph& graph, const data::TableEncoder& encoder)
      : graph_(graph),
        fills_(encoder.missing() == data::MissingValues::Mean ||
               encoder.missing() == data::MissingValues::Indicator) {}

  std::string column(const ColumnCode& code) {
    return code.type == ColumnType::Categorical ? category(code) : number(code);
  }

 private:
  std::string number(const ColumnCode& code) {
    const bool date = code.type == ColumnType::Date;
    graph_.add_input(code.name, OnnxElement::Double, 1,
                     date ? "days since 1970-01-01 (UTC), with fractions; NaN: "
                            "missing"
                          : "number; NaN: missing");
    // NaN is the only number that is not itself.
    const std::string known = graph_.node("Equal", {code.name, code.name});
    std::vector<std::string> parts = {graph_.node(
        "Div", {graph_.node("Sub", {code.name, graph_.constant(code.mean)}),
                graph_.constant(code.scale)})};
    if (!code.pieces.empty()) parts.push_back(pieces(code));
    const auto add_cycle = [&](const std::string& position) {
      // Sines of doubles are not in every runtime; that of a float is enough.
      const std::string angle =
          graph_.cast(Numbers(graph_).mul(position, kTurn), OnnxElement::Float);
      for (const char* op : {"Cos", "Sin"}) {
        parts.push_back(
            graph_.cast(graph_.node(op, {angle}), OnnxElement::Double));
      }
    };
    if (code.year_cycle) add_cycle(position_in_year(graph_, code.name));
    if (code.week_cycle) add_cycle(position_in_week(graph_, code.name));
    if (code.day_cycle) add_cycle(position_in_day(graph_, code.name));
    const std::string empty =
        graph_.constant(fills_ ? 0.0 : static_cast<double>(kNaN));
    for (std::string& part : parts) {
      part = graph_.node("Where", {known, part, empty});
    }
    if (code.missing_input) {
      parts.push_back(
          graph_.cast(graph_.node("Not", {known}), OnnxElement::Double));
    }
    return graph_.cast(concatenated(parts), OnnxElement::Float);
  }

  /// All pieces of a number at once.
  std::string pieces(const ColumnCode& code) {
    std::vector<double> from, steepness, mean, scale;
    for (const data::NumberPiece& piece : code.pieces) {
      from.push_back(piece.from);
      steepness.push_back(1 / (piece.to - piece.from));
      mean.push_back(piece.mean);
      scale.push_back(piece.scale);
    }
    const auto row = [&](const std::vector<double>& values) {
      return graph_.constant(values,
                             {1, static_cast<std::int64_t>(values.size())});
    };
    const std::string share = graph_.node(
        "Mul", {graph_.node("Sub", {code.name, row(from)}), row(steepness)});
    const std::string inside =
        graph_.node("Min", {graph_.node("Max", {share, graph_.constant(0.0)}),
                            graph_.constant(1.0)});
    return graph_.node("Div",
                       {graph_.node("Sub", {inside, row(mean)}), row(scale)});
  }

  /// A table of what each level becomes, then any other, then a missing value.
  std::string category(const ColumnCode& code) {
    graph_.add_input(code.name, OnnxElement::String, 1,
                     "text; empty: missing; others than those of the training "
                     "count as other");
    const std::int64_t width = code.width();
    const auto levels = static_cast<std::int64_t>(code.categories.size());
    std::vector<float> rows(static_cast<std::size_t>((levels + 2) * width));
    const auto at = [&](std::int64_t row, std::int64_t input) -> float& {
      return rows[static_cast<std::size_t>(row * width + input)];
    };
    for (std::int64_t l = 0; l < levels; ++l) {
      if (code.hashed_inputs == 0) {
        at(l, l) = 1;
        continue;
      }
      const data::HashedLevel level = data::hashed_level(
          code.categories[static_cast<std::size_t>(l)], code.hashed_inputs);
      at(l, level.first) = level.first_sign;
      at(l, level.second) = level.second_sign;
    }
    if (code.other) at(levels, width - (code.missing_input ? 2 : 1)) = 1;
    if (code.missing_input) at(levels + 1, width - 1) = 1;
    if (!fills_) std::fill(rows.end() - width, rows.end(), kNaN);

    std::vector<std::string> keys = code.categories;
    std::vector<std::int64_t> places;
    for (std::int64_t l = 0; l < levels; ++l) places.push_back(l);
    for (const std::string& text : missing_texts()) {
      if (std::find(keys.begin(), keys.end(), text) != keys.end()) continue;
      keys.push_back(text);
      places.push_back(levels + 1);
    }
    const std::string place = graph_.node("LabelEncoder", {code.name},
                                          {{"keys_strings", keys},
                                           {"values_int64s", places},
                                           {"default_int64", levels}},
                                          "ai.onnx.ml");
    const std::string flat = graph_.node(
        "Reshape",
        {place, graph_.constant(std::vector<std::int64_t>{-1}, {1})});
    return graph_.node("Gather",
                       {graph_.constant(rows, {levels + 2, width}), flat});
  }

  std::string concatenated(const std::vector<std::string>& parts) {
    return parts.size() == 1
               ? parts.front()
               : graph_.node("Concat", parts, {{"axis", std::int64_t{1}}});
  }

  OnnxGraph& graph_;
  bool fills_;  // missing values get a prediction
};

}  // namespace

std::string encode_columns(OnnxGraph& graph,
                           const data::TableEncoder& encoder) {
  Encoding encoding(graph, encoder);
  std::vector<std::string> parts;
  for (const ColumnCode& code : encoder.inputs()) {
    parts.push_back(encoding.column(code));
  }
  return graph.node("Concat", parts, {{"axis", std::int64_t{1}}});
}

}  // namespace radir::workflows

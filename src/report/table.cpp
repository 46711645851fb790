#include "radir/report/table.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <iterator>
#include <nlohmann/json.hpp>

#include "radir/core/error.h"
#include "report/markup.h"

namespace radir::report {
namespace {

void check_rows(const Table& table) {
  for (std::size_t i = 0; i < table.rows.size(); ++i) {
    RADIR_CHECK(table.rows[i].size() == table.columns.size(), ArgumentError,
                "table: row ", i, " has ", table.rows[i].size(),
                " cells, but the table has ", table.columns.size(), " columns");
  }
}

bool is_number(const Cell& cell) {
  return std::holds_alternative<double>(cell) ||
         std::holds_alternative<std::int64_t>(cell);
}

/// The cell for people.
std::string shown(const Cell& cell, const Column& column) {
  struct Visitor {
    const Column& column;
    std::string operator()(std::monostate) const { return "–"; }
    std::string operator()(const std::string& text) const { return text; }
    std::string operator()(std::int64_t count) const {
      return std::to_string(count);
    }
    std::string operator()(double number) const {
      return figure_text(number, column.digits);
    }
  };
  return std::visit(Visitor{column}, cell);
}

/// The cell for CSV: all digits, quoted where needed.
std::string exact(const Cell& cell) {
  struct Visitor {
    std::string operator()(std::monostate) const { return ""; }
    std::string operator()(const std::string& text) const {
      if (text.find_first_of(",\"\n") == std::string::npos) return text;
      std::string quoted = "\"";
      for (const char c : text) quoted += c == '"' ? "\"\"" : std::string(1, c);
      return quoted + "\"";
    }
    std::string operator()(std::int64_t count) const {
      return std::to_string(count);
    }
    std::string operator()(double number) const {
      return fmt::format("{}", number);
    }
  };
  return std::visit(Visitor{}, cell);
}

nlohmann::ordered_json json_cell(const Cell& cell) {
  struct Visitor {
    nlohmann::ordered_json operator()(std::monostate) const { return nullptr; }
    nlohmann::ordered_json operator()(const std::string& text) const {
      return text;
    }
    nlohmann::ordered_json operator()(std::int64_t count) const {
      return count;
    }
    nlohmann::ordered_json operator()(double number) const {
      if (!std::isfinite(number)) return nullptr;
      return number;
    }
  };
  return std::visit(Visitor{}, cell);
}

/// A column is set to the right when it holds numbers.
std::vector<bool> right_aligned(const Table& table) {
  std::vector<bool> right(table.columns.size(), false);
  for (const std::vector<Cell>& row : table.rows) {
    for (std::size_t j = 0; j < row.size(); ++j) {
      right[j] = right[j] || is_number(row[j]);
    }
  }
  return right;
}

/// As plain_text(). A name may have lines, but a row of a table has one.
std::string one_line(std::string_view text) {
  std::string line = plain_text(text);
  std::replace_if(
      line.begin(), line.end(),
      [](char c) { return c == '\n' || c == '\r' || c == '\t'; }, ' ');
  return line;
}

/// Titles and cells as text, the titles first.
std::vector<std::vector<std::string>> shown_grid(const Table& table) {
  std::vector<std::vector<std::string>> grid(1);
  for (const Column& column : table.columns) {
    grid[0].push_back(one_line(column.title));
  }
  for (const std::vector<Cell>& row : table.rows) {
    grid.emplace_back();
    for (std::size_t j = 0; j < row.size(); ++j) {
      grid.back().push_back(one_line(shown(row[j], table.columns[j])));
    }
  }
  return grid;
}

std::string padded(const std::string& text, std::size_t width, bool right) {
  const std::string space(width - character_count(text), ' ');
  return right ? space + text : text + space;
}

std::vector<std::size_t> column_widths(
    const std::vector<std::vector<std::string>>& grid) {
  constexpr std::size_t kLeastWidth = 3;  // Markdown wants three dashes
  std::vector<std::size_t> widths(grid[0].size(), kLeastWidth);
  for (const auto& row : grid) {
    for (std::size_t j = 0; j < row.size(); ++j) {
      widths[j] = std::max(widths[j], character_count(row[j]));
    }
  }
  return widths;
}

/// Lines of padded cells, `rule` after the first.
std::string aligned(const Table& table, const std::string& begin,
                    const std::string& separator, const std::string& end,
                    const std::function<std::string(std::size_t, bool)>& rule) {
  check_rows(table);
  const auto grid = shown_grid(table);
  const std::vector<std::size_t> widths = column_widths(grid);
  const std::vector<bool> right = right_aligned(table);
  const auto line = [&](const auto& cell_text) {
    std::string text = begin;
    for (std::size_t j = 0; j < widths.size(); ++j) {
      text += (j > 0 ? separator : "") + cell_text(j);
    }
    text += end;
    text.erase(text.find_last_not_of(' ') + 1);
    return text + "\n";
  };
  std::string out;
  for (std::size_t i = 0; i < grid.size(); ++i) {
    out += line(
        [&](std::size_t j) { return padded(grid[i][j], widths[j], right[j]); });
    if (i == 0) {
      out += line([&](std::size_t j) { return rule(widths[j], right[j]); });
    }
  }
  return out;
}

}  // namespace

std::string figure_text(double number, int digits) {
  std::string text = fmt::format("{:.{}g}", number, digits);
  const std::size_t power = text.find("e+0");
  if (power == std::string::npos) return text;
  // A large number, rounded: all its digits, in groups of three.
  text = fmt::format("{:.0f}", std::stod(text));
  const std::size_t first = text.front() == '-' ? 1 : 0;
  for (std::size_t at = text.size(); at > first + 3;) {
    at -= 3;
    text.insert(at, ",");
  }
  return text;
}

std::string to_text(const Table& table) {
  return aligned(table, "", "  ", "", [](std::size_t width, bool) {
    std::string rule;
    for (std::size_t i = 0; i < width; ++i) rule += "─";
    return rule;
  });
}

std::string to_markdown(const Table& table) {
  return aligned(table, "| ", " | ", " |", [](std::size_t width, bool right) {
    return std::string(width - 1, '-') + (right ? ':' : '-');
  });
}

std::string to_html(const Table& table) {
  check_rows(table);
  const std::vector<bool> right = right_aligned(table);
  const auto cell = [&](const char* tag, std::size_t j,
                        const std::string& text) {
    // Wider texts are broken into lines.
    constexpr std::size_t kLong = 24;
    std::string classes = right[j] ? "number" : "";
    if (character_count(text) > kLong) classes += right[j] ? " long" : "long";
    return fmt::format("<{0}{1}>{2}</{0}>", tag,
                       classes.empty() ? "" : " class=\"" + classes + "\"",
                       html_text(text));
  };
  std::string out = "<table>\n<thead><tr>";
  for (std::size_t j = 0; j < table.columns.size(); ++j) {
    out += cell("th", j, table.columns[j].title);
  }
  out += "</tr></thead>\n<tbody>\n";
  for (const std::vector<Cell>& row : table.rows) {
    out += "<tr>";
    for (std::size_t j = 0; j < row.size(); ++j) {
      out += cell("td", j, shown(row[j], table.columns[j]));
    }
    out += "</tr>\n";
  }
  return out + "</tbody></table>\n";
}

std::string to_csv(const Table& table) {
  check_rows(table);
  std::string out;
  for (std::size_t j = 0; j < table.columns.size(); ++j) {
    out += (j > 0 ? "," : "") + exact(table.columns[j].key);
  }
  out += '\n';
  for (const std::vector<Cell>& row : table.rows) {
    for (std::size_t j = 0; j < row.size(); ++j) {
      out += (j > 0 ? "," : "") + exact(row[j]);
    }
    out += '\n';
  }
  return out;
}

std::string to_json(const Table& table) {
  check_rows(table);
  auto rows = nlohmann::ordered_json::array();
  for (const std::vector<Cell>& row : table.rows) {
    auto object = nlohmann::ordered_json::object();
    for (std::size_t j = 0; j < row.size(); ++j) {
      object[table.columns[j].key] = json_cell(row[j]);
    }
    rows.push_back(std::move(object));
  }
  return rows.dump(2);
}

}  // namespace radir::report

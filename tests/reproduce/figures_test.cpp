#include "radir/reproduce/figures.h"
#include "radir/report/table.h"

#include <gtest/gtest.h>

namespace radir::reproduce {
namespace {

const report::Page& page() {
  static const report::Page once = figures();
  return once;
}

TEST(Figures, HasTheFiveFiguresOfTheArticle) {
  int count = 0;
  for (const report::Section& section : page().sections) {
    for (const report::Block& block : section.blocks) {
      const auto* figure = std::get_if<report::Figure>(&block);
      if (figure == nullptr) continue;
      ++count;
      EXPECT_GE(figure->panels.size(), 2u) << section.title;
      EXPECT_FALSE(figure->caption.empty()) << section.title;
    }
  }
  EXPECT_EQ(count, 5);
}

TEST(Figures, DrawsNoCoordinateThatIsNotANumber) {
  for (const report::Section& section : page().sections) {
    for (const report::Block& block : section.blocks) {
      const auto* figure = std::get_if<report::Figure>(&block);
      if (figure == nullptr) continue;
      for (const std::string& panel : figure->panels) {
        EXPECT_EQ(panel.find("nan"), std::string::npos) << section.title;
        EXPECT_EQ(panel.find("inf"), std::string::npos) << section.title;
      }
    }
  }
}

/// The text of the cell in the row that starts with `method`.
std::string cell(const report::Table& table, const std::string& method,
                 std::size_t column) {
  for (const auto& row : table.rows) {
    if (std::get<std::string>(row.at(0)) == method) {
      return std::get<std::string>(row.at(column));
    }
  }
  ADD_FAILURE() << "no row " << method;
  return "";
}

const report::Table& table_of(std::size_t section) {
  return std::get<report::TableBlock>(page().sections.at(section).blocks.at(1))
      .table;
}

TEST(Figures, ShowsTheFailuresOfNaiveEvaluation) {
  constexpr std::size_t kRatioSection = 3;
  const report::Table& table = table_of(kRatioSection);
  const std::size_t last = table.columns.size() - 1;  // the largest order
  EXPECT_EQ(cell(table, "quotient of std::cyl_bessel_i", last), "undefined");
  EXPECT_NE(
      cell(table, "quotient of e^{−z}I, exact", last).find("undefined for"),
      std::string::npos);
}

TEST(Figures, ShowsOursAtMachinePrecision) {
  for (const std::size_t section : {3, 4}) {
    const report::Table& table = table_of(section);
    for (std::size_t j = 1; j < table.columns.size(); ++j) {
      EXPECT_LT(std::stod(cell(table, "radir", j)), 1e-15)
          << table.columns[j].title;
    }
  }
}

}  // namespace
}  // namespace radir::reproduce

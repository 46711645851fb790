#pragma once

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "radir/c_api.h"

namespace radir::c_api {

/// Fails unless a call went as expected and, where it failed, its message holds
/// `part`.
inline void expect_status(radir_status got, radir_status wanted,
                          const std::string& part = "") {
  EXPECT_EQ(got, wanted) << radir_last_error();
  if (got != wanted || got == RADIR_OK) return;
  EXPECT_NE(std::string(radir_last_error()).find(part), std::string::npos)
      << "the message is \"" << radir_last_error() << "\", expected \"" << part
      << "\"";
}

/// The text of a function that writes one: first its length, then itself.
template <typename Function>
std::string text_of(const Function& function) {
  std::int64_t length = 0;
  expect_status(function(nullptr, 0, &length), RADIR_OK);
  std::string text(static_cast<std::size_t>(length + 1), '?');
  expect_status(function(text.data(), length + 1, &length), RADIR_OK);
  EXPECT_EQ(text.back(), '\0');
  text.pop_back();
  return text;
}

/// y = x0 - 2 x1 with a little noise, row by row, for any number of rows.
struct Numbers {
  explicit Numbers(std::int64_t rows) : count(rows) {
    for (std::int64_t i = 0; i < rows; ++i) {
      const double a = static_cast<double>(i * 7 % 20) / 10 - 1;
      const double b = static_cast<double>(i * 11 % 23) / 11 - 1;
      x.push_back(a);
      x.push_back(b);
      y.push_back(a - 2 * b + 0.01 * static_cast<double>(i % 3));
    }
  }

  std::int64_t count;
  std::vector<double> x;  ///< [row][2]
  std::vector<double> y;
};

/// A table of such numbers, freed at the end.
class NumberTable {
 public:
  explicit NumberTable(const Numbers& numbers,
                       const char* const* names = nullptr) {
    EXPECT_EQ(radir_table_create("numbers", &table_), RADIR_OK);
    EXPECT_EQ(radir_table_add_matrix(table_, RADIR_FLOAT64, numbers.x.data(),
                                     numbers.count, 2, 2, 1, names),
              RADIR_OK);
    EXPECT_EQ(radir_table_add_numbers(table_, "y", RADIR_FLOAT64,
                                      numbers.y.data(), numbers.count, 1),
              RADIR_OK);
  }
  ~NumberTable() { EXPECT_EQ(radir_table_free(table_), RADIR_OK); }
  NumberTable(const NumberTable&) = delete;
  NumberTable& operator=(const NumberTable&) = delete;

  radir_table get() const { return table_; }

 private:
  radir_table table_ = nullptr;
};

}  // namespace radir::c_api

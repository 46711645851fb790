#include <array>
#include <cmath>
#include <thread>

#include "c_api/support.h"

namespace radir::c_api {
namespace {

constexpr const char* kQuicker = "method=rdp\nsteps=50\nhidden=5";

TEST(CTable, HandlesThatAreWrongAreErrors) {
  radir_table table = nullptr;
  expect_status(radir_table_create("t", &table), RADIR_OK);
  const double values[] = {1, 2};
  expect_status(radir_table_free(table), RADIR_OK);
  const radir_status added =
      radir_table_add_numbers(table, "a", RADIR_FLOAT64, values, 2, 1);
  expect_status(added, RADIR_ARGUMENT_ERROR, "freed");
  expect_status(radir_table_free(table), RADIR_ARGUMENT_ERROR, "freed");
  expect_status(radir_table_free(nullptr), RADIR_OK);
  expect_status(radir_model_free(reinterpret_cast<radir_model>(table)),
                RADIR_ARGUMENT_ERROR, "not the handle of a model");
  expect_status(radir_table_create(nullptr, &table), RADIR_ARGUMENT_ERROR,
                "\"name\" is a null pointer");
  expect_status(radir_table_create("t", nullptr), RADIR_ARGUMENT_ERROR, "null");
  expect_status(radir_table_create("\xff", &table), RADIR_ARGUMENT_ERROR,
                "UTF-8");
}

TEST(CTable, RefusesColumnsThatDoNotFit) {
  radir_table table = nullptr;
  const double values[] = {1, 2, 3, 4};
  const std::int32_t codes[] = {0, 1, 2, -1};
  const char* const categories[] = {"a", "b"};
  expect_status(radir_table_create("t", &table), RADIR_OK);
  const auto add = [&](const char* name, radir_type type, std::int64_t count) {
    return radir_table_add_numbers(table, name, type, values, count, 1);
  };
  expect_status(add("a", RADIR_FLOAT64, 4), RADIR_OK);
  expect_status(add("b", RADIR_FLOAT64, 3), RADIR_ARGUMENT_ERROR, "3 rows");
  expect_status(add("b", 7, 4), RADIR_ARGUMENT_ERROR, "type 7");
  expect_status(add("b", RADIR_FLOAT64, -1), RADIR_ARGUMENT_ERROR, "-1 rows");
  expect_status(radir_table_add_categories(table, "c", categories, 2, codes, 4),
                RADIR_ARGUMENT_ERROR, "code 2 in row 3");
  expect_status(radir_table_add_categories(table, "c", nullptr, 2, codes, 4),
                RADIR_ARGUMENT_ERROR, "null");
  expect_status(add("a", RADIR_FLOAT64, 4), RADIR_OK);
  radir_model model = nullptr;
  expect_status(radir_model_fit(table, "a", kQuicker, nullptr, nullptr, &model),
                RADIR_ARGUMENT_ERROR, "\"a\"");  // twice
  expect_status(radir_table_free(table), RADIR_OK);
}

TEST(CTable, AnEmptyTableAndOneInUseAreRefused) {
  radir_table table = nullptr;
  radir_model model = nullptr;
  expect_status(radir_table_create("t", &table), RADIR_OK);
  expect_status(radir_model_fit(table, "a", kQuicker, nullptr, nullptr, &model),
                RADIR_ARGUMENT_ERROR, "no columns");
  expect_status(radir_table_free(table), RADIR_OK);

  const Numbers numbers(40);
  const NumberTable used(numbers);
  expect_status(
      radir_model_fit(used.get(), "y", kQuicker, nullptr, nullptr, &model),
      RADIR_OK);
  expect_status(radir_table_add_numbers(used.get(), "z", RADIR_FLOAT64,
                                        numbers.y.data(), 40, 1),
                RADIR_ARGUMENT_ERROR, "no more columns");
  expect_status(radir_model_free(model), RADIR_OK);
}

TEST(CTable, StridesAndTypesGiveTheSameModel) {
  const Numbers numbers(40);
  const NumberTable rows(numbers);
  // The same numbers column by column, in a matrix of floats.
  std::vector<float> columns(80);
  for (std::size_t i = 0; i < 40; ++i) {
    columns[i] = static_cast<float>(numbers.x[2 * i]);
    columns[40 + i] = static_cast<float>(numbers.x[2 * i + 1]);
  }
  radir_table table = nullptr;
  expect_status(radir_table_create("t", &table), RADIR_OK);
  const char* const names[] = {"column_1", "column_2"};
  expect_status(radir_table_add_matrix(table, RADIR_FLOAT32, columns.data(), 40,
                                       2, 1, 40, names),
                RADIR_OK);
  radir_model model = nullptr;
  expect_status(
      radir_model_fit(rows.get(), "y", kQuicker, nullptr, nullptr, &model),
      RADIR_OK);
  std::array<std::vector<double>, 2> means = {std::vector<double>(40),
                                              std::vector<double>(40)};
  const radir_table both[] = {rows.get(), table};
  for (std::size_t i = 0; i < 2; ++i) {
    radir_prediction prediction = {};
    prediction.mean = means[i].data();
    expect_status(radir_model_predict(model, both[i], nullptr, &prediction),
                  RADIR_OK);
  }
  for (std::size_t i = 0; i < 40; ++i) {
    EXPECT_NEAR(means[0][i], means[1][i], 1e-4);
  }
  expect_status(radir_model_free(model), RADIR_OK);
  expect_status(radir_table_free(table), RADIR_OK);
}

TEST(CTable, DatesAreReadAsDates) {
  const Numbers numbers(40);
  std::vector<double> days(40);
  for (std::size_t i = 0; i < 40; ++i) {
    days[i] = 19000 + static_cast<double>(i);
  }
  radir_table table = nullptr;
  expect_status(radir_table_create("t", &table), RADIR_OK);
  expect_status(radir_table_add_dates(table, "when", days.data(), 40),
                RADIR_OK);
  expect_status(radir_table_add_numbers(table, "y", RADIR_FLOAT64,
                                        numbers.y.data(), 40, 1),
                RADIR_OK);
  radir_model model = nullptr;
  expect_status(radir_model_fit(table, "y", kQuicker, nullptr, nullptr, &model),
                RADIR_OK);
  const std::string described = text_of(
      [&](auto... buffer) { return radir_model_describe(model, buffer...); });
  EXPECT_NE(described.find("\"type\":\"date\""), std::string::npos)
      << described;
  EXPECT_NE(described.find("2022-01-08 to 2022-02-16"), std::string::npos)
      << described;
  expect_status(radir_model_free(model), RADIR_OK);
  expect_status(radir_table_free(table), RADIR_OK);

  expect_status(radir_table_create("t", &table), RADIR_OK);
  for (double wrong : {1e300, -1e6, HUGE_VAL}) {
    expect_status(radir_table_add_dates(table, "when", &wrong, 1),
                  RADIR_ARGUMENT_ERROR, "days since 1970-01-01");
  }
  expect_status(radir_table_add_dates(table, "when", nullptr, 1),
                RADIR_ARGUMENT_ERROR, "null");
  expect_status(radir_table_free(table), RADIR_OK);
}

TEST(CTable, ThreadsHaveTheirOwnLastError) {
  expect_status(radir_table_free(reinterpret_cast<radir_table>(8)),
                RADIR_ARGUMENT_ERROR, "table");
  std::string other = "?";
  std::thread([&] { other = radir_last_error(); }).join();
  EXPECT_EQ(other, "");
}

}  // namespace
}  // namespace radir::c_api

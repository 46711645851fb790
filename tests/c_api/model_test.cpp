#include <cmath>
#include <limits>
#include <map>
#include <nlohmann/json.hpp>
#include <thread>

#include "c_api/support.h"
#include "radir/data/builtin_data.h"
#include "radir/data/table.h"
#include "radir/io/model_file.h"
#include "radir/io/onnx.h"
#include "radir/workflows/fit_table.h"
#include "radir/workflows/table_model.h"
#include "support/temporary_folder.h"

namespace radir::c_api {
namespace {

using Json = nlohmann::json;
using radir::testing::TemporaryFolder;

constexpr const char* kQuick =
    R"({"method": "rdp", "steps": 300, "hidden": [10], "seed": 3})";
constexpr std::int64_t kRows = 120;

/// One model for all tests that only look at it.
class CModel : public ::testing::Test {
 protected:
  static void SetUpTestSuite() {
    numbers() = new Numbers(kRows);
    const NumberTable table(*numbers());
    expect_status(
        radir_model_fit(table.get(), "y", kQuick, nullptr, nullptr, &model_),
        RADIR_OK);
  }
  static void TearDownTestSuite() {
    expect_status(radir_model_free(model_), RADIR_OK);
    delete numbers();
  }

  static Numbers*& numbers() {
    static Numbers* numbers = nullptr;
    return numbers;
  }
  static std::vector<double> means(radir_model model) {
    const NumberTable table(*numbers());
    std::vector<double> result(static_cast<std::size_t>(kRows));
    radir_prediction prediction = {};
    prediction.mean = result.data();
    expect_status(radir_model_predict(model, table.get(), nullptr, &prediction),
                  RADIR_OK);
    return result;
  }

  /// Whether a run is not resumed on the same table in another unit of the
  /// target, or with columns of other names: both are standardised alike.
  static bool refuses_other_tables(const std::string& settings) {
    Numbers scaled = *numbers();
    for (double& y : scaled.y) y *= 4;
    const char* const names[] = {"x2", "x1"};
    const NumberTable in_other_units(scaled);
    const NumberTable with_other_names(*numbers(), names);
    for (const NumberTable* table : {&in_other_units, &with_other_names}) {
      radir_model model = nullptr;
      expect_status(radir_model_fit(table->get(), "y", settings.c_str(),
                                    nullptr, nullptr, &model),
                    RADIR_ARGUMENT_ERROR, "on other data");
      if (model != nullptr) return false;
    }
    return true;
  }

  static radir_model model_;
};
radir_model CModel::model_ = nullptr;

TEST_F(CModel, PredictsWhatTheNumbersSay) {
  const NumberTable table(*numbers());
  const auto rows = static_cast<std::size_t>(kRows);
  std::int64_t count = 0;
  expect_status(radir_table_rows(table.get(), &count), RADIR_OK);
  EXPECT_EQ(count, kRows);
  std::vector<double> mean(rows), sd(rows), epistemic(rows), aleatoric(rows);
  std::vector<double> quantiles(2 * rows), density(rows), cdf(rows), crps(rows);
  const double probabilities[] = {0.05, 0.95};
  radir_prediction prediction = {};
  prediction.mean = mean.data();
  prediction.sd = sd.data();
  prediction.epistemic_sd = epistemic.data();
  prediction.aleatoric_sd = aleatoric.data();
  prediction.probabilities = probabilities;
  prediction.probability_count = 2;
  prediction.quantiles = quantiles.data();
  prediction.values = numbers()->y.data();
  prediction.log_density = density.data();
  prediction.cdf = cdf.data();
  prediction.crps = crps.data();
  expect_status(radir_model_predict(model_, table.get(), nullptr, &prediction),
                RADIR_OK);
  for (std::size_t i = 0; i < rows; ++i) {
    EXPECT_NEAR(mean[i], numbers()->y[i], 0.6);
    EXPECT_NEAR(sd[i], std::hypot(epistemic[i], aleatoric[i]), 1e-9);
    EXPECT_LT(quantiles[2 * i], mean[i]);
    EXPECT_GT(quantiles[2 * i + 1], mean[i]);
    EXPECT_TRUE(std::isfinite(density[i]));
    EXPECT_TRUE(cdf[i] > 0 && cdf[i] < 1);
    EXPECT_GT(crps[i], 0);
  }
}

TEST_F(CModel, PredictsAMatrixAsATable) {
  const std::vector<double> expected = means(model_);
  std::vector<double> got(static_cast<std::size_t>(kRows));
  radir_prediction prediction = {};
  prediction.mean = got.data();
  const auto predict = [&](const double* x, std::int64_t rows,
                           std::int64_t columns) {
    return radir_model_predict_matrix(model_, RADIR_FLOAT64, x, rows, columns,
                                      2, 1, nullptr, &prediction);
  };
  expect_status(predict(numbers()->x.data(), kRows, 2), RADIR_OK);
  EXPECT_EQ(got, expected);
  // One row has the bits that it has among others.
  for (std::size_t i = 0; i < expected.size(); ++i) {
    expect_status(predict(numbers()->x.data() + 2 * i, 1, 2), RADIR_OK);
    EXPECT_EQ(got[0], expected[i]);
  }
  expect_status(predict(numbers()->x.data(), kRows, 1), RADIR_IO_ERROR,
                "column_2");
  expect_status(predict(numbers()->x.data(), kRows, 0), RADIR_IO_ERROR,
                "column_1");
  expect_status(predict(nullptr, kRows, 2), RADIR_ARGUMENT_ERROR, "null");
  expect_status(predict(numbers()->x.data(), -1, 2), RADIR_ARGUMENT_ERROR,
                "-1 rows");
}

/// The model of a handle, from its bytes.
workflows::TableModel model_of(radir_model model) {
  std::int64_t length = 0;
  expect_status(radir_model_to_bytes(model, nullptr, 0, &length), RADIR_OK);
  std::string bytes(static_cast<std::size_t>(length), '?');
  expect_status(radir_model_to_bytes(model, bytes.data(), length, &length),
                RADIR_OK);
  return workflows::table_model("bytes", io::read_model("bytes", bytes));
}

TEST(CTargetScale, IsASetting) {
  Numbers numbers(60);
  for (double& y : numbers.y) y = std::exp(y);
  const NumberTable table(numbers);
  for (const std::string scale : {"own", "log"}) {
    radir_model model = nullptr;
    const std::string settings =
        "method=rdp\nsteps=100\nhidden=5\ntarget_scale=" + scale;
    expect_status(radir_model_fit(table.get(), "y", settings.c_str(), nullptr,
                                  nullptr, &model),
                  RADIR_OK);
    EXPECT_EQ(model_of(model).encoder.target().transform.is_none(),
              scale == "own");
    expect_status(radir_model_free(model), RADIR_OK);
  }
}

TEST(CConformal, QuantilesAreCorrectedAndKeptInTheModel) {
  const Numbers numbers(200);
  const NumberTable table(numbers);
  radir_model model = nullptr;
  expect_status(
      radir_model_fit(table.get(), "y",
                      "method=rdp\nsteps=300\nhidden=10\nconformal=true",
                      nullptr, nullptr, &model),
      RADIR_OK);
  const workflows::TableModel saved = model_of(model);
  EXPECT_EQ(saved.correction.probabilities().size(), 39u);
  std::vector<double> got(200);
  const double probability = 0.9;
  radir_prediction prediction = {};
  prediction.probabilities = &probability;
  prediction.probability_count = 1;
  prediction.quantiles = got.data();
  expect_status(radir_model_predict(model, table.get(), nullptr, &prediction),
                RADIR_OK);
  workflows::TablePredictionOptions options;
  options.quantiles = {probability};
  const data::Column a(
      "column_1", data::NumberView<double>(numbers.x.data(), numbers.count, 2));
  const data::Column b("column_2", data::NumberView<double>(
                                       numbers.x.data() + 1, numbers.count, 2));
  const auto expected =
      saved.predict(data::Table("numbers", {a, b}), options).quantiles[0];
  EXPECT_EQ(got, expected);
  expect_status(radir_model_free(model), RADIR_OK);
}

TEST_F(CModel, HasTheBitsOfTheCppLibrary) {
  data::Column a("column_1",
                 data::NumberView<double>(numbers()->x.data(), kRows, 2));
  data::Column b("column_2",
                 data::NumberView<double>(numbers()->x.data() + 1, kRows, 2));
  data::Column y("y", data::NumberView<double>(numbers()->y.data(), kRows, 1));
  const data::Table table("numbers", {a, b, y});
  workflows::TableSettings settings;
  settings.method = "rdp";
  settings.steps = 300;
  settings.hidden = {10};
  settings.seed = 3;
  const auto model = workflows::fit_table(table, "y", settings);
  EXPECT_EQ(model.predict(table).mean, means(model_));
}

/// A weight is as good as copies, wherever they stand.
TEST_F(CModel, RowsCountAsOftenAsTheirWeightSays) {
  const Numbers& once = *numbers();
  std::vector<double> weights(static_cast<std::size_t>(kRows));
  Numbers copies = once;
  copies.x.clear();
  copies.y.clear();
  for (std::int64_t row = kRows - 1; row >= 0; --row) {
    const auto i = static_cast<std::size_t>(row);
    weights[i] = static_cast<double>(row % 3);
    for (std::int64_t copy = 0; copy < row % 3; ++copy) {
      copies.x.insert(copies.x.end(), {once.x[2 * i], once.x[2 * i + 1]});
      copies.y.push_back(once.y[i]);
    }
  }
  copies.count = static_cast<std::int64_t>(copies.y.size());
  const NumberTable weighted(once), copied(copies);
  expect_status(radir_table_add_numbers(weighted.get(), "w", RADIR_FLOAT64,
                                        weights.data(), kRows, 1),
                RADIR_OK);
  const auto fitted = [](const NumberTable& table, const char* settings) {
    radir_model model = nullptr;
    expect_status(
        radir_model_fit(table.get(), "y", settings, nullptr, nullptr, &model),
        RADIR_OK);
    const std::vector<double> result = means(model);
    expect_status(radir_model_free(model), RADIR_OK);
    return result;
  };
  EXPECT_EQ(fitted(weighted, "method=rdp\nsteps=300\nweights=w"),
            fitted(copied, "method=rdp\nsteps=300"));
  radir_model model = nullptr;
  const auto fit = [&](const char* settings) {
    return radir_model_fit(weighted.get(), "y", settings, nullptr, nullptr,
                           &model);
  };
  expect_status(fit("weights=v"), RADIR_ARGUMENT_ERROR, "no column named");
  expect_status(fit("weights=y"), RADIR_ARGUMENT_ERROR, "is the target");
  expect_status(fit("weights=w\nconformal=true"), RADIR_ARGUMENT_ERROR,
                "leave it out, or the weights");
}

TEST_F(CModel, EvaluatesAndDescribes) {
  const NumberTable table(*numbers());
  const Json scores = Json::parse(text_of([&](auto... buffer) {
    return radir_model_evaluate(model_, table.get(), nullptr, buffer...);
  }));
  EXPECT_EQ(scores["rows"], kRows);
  EXPECT_LT(scores["rmse"].get<double>(), 0.5);
  const Json model = Json::parse(text_of(
      [&](auto... buffer) { return radir_model_describe(model_, buffer...); }));
  EXPECT_EQ(model["architecture"], "2-10");
  EXPECT_EQ(model["training"]["method"], "rdp");
  EXPECT_EQ(model["training"]["noise_factor"], 1.0);  // left out of files
  EXPECT_EQ(model["seed"], 3);
  EXPECT_EQ(model["preprocessing"]["inputs"][1]["name"], "column_2");
  EXPECT_EQ(model["layers"].size(), 2u);
  double importance[2] = {};
  expect_status(radir_model_importance(model_, importance, 2), RADIR_OK);
  EXPECT_GT(importance[1], importance[0]);  // y = x0 - 2 x1
  expect_status(radir_model_importance(model_, importance, 1),
                RADIR_ARGUMENT_ERROR, "2 input columns");
}

TEST_F(CModel, IsTheSameAfterFilesAndBytes) {
  const TemporaryFolder folder;
  const std::string file = folder / "model.safetensors";
  expect_status(radir_model_save(model_, file.c_str()), RADIR_OK);
  radir_model loaded = nullptr;
  expect_status(radir_model_load(file.c_str(), &loaded), RADIR_OK);
  EXPECT_EQ(means(loaded), means(model_));
  expect_status(radir_model_free(loaded), RADIR_OK);

  std::int64_t length = 0;
  expect_status(radir_model_to_bytes(model_, nullptr, 0, &length), RADIR_OK);
  std::string bytes(static_cast<std::size_t>(length), '\0');
  expect_status(radir_model_to_bytes(model_, bytes.data(), 10, &length),
                RADIR_ARGUMENT_ERROR, "10 bytes");
  expect_status(radir_model_to_bytes(model_, bytes.data(), length, &length),
                RADIR_OK);
  EXPECT_EQ(bytes, radir::testing::read_bytes(file));
  expect_status(radir_model_from_bytes(bytes.data(), length, &loaded),
                RADIR_OK);
  EXPECT_EQ(means(loaded), means(model_));
  expect_status(radir_model_free(loaded), RADIR_OK);
  expect_status(radir_model_from_bytes(bytes.data(), length - 1, &loaded),
                RADIR_IO_ERROR);
  expect_status(radir_model_load("no/such/file", &loaded), RADIR_IO_ERROR,
                "no/such/file");
}

TEST_F(CModel, PrunesAndExports) {
  const TemporaryFolder folder;
  radir_model pruned = nullptr;
  expect_status(radir_model_prune(model_, "max_parameters=20", &pruned),
                RADIR_OK);
  const Json model = Json::parse(text_of(
      [&](auto... buffer) { return radir_model_describe(pruned, buffer...); }));
  EXPECT_LE(model["parameters"].get<int>(), 20);
  double importance[2] = {};
  expect_status(radir_model_importance(pruned, importance, 2), RADIR_OK);
  expect_status(radir_model_prune(model_, "size=20", &pruned),
                RADIR_ARGUMENT_ERROR, "size");
  const std::string file = folder / "model.onnx";
  const radir_status written = radir_model_export_onnx(pruned, file.c_str(), 1);
  expect_status(written, io::has_onnx() ? RADIR_OK : RADIR_UNSUPPORTED);
  expect_status(radir_model_export_onnx(pruned, file.c_str(), 2),
                RADIR_ARGUMENT_ERROR, "from 1 to 1");
  expect_status(radir_model_free(pruned), RADIR_OK);
}

TEST_F(CModel, RefusesWhatMakesNoSense) {
  const NumberTable table(*numbers());
  radir_model model = nullptr;
  const auto fit = [&](const char* target, const char* settings) {
    return radir_model_fit(table.get(), target, settings, nullptr, nullptr,
                           &model);
  };
  expect_status(fit("z", kQuick), RADIR_ARGUMENT_ERROR, "z");
  expect_status(fit("y", "stepz=3"), RADIR_ARGUMENT_ERROR, "steps");
  expect_status(fit("y", "steps"), RADIR_ARGUMENT_ERROR, "name=value");
  expect_status(fit("y", "steps=0"), RADIR_ARGUMENT_ERROR, "steps");
  expect_status(fit("y", "{\"steps\": "), RADIR_ARGUMENT_ERROR);
  expect_status(fit("y", R"({"steps": {"a": 1}})"), RADIR_ARGUMENT_ERROR,
                "object");
  expect_status(fit("y", "method=magic"), RADIR_UNSUPPORTED, "magic");
  expect_status(fit("y", "preset=magic"), RADIR_UNSUPPORTED, "magic");
  expect_status(fit("y", "method=hmc\ntune=true"), RADIR_ARGUMENT_ERROR,
                "tuning");
  expect_status(fit("y", "class_weights=balanced"), RADIR_ARGUMENT_ERROR,
                "has no classes");
  expect_status(fit("y", "tune=true\ntune_for=brier"), RADIR_ARGUMENT_ERROR,
                "cannot tune for brier");
  expect_status(fit("y", "tune=true\ntune_budget=1e-9"), RADIR_ARGUMENT_ERROR,
                "cannot end within");
  EXPECT_EQ(model, nullptr);

  radir_prediction prediction = {};
  double number = 0;
  prediction.class_probabilities = &number;
  expect_status(radir_model_predict(model_, table.get(), nullptr, &prediction),
                RADIR_ARGUMENT_ERROR, "predicts a number");
  prediction = {};
  const double impossible = 1.5;
  prediction.quantiles = &number;
  prediction.probabilities = &impossible;
  prediction.probability_count = 1;
  expect_status(radir_model_predict(model_, table.get(), nullptr, &prediction),
                RADIR_ARGUMENT_ERROR, "above 0 and below 1");
  prediction.probability_count = -1;
  expect_status(radir_model_predict(model_, table.get(), nullptr, &prediction),
                RADIR_ARGUMENT_ERROR, "at least 0");
  radir_predict_options options = {};
  options.samples = std::int64_t{1} << 61;
  prediction = {};
  prediction.mean = &number;
  expect_status(radir_model_predict(model_, table.get(), &options, &prediction),
                RADIR_ARGUMENT_ERROR, "samples");
  options = {};
  options.threads = 1025;
  expect_status(radir_model_predict(model_, table.get(), &options, &prediction),
                RADIR_ARGUMENT_ERROR, "from 0 to 1024 threads");
  expect_status(fit("y", "threads=1025"), RADIR_ARGUMENT_ERROR,
                "from 0 to 1024");
  expect_status(radir_model_predict(model_, table.get(), nullptr, nullptr),
                RADIR_ARGUMENT_ERROR, "null");
}

TEST_F(CModel, MissingAndInfiniteNumbers) {
  Numbers broken(kRows);
  broken.x[6] = std::numeric_limits<double>::quiet_NaN();
  const NumberTable table(broken);
  radir_model model = nullptr;
  expect_status(
      radir_model_fit(table.get(), "y", kQuick, nullptr, nullptr, &model),
      RADIR_IO_ERROR, "missing");
  const char* const drop = "method=rdp\nsteps=50\nmissing=drop";
  expect_status(
      radir_model_fit(table.get(), "y", drop, nullptr, nullptr, &model),
      RADIR_OK);
  std::vector<double> mean(static_cast<std::size_t>(kRows));
  radir_prediction prediction = {};
  prediction.mean = mean.data();
  expect_status(radir_model_predict(model, table.get(), nullptr, &prediction),
                RADIR_OK);
  EXPECT_TRUE(std::isnan(mean[3]));
  EXPECT_TRUE(std::isfinite(mean[4]));
  broken.x[8] = std::numeric_limits<double>::infinity();
  expect_status(radir_model_predict(model, table.get(), nullptr, &prediction),
                RADIR_OK);
  EXPECT_TRUE(std::isnan(mean[4]));
  expect_status(radir_model_free(model), RADIR_OK);
}

struct Count {
  int calls = 0;
  int stop_after = 1000000;
};

int32_t count(const radir_progress* progress, void* user) {
  auto* const count = static_cast<Count*>(user);
  EXPECT_GT(progress->total, 0);
  return ++count->calls >= count->stop_after ? 1 : 0;
}

TEST_F(CModel, TellsItsProgressAndStops) {
  const NumberTable table(*numbers());
  radir_model model = nullptr;
  Count all;
  expect_status(radir_model_fit(table.get(), "y", kQuick, count, &all, &model),
                RADIR_OK);
  EXPECT_GE(all.calls, 2);  // the first and the last
  expect_status(radir_model_free(model), RADIR_OK);
  model = nullptr;
  for (const char* method : {"method=rdp\nrestarts=3", "method=hmc"}) {
    Count first;
    first.stop_after = 1;
    expect_status(
        radir_model_fit(table.get(), "y", method, count, &first, &model),
        RADIR_STOPPED, "stopped");
    EXPECT_EQ(first.calls, 1);
    EXPECT_EQ(model, nullptr);
  }
}

TEST_F(CModel, AStoppedRunGoesOn) {
  const TemporaryFolder folder;
  const NumberTable table(*numbers());
  const std::string quick = "method=rdp\nsteps=20000\nhidden=5\nrestarts=2";
  const std::string in_run = quick + "\nrun=" + (folder / "run");
  const auto fit = [&](const std::string& settings, Count& count_calls,
                       radir_model& model) {
    return radir_model_fit(table.get(), "y", settings.c_str(), count,
                           &count_calls, &model);
  };
  radir_model alone = nullptr, resumed = nullptr;
  Count first, rest, none;
  first.stop_after = 3;
  expect_status(fit(in_run, first, resumed), RADIR_STOPPED, "stopped");
  EXPECT_EQ(resumed, nullptr);
  expect_status(fit(in_run + "\nseed=9", rest, resumed), RADIR_ARGUMENT_ERROR,
                "other settings");
  EXPECT_TRUE(refuses_other_tables(in_run));
  expect_status(fit(in_run, rest, resumed), RADIR_OK);
  expect_status(fit(quick, rest, alone), RADIR_OK);
  EXPECT_EQ(means(resumed), means(alone));
  expect_status(radir_model_free(resumed), RADIR_OK);
  // A run that is finished is only read.
  expect_status(fit(in_run, none, resumed), RADIR_OK);
  EXPECT_EQ(none.calls, 0);
  EXPECT_EQ(means(resumed), means(alone));
  EXPECT_TRUE(refuses_other_tables(in_run));
  expect_status(radir_model_free(resumed), RADIR_OK);
  expect_status(radir_model_free(alone), RADIR_OK);
}

TEST_F(CModel, ThreadsMayUseOneModel) {
  const std::vector<double> expected = means(model_);
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&, t] {
      for (int i = 0; i < 5; ++i) {
        if (t % 2 == 0) {
          EXPECT_EQ(means(model_), expected);
        } else {
          const NumberTable table(*numbers());
          const radir_predict_options options = {20, 7, 1};
          text_of([&](auto... buffer) {
            return radir_model_evaluate(model_, table.get(), &options,
                                        buffer...);
          });
        }
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
}

TEST(CModelOfClasses, PredictsThem) {
  radir_table table = nullptr;
  radir_model model = nullptr;
  const Numbers numbers(90);
  std::vector<std::int32_t> codes;
  for (std::size_t i = 0; i < 90; ++i) {
    codes.push_back(numbers.y[i] > 0 ? 0 : 1);
  }
  const char* const classes[] = {"up", "down"};
  expect_status(radir_table_create("t", &table), RADIR_OK);
  expect_status(radir_table_add_matrix(table, RADIR_FLOAT64, numbers.x.data(),
                                       90, 2, 2, 1, nullptr),
                RADIR_OK);
  expect_status(
      radir_table_add_categories(table, "way", classes, 2, codes.data(), 90),
      RADIR_OK);
  expect_status(radir_model_fit(table, "way", kQuick, nullptr, nullptr, &model),
                RADIR_OK);
  std::vector<double> probabilities(180), entropy(90);
  radir_prediction prediction = {};
  prediction.class_probabilities = probabilities.data();
  prediction.entropy = entropy.data();
  expect_status(radir_model_predict(model, table, nullptr, &prediction),
                RADIR_OK);
  int right = 0;
  for (std::size_t i = 0; i < 90; ++i) {
    EXPECT_NEAR(probabilities[2 * i] + probabilities[2 * i + 1], 1, 1e-9);
    // In the order of their names: "down" first.
    const int said = probabilities[2 * i] > 0.5 ? 1 : 0;
    if (said == codes[i]) ++right;
  }
  EXPECT_GT(right, 80);
  prediction.mean = entropy.data();
  expect_status(radir_model_predict(model, table, nullptr, &prediction),
                RADIR_ARGUMENT_ERROR, "predicts classes");
  expect_status(radir_model_free(model), RADIR_OK);
  expect_status(radir_table_free(table), RADIR_OK);
}

TEST(CSettings, AreThoseOfTheProgram) {
  const Json list = Json::parse(
      text_of([](auto... buffer) { return radir_fit_settings(buffer...); }));
  std::map<std::string, Json> settings;
  for (const Json& setting : list) settings[setting["name"]] = setting;
  EXPECT_EQ(settings.at("steps")["default"], 20000);
  EXPECT_EQ(settings.at("hidden")["default"], Json::array({50}));
  EXPECT_EQ(settings.at("missing")["choices"].size(), 4u);
  EXPECT_EQ(settings.at("learning_rate")["range"], "> 0");
  std::int64_t length = 0;
  expect_status(radir_fit_settings(nullptr, 0, nullptr), RADIR_ARGUMENT_ERROR,
                "null");
  char small[4];
  expect_status(radir_fit_settings(small, 4, &length), RADIR_ARGUMENT_ERROR,
                "4 bytes");
}

}  // namespace
}  // namespace radir::c_api

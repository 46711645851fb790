#include "radir/reproduce/lenet.h"

#include <gtest/gtest.h>

#include <cmath>

#include "radir/core/error.h"
#include "radir/data/builtin_data.h"
#include "radir/data/idx.h"
#include "radir/io/run_folder.h"
#include "radir/report/page.h"
#include "radir/reproduce/lenet_methods.h"
#include "support/expect_error.h"
#include "support/stops.h"
#include "support/temporary_folder.h"

namespace radir::reproduce {
namespace {

const PublishedNetwork& named(bool dense, const std::string& method) {
  for (const PublishedNetwork& network : published_lenet(dense)) {
    if (network.method == method) return network;
  }
  throw ArgumentError("no published network " + method);
}

/// In thousands, to one decimal.
std::pair<double, double> thousands(bool dense, const std::string& method) {
  const network::Cost cost = published_cost(named(dense, method));
  const auto rounded = [](std::int64_t count) {
    return std::round(static_cast<double>(count) / 100) / 10;
  };
  return {rounded(cost.flops), rounded(cost.parameters)};
}

// Counted by hand from the formula.
TEST(PublishedLenet, CostsByTheFormula) {
  EXPECT_EQ(thousands(false, "RDP (article)"), (std::pair{113.1, 8.8}));
  EXPECT_EQ(thousands(false, "BC-GHS"), (std::pair{156.9, 2.8}));
  EXPECT_EQ(thousands(true, "VIB"), (std::pair{9.7, 9.7}));
}

LenetRun run(std::uint64_t seed, double error) {
  LenetRun result;
  result.seed = seed;
  result.fine_tuned.test_error = error;
  result.fine_tuned.architecture = "a" + std::to_string(seed);
  return result;
}

TEST(Lenet, TheMedianIsOneOfTheRuns) {
  const std::vector<LenetRun> runs = {run(1, 0.03), run(2, 0.01), run(3, 0.02)};
  EXPECT_EQ(median_run(runs).seed, 3u);
  EXPECT_EQ(median_run({run(1, 0.03), run(2, 0.01)}).seed, 2u);
  testing::expect_error<ArgumentError>([] { median_run({}); }, "no runs");
  LenetOptions options;
  const report::Table table = lenet_table(options, runs);
  EXPECT_EQ(table.rows.size(), published_lenet(false).size() + 7);
  EXPECT_EQ(std::get<std::string>(table.rows.back()[1]), "a3");
}

TEST(Lenet, RefusesNoSeeds) {
  LenetOptions options;
  options.seeds = 0;
  ThreadPool pool(1);
  testing::expect_error<ArgumentError>([&] { run_lenet(options, {}, pool); },
                                       "from 1 to 1000, but is 0");
}

/// LeNet-300-100 on a few images, for a moment.
class SmallLenet : public ::testing::Test {
 protected:
  SmallLenet() {
    options_.dense = true;
    options_.seeds = 2;
    options_.settings.epochs = 2;
    options_.settings.prune_every = 1;
    options_.settings.fine_tune_epochs = 1;
    options_.settings.batch = 20;
    options_.settings.samples = 2;
    const data::ImageDataset digits = data::make_digits_dataset(60, 20, 1);
    data::write_idx_folder(place_.path(), digits);
    images_ = data::read_images(place_.path(), "", 0);
  }

  /// All but the times, as text.
  std::vector<std::string> run(const workflows::ResumableRun* run = nullptr) {
    std::vector<std::string> all;
    for (const LenetRun& one :
         run_lenet(options_, images_, pool_, nullptr, run)) {
      all.push_back(std::to_string(one.seed));
      for (const workflows::NetworkFigures* figures :
           {&one.unpruned, &one.pruned, &one.fine_tuned}) {
        all.push_back(figures->architecture);
        all.push_back(std::to_string(figures->cost.flops));
        all.push_back(std::to_string(figures->cost.parameters));
        all.push_back(std::to_string(figures->train_error));
        all.push_back(std::to_string(figures->test_error));
        all.push_back(std::to_string(figures->bayes_test_error));
      }
    }
    return all;
  }

  LenetOptions options_;
  testing::TemporaryFolder place_;
  data::ImageSplit images_;
  ThreadPool pool_{2};
  io::RunFolder folder_ = io::RunFolder::create(place_ / "run");
};

TEST_F(SmallLenet, ComparesMethods) {
  options_.methods = {"rdp", "l0", "flops"};
  const auto runs = run_lenet_methods(options_, images_, pool_);
  ASSERT_EQ(runs.size(), 6u);
  const auto all = lenet_summaries(true, runs);
  ASSERT_EQ(all.size(), 3u);
  EXPECT_EQ(all[0].line, "rdp");
  EXPECT_FALSE(all[0].compared);
  EXPECT_TRUE(all[2].compared);
  EXPECT_EQ(all[1].seeds, 2);
  EXPECT_NEAR(all[1].less_rdp.mean, all[1].error.mean - all[0].error.mean,
              1e-12);
  EXPECT_LE(all[2].flops.mean, 10000);
  // Each method, and what was published for l0.
  EXPECT_EQ(lenet_method_table(true, runs).rows.size(), 4u);
  const std::string page = to_html(lenet_method_page(true, runs));
  EXPECT_NE(page.find("Error and FLOPs"), std::string::npos);
  EXPECT_NE(page.find("published: L0"), std::string::npos);
  EXPECT_NE(page.find("Inputs of layer 2"), std::string::npos);
}

TEST_F(SmallLenet, MethodsGoOnAfterStops) {
  options_.seeds = 1;
  options_.methods = {"l0", "bc-gnj"};
  const auto errors = [&](const workflows::ResumableRun* run) {
    std::vector<double> values;
    for (const LenetMethodRun& one :
         run_lenet_methods(options_, images_, pool_, nullptr, run)) {
      values.push_back(one.run.fine_tuned.test_nll);
      for (const auto& layer : one.run.scores) {
        values.insert(values.end(), layer.kept.begin(), layer.kept.end());
      }
    }
    return values;
  };
  const auto whole = errors(nullptr);
  std::vector<double> resumed;
  const int stops = workflows::train_with_stops(
      folder_, 5, [&](const workflows::ResumableRun& stopping) {
        resumed = errors(&stopping);
      });
  EXPECT_GE(stops, 2);
  EXPECT_EQ(resumed, whole);
}

TEST(LenetMethods, AreNamedAndFineTunedAlike) {
  LenetOptions options = default_lenet_options(false);
  options.methods = {"all"};
  const auto lines = lenet_lines_of(options);
  ASSERT_EQ(lines.size(), 9u);
  for (const LenetLine& line : lines) {
    EXPECT_FALSE(line.published.empty()) << line.name;
    const auto settings = line_settings(options, line);
    check(settings);
    // The same epochs without noise after the last removal.
    EXPECT_EQ(
        line.method == "rdp" ? settings.mean_epochs : settings.fine_tune_epochs,
        120);
  }
  EXPECT_EQ(lenet_options_from_json(to_json(options), false).methods,
            options.methods);
  options.methods = {"sbp", "l1"};
  testing::expect_error<UnsupportedError>([&] { lenet_lines_of(options); },
                                          "there is no method \"l1\"");
  options.methods = {"sbp", "all"};
  testing::expect_error<ArgumentError>([&] { lenet_lines_of(options); },
                                       "asked for twice");
}

TEST_F(SmallLenet, GoesOnToTheSameFiguresAfterStops) {
  const auto whole = run();
  std::vector<std::string> resumed;
  const int stops = workflows::train_with_stops(
      folder_, 7, [&](const workflows::ResumableRun& stopping) {
        resumed = run(&stopping);
      });
  EXPECT_GE(stops, 2);
  EXPECT_EQ(resumed, whole);
  EXPECT_TRUE(folder_.checkpoint_parts().empty());
  // With all of it kept, nothing is left but to ask for each seed.
  const workflows::ResumableRun no_step(folder_, workflows::stop_at(2));
  EXPECT_EQ(run(&no_step), whole);
  // What is damaged is done again.
  const std::string good = testing::read_bytes(folder_.file("seed-1.json"));
  std::string bad = good;
  bad.replace(bad.find("\"flops\": "), 9, "\"flops\": 1e300, \"x\": ");
  place_.write("run/seed-1.json", bad);
  EXPECT_THROW(run(&no_step), workflows::Interrupted);
  const workflows::ResumableRun all_steps(folder_, {});
  EXPECT_EQ(run(&all_steps), whole);
}

TEST(LenetOptions, ComeBackFromJson) {
  LenetOptions options;
  options.data_dir = "data";
  options.seeds = 5;
  options.settings.pressure = 18;
  const std::string text = to_json(options);
  const LenetOptions back = lenet_options_from_json(text, true);
  EXPECT_EQ(to_json(back), text);
  EXPECT_TRUE(back.dense);
  EXPECT_EQ(back.seeds, 5);
  const auto expect_refused = [&](const std::string& key,
                                  const std::string& value, const char* part) {
    std::string bad = text;
    bad.replace(bad.find("\"" + key + "\":"), key.size() + 4,
                "\"" + key + "\":" + value);
    testing::expect_error<IoError>([&] { lenet_options_from_json(bad, true); },
                                   part);
  };
  expect_refused("seeds", "1.5", "must be an integer, but is 1.5");
  expect_refused("seeds", "0", "must be from 1 to 1000, but is 0");
  expect_refused("batch", "-1", "options.settings: ");
}

TEST(Lenet, PressesHarderOnADenseNetwork) {
  EXPECT_TRUE(default_lenet_options(true).dense);
  EXPECT_GT(default_lenet_options(true).settings.pressure,
            default_lenet_options(false).settings.pressure);
}

}  // namespace
}  // namespace radir::reproduce

#include "radir/workflows/metrics_lines.h"

#include <gtest/gtest.h>

#include "radir/core/error.h"
#include "radir/workflows/loss_curves.h"
#include "support/expect_error.h"

namespace radir::workflows {
namespace {

MetricsLine line(std::int64_t network, std::int64_t epoch) {
  MetricsLine line;
  line.network = network;
  line.report.epoch = epoch;
  line.report.step = 7 * epoch;
  line.report.nll = 1.0 / 3;
  line.report.kl = 2.5;
  line.report.kl_weight = 0.5;
  line.report.learning_rate = 1e-3;
  line.report.seconds = 0.25;
  return line;
}

/// The line of the first epoch with one value replaced.
std::string with(const std::string& key, const std::string& value) {
  std::string text = to_json(line(1, 1));
  const std::size_t begin = text.find("\"" + key + "\":") + key.size() + 3;
  return text.replace(begin, text.find_first_of(",}", begin) - begin, value);
}

void expect_refused(const std::string& text, const std::string& part) {
  testing::expect_error<IoError>([&] { read_metrics_lines("m.jsonl", text); },
                                 part);
}

TEST(MetricsLines, SurviveBeingWritten) {
  const std::string text = to_json(line(1, 1)) + "\n" + to_json(line(2, 1)) +
                           "\n" + to_json(line(1, 2));
  for (const char* end : {"\n", ""}) {
    const auto lines = read_metrics_lines("m.jsonl", text + end);
    ASSERT_EQ(lines.size(), 3u);
    EXPECT_EQ(to_json(lines[0]), to_json(line(1, 1)));
    EXPECT_EQ(to_json(lines[2]), to_json(line(1, 2)));
    EXPECT_EQ(lines[1].report.nll, 1.0 / 3);
  }
  EXPECT_TRUE(read_metrics_lines("m.jsonl", "").empty());
}

TEST(MetricsLines, MakeACurveForEachNetwork) {
  const auto curves =
      loss_curves({line(2, 1), line(1, 1), line(2, 2), line(2, 3)});
  ASSERT_EQ(curves.size(), 2u);
  EXPECT_EQ(curves[0].name, "network 1");
  EXPECT_EQ(curves[1].epochs.size(), 3u);
  EXPECT_EQ(loss_section(curves).blocks.size(), 2u);
  EXPECT_EQ(loss_section({}).blocks.size(), 1u);
}

TEST(MetricsLines, AreReadStrictly) {
  const std::string first = to_json(line(1, 1)) + "\n";
  expect_refused(first + "{\n", "m.jsonl, line 2 is not well-formed JSON");
  expect_refused(first + "\n" + first, "m.jsonl, line 2 is not well-formed");
  expect_refused(first + "[1]\n", "m.jsonl, line 2 is not an object, but [1]");
  expect_refused(first + "{\"network\":1}",
                 "m.jsonl, line 2: \"epoch\" is missing");
  expect_refused(with("epoch", "1e300"),
                 "\"epoch\" must be an integer, but is 1e+300");
  expect_refused(with("epoch", "1.5"), "an integer, but is 1.5");
  expect_refused(with("epoch", "0"), "from 1 to 1000000000000, but is 0");
  expect_refused(with("epoch", "9223372036854775807"), "from 1 to");
  expect_refused(with("network", "-1"), "from 1 to 1000, but is -1");
  expect_refused(with("nll", "null"), "\"nll\" must be a number, but is null");
  expect_refused(with("nll", "1e999"), "contains a number that is too large");
  expect_refused(with("kl", "1,\"kl\":2"), "has the key \"kl\" twice");
  expect_refused(with("kl", "1,\"colour\":2"), "\"colour\" is unknown");
  expect_refused(std::string(5000, '['), "5000 bytes, but the limit is 4096");
  expect_refused(first + first,
                 "line 2: network 1 comes to epoch 1 after epoch 1");
}

TEST(TrainingHistory, CountsEpochsThatWereNotReported) {
  TrainingHistory history(1000);
  const auto add = [&](std::int64_t restart, std::int64_t epoch) {
    train::EpochReport report;
    report.epoch = epoch;
    report.nll = static_cast<double>(epoch);
    history.add(restart, report);
  };
  add(0, 1);
  add(1, 5);  // resumed: the reports before are thinned
  add(0, 10);
  EXPECT_EQ(history.epochs_done(), 15);
  EXPECT_EQ(history.final_losses().size(), 2u);
  EXPECT_EQ(history.final_losses()[0]["nll"], 10);
  EXPECT_EQ(read_metrics_lines("lines", history.lines()).size(), 2u);
}

}  // namespace
}  // namespace radir::workflows

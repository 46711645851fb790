#include "radir/io/checkpoint.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "radir/core/error.h"
#include "radir/io/safetensors.h"
#include "support/expect_error.h"
#include "support/temporary_folder.h"

namespace radir::io {
namespace {

using ::radir::testing::expect_error;
using ::radir::testing::read_bytes;
using ::radir::testing::TemporaryFolder;
using train::EpochReport;
using train::TrainerProgress;

const std::string kSettings =
    R"({"batch": 100, "data": {"fingerprint": "2f"}, "gap": 0.003})";

/// Numbers with no short decimal form, and epochs with and without validation.
template <typename T>
TrainerProgress<T> some_progress() {
  TrainerProgress<T> progress;
  progress.state.parameters = {T(1) / 3, T(-2.5), T(1e-30)};
  progress.state.optimizer.slots = {
      {"first_moment", {T(0.1), T(0.2), T(0.3)}},
      {"second_moment", {T(0.01), T(0), T(3e20)}}};
  progress.state.seed = 0xfedcba9876543210u;
  progress.state.step = 23;
  progress.parameters = {T(4), T(5), T(6)};
  progress.selected_epoch = 2;
  progress.epoch_nll = 1.0 / 7;
  for (std::int64_t epoch : {1, 2}) {
    EpochReport report;
    report.epoch = epoch;
    report.step = 10 * epoch;
    report.nll = 1.0 / 3;
    report.kl = 0.1 * static_cast<double>(epoch);
    report.kl_weight = 0.7;
    report.learning_rate = 0.01;
    report.seconds = 1.5;
    report.selected = epoch == 2;
    if (epoch == 2) report.validation_nll = -0.3;
    progress.history.push_back(report);
  }
  return progress;
}

template <typename T>
void expect_equal(const TrainerProgress<T>& a, const TrainerProgress<T>& b) {
  EXPECT_EQ(a.state.parameters, b.state.parameters);
  EXPECT_EQ(a.state.optimizer.slots, b.state.optimizer.slots);
  EXPECT_EQ(a.state.seed, b.state.seed);
  EXPECT_EQ(a.state.step, b.state.step);
  EXPECT_EQ(a.parameters, b.parameters);
  EXPECT_EQ(a.selected_epoch, b.selected_epoch);
  EXPECT_EQ(a.epoch_nll, b.epoch_nll);
  ASSERT_EQ(a.history.size(), b.history.size());
  for (std::size_t i = 0; i < a.history.size(); ++i) {
    EXPECT_EQ(a.history[i].epoch, b.history[i].epoch);
    EXPECT_EQ(a.history[i].step, b.history[i].step);
    EXPECT_EQ(a.history[i].nll, b.history[i].nll);
    EXPECT_EQ(a.history[i].kl, b.history[i].kl);
    EXPECT_EQ(a.history[i].kl_weight, b.history[i].kl_weight);
    EXPECT_EQ(a.history[i].learning_rate, b.history[i].learning_rate);
    EXPECT_EQ(a.history[i].seconds, b.history[i].seconds);
    EXPECT_EQ(a.history[i].validation_nll, b.history[i].validation_nll);
    EXPECT_EQ(a.history[i].selected, b.history[i].selected);
  }
}

template <typename T>
void expect_round_trip(const TrainerProgress<T>& progress) {
  const TemporaryFolder folder;
  write_checkpoint(folder / "c", progress, kSettings);
  expect_equal(progress, read_checkpoint<T>(folder / "c", kSettings));
}

TEST(Checkpoint, WhatIsWrittenIsReadToTheLastBit) {
  expect_round_trip(some_progress<float>());
  expect_round_trip(some_progress<double>());
  TrainerProgress<float> beginning = some_progress<float>();
  beginning.history.clear();
  expect_round_trip(beginning);
  TrainerProgress<float> without_optimizer = some_progress<float>();
  without_optimizer.state.optimizer.slots.clear();
  expect_round_trip(without_optimizer);
}

TEST(Checkpoint, AThinnedHistoryKeepsTheNumbersOfItsEpochs) {
  TrainerProgress<float> progress = some_progress<float>();
  progress.history[0].epoch = 500;
  progress.history[1].epoch = 2000;
  expect_round_trip(progress);
  progress.history[1].epoch = 400;
  const TemporaryFolder folder;
  write_checkpoint(folder / "c", progress, kSettings);
  expect_error<IoError>(
      [&] { read_checkpoint<float>(folder / "c", kSettings); },
      "the epoch 400 follows the epoch 500");
}

TEST(Checkpoint, TheHistoryIsReadWithoutTheSettings) {
  const TemporaryFolder folder;
  const auto progress = some_progress<float>();
  write_checkpoint(folder / "c", progress, kSettings);
  TrainerProgress<float> read = progress;
  read.history = read_checkpoint_history(folder / "c");
  expect_equal(progress, read);
  SafetensorsWriter().write(folder / "other");
  expect_error<IoError>([&] { read_checkpoint_history(folder / "other"); },
                        "not a checkpoint of radir");
}

TEST(Checkpoint, OfOtherSettingsOrDataIsRefused) {
  const TemporaryFolder folder;
  write_checkpoint(folder / "c", some_progress<float>(), kSettings);
  const auto expect_refused = [&](const std::string& settings,
                                  const char* part) {
    expect_error<IoError>(
        [&] { read_checkpoint<float>(folder / "c", settings); }, part);
  };
  // The order of keys and the white space say nothing.
  EXPECT_NO_THROW(read_checkpoint<float>(
      folder / "c", R"({"gap":3e-3,"data":{"fingerprint":"2f"},"batch":100})"));
  expect_refused(
      R"({"batch": 50, "data": {"fingerprint": "2f"}, "gap": 0.003})",
      "\"batch\" is 100 there, but 50 here");
  expect_refused(
      R"({"batch": 100, "data": {"fingerprint": "30"}, "gap": 0.003})",
      "\"data/fingerprint\" is \"2f\" there, but \"30\" here");
  expect_refused(R"({"batch": 100, "data": {"fingerprint": "2f"}})",
                 "\"gap\" is 0.003 there, but null here");
  expect_error<IoError>(
      [&] { read_checkpoint<double>(folder / "c", kSettings); }, "F32");
  for (const char* nothing : {"", "[1]", "{"}) {
    expect_error<ArgumentError>(
        [&] { read_checkpoint<float>(folder / "c", nothing); },
        "must be a JSON object");
    expect_error<ArgumentError>(
        [&] {
          write_checkpoint(folder / "c", some_progress<float>(), nothing);
        },
        "must be a JSON object");
  }
}

std::string checkpoint_bytes() {
  const TemporaryFolder folder;
  write_checkpoint(folder / "c", some_progress<float>(), kSettings);
  return read_bytes(folder / "c");
}

TEST(Checkpoint, CutAnywhereIsRefused) {
  const std::string bytes = checkpoint_bytes();
  for (std::size_t length = 0; length < bytes.size(); ++length) {
    EXPECT_THROW(
        read_checkpoint<float>("cut", bytes.substr(0, length), kSettings),
        IoError)
        << length;
  }
  expect_equal(some_progress<float>(),
               read_checkpoint<float>("whole", bytes, kSettings));
}

TEST(Checkpoint, WithAChangedBitIsRefused) {
  const std::string bytes = checkpoint_bytes();
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    for (int bit : {0, 5, 7}) {
      std::string damaged = bytes;
      damaged[i] = static_cast<char>(damaged[i] ^ (1 << bit));
      try {
        // Where it is read at all, a space of the header's end has changed.
        expect_equal(some_progress<float>(),
                     read_checkpoint<float>("damaged", damaged, kSettings));
      } catch (const IoError&) {
      }
    }
  }
}

/// The bytes of a checkpoint whose description was changed, the tensors not.
std::string with_description(
    const std::function<void(nlohmann::json&)>& change) {
  const std::string bytes = checkpoint_bytes();
  const SafetensorsFile file("file", bytes);
  auto json = nlohmann::json::parse(file.metadata("radir.checkpoint"));
  change(json);
  SafetensorsWriter writer;
  writer.set_metadata("radir.checkpoint", json.dump());
  for (const auto& [name, tensor] : file.tensors()) {
    switch (tensor.dtype) {
      case Dtype::F32:
        writer.add(name, tensor.shape,
                   reinterpret_cast<const float*>(tensor.bytes.data()));
        break;
      case Dtype::F64:
        writer.add(name, tensor.shape,
                   reinterpret_cast<const double*>(tensor.bytes.data()));
        break;
      case Dtype::U8:
        writer.add(name, tensor.shape,
                   reinterpret_cast<const std::uint8_t*>(tensor.bytes.data()));
        break;
      default:
        writer.add(name, tensor.shape,
                   reinterpret_cast<const std::int64_t*>(tensor.bytes.data()));
    }
  }
  return writer.bytes();
}

TEST(Checkpoint, ReadingIsStrict) {
  const auto expect_refused =
      [](const std::function<void(nlohmann::json&)>& change, const char* part) {
        const std::string bytes = with_description(change);
        expect_error<IoError>(
            [&] { read_checkpoint<float>("file", bytes, kSettings); }, part);
      };
  EXPECT_NO_THROW(read_checkpoint<float>(
      "file", with_description([](nlohmann::json&) {}), kSettings));
  expect_refused([](nlohmann::json& j) { j["format"] = 3; }, "has format 3");
  expect_refused([](nlohmann::json& j) { j.erase("step"); },
                 "\"step\" is missing");
  expect_refused([](nlohmann::json& j) { j["seed"] = -1; }, "\"seed\"");
  expect_refused([](nlohmann::json& j) { j["configuration"] = 3; },
                 "\"configuration\"");
  expect_refused([](nlohmann::json& j) { j["colour"] = 3; },
                 "\"colour\" is unknown");
}

TEST(Checkpoint, OtherFilesAreRefused) {
  const TemporaryFolder folder;
  expect_error<IoError>(
      [&] { read_checkpoint<float>(folder / "absent", kSettings); },
      "no such file");
  SafetensorsWriter writer;
  const float one = 1;
  writer.add("parameters", {1}, &one);
  const std::string bytes = writer.bytes();
  expect_error<IoError>(
      [&] { read_checkpoint<float>("file", bytes, kSettings); },
      "not a checkpoint of radir");
  expect_error<IoError>(
      [&] {
        write_checkpoint(folder / "no/c", some_progress<float>(), kSettings);
      },
      "no such file or folder");
}

TEST(Checkpoint, AValidationOfNoEpochIsRefused) {
  TrainerProgress<float> progress = some_progress<float>();
  progress.history.front().epoch = 3;  // there are two
  progress.history.front().validation_nll = 1;
  const TemporaryFolder folder;
  write_checkpoint(folder / "c", progress, kSettings);
  expect_error<IoError>(
      [&] { read_checkpoint<float>(folder / "c", kSettings); },
      "a validation of epoch 3, but there are 2 epochs");
}

}  // namespace
}  // namespace radir::io

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>

#include "cli/program.h"
#include "radir/io/model_file.h"
#include "radir/io/onnx.h"
#include "radir/train/model.h"
#include "support/temporary_folder.h"

namespace radir {
namespace {

using ::radir::testing::contains;
using ::radir::testing::expect_failure;
using ::radir::testing::ProgramResult;
using ::radir::testing::run_program;
using ::radir::testing::TemporaryFolder;

/// Models that no training writes, and what the commands say of them.
class Numbers : public ::testing::Test {
 protected:
  void SetUp() override {
    table_ = folder_.write("t.csv", testing::small_table());
    ASSERT_EQ(run_program("train '" + table_ +
                          "' --target y --epochs 2 --hidden 3 --out '" +
                          (folder_ / "run") + "'")
                  .exit_code,
              0);
    saved_ = io::read_model(folder_ / "run/model.safetensors");
  }

  std::string write(const io::SavedModel& model) const {
    io::write_model(folder_ / "m.safetensors", model);
    return folder_ / "m.safetensors";
  }

  TemporaryFolder folder_;
  std::string table_;
  io::SavedModel saved_;
};

TEST_F(Numbers, AModelWhoseWeightsAreNotNumbersIsRefused) {
  for (float& value : saved_.networks.front()) value = 0;
  const std::string model = write(saved_);
  for (const std::string& arguments :
       {"export '" + model + "' --onnx '" + (folder_ / "n.onnx") + "'",
        "predict '" + model + "' '" + table_ + "'",
        "evaluate '" + model + "' '" + table_ + "'", "inspect '" + model + "'",
        "prune '" + model + "' --out '" + (folder_ / "p") + "'"}) {
    expect_failure(arguments, 4,
                   "m.safetensors: point_network: the weights of layer1 are "
                   "not finite; the file is damaged");
  }
  EXPECT_FALSE(std::filesystem::exists(folder_ / "n.onnx"));
}

/// The model with other numbers in its description of the target.
io::SavedModel with_target(io::SavedModel model, const std::string& mean,
                           const std::string& scale) {
  std::string& text = model.preprocessing;
  const std::size_t target = text.find("\"target\"");
  const auto replace = [&](const std::string& key, const std::string& value) {
    const std::size_t begin = text.find(key, target) + key.size();
    text.replace(begin, text.find_first_of(",}", begin) - begin, value);
  };
  replace("\"mean\":", mean);
  replace("\"scale\":", scale);
  return model;
}

// A mean of 1e308 once made the search for a quantile endless.
TEST_F(Numbers, ATargetFarFromZeroIsPredictedOrNamed) {
  const std::string model = write(with_target(saved_, "1e308", "1e300"));
  const ProgramResult predicted =
      run_program("predict '" + model + "' '" + table_ + "'");
  EXPECT_EQ(predicted.exit_code, 0) << predicted.err;
  for (const char* word : {"nan", "inf"}) {
    EXPECT_FALSE(contains(predicted.out, word));
  }
  const std::string wide = write(with_target(saved_, "1e308", "1e308"));
  const ProgramResult named =
      run_program("predict '" + wide + "' '" + table_ + "'");
  EXPECT_EQ(named.exit_code, 0);
  EXPECT_TRUE(contains(named.err, "of 40 rows have no prediction (rows "))
      << named.err;
}

// The mean of finite draws can pass the largest double.
TEST_F(Numbers, AMeanThatIsNotFiniteIsNoPrediction) {
  const std::string model =
      write(with_target(saved_, "1.7976931348623157e308", "1"));
  const ProgramResult predicted =
      run_program("predict '" + model + "' '" + table_ + "'");
  EXPECT_EQ(predicted.exit_code, 0) << predicted.err;
  EXPECT_FALSE(contains(predicted.out, "inf")) << predicted.out;
  EXPECT_TRUE(contains(predicted.err, "rows have no prediction (rows "))
      << predicted.err;
}

/// The model with another value in every parameter of this name.
io::SavedModel with_parameter(io::SavedModel saved, const std::string& name,
                              float value) {
  const train::Model model(saved.spec);
  int found = 0;
  for (const train::ParameterInfo& parameter : model.parameters()) {
    if (!contains(parameter.name, name)) continue;
    ++found;
    for (std::vector<float>& network : saved.networks) {
      std::fill_n(network.begin() + parameter.offset, parameter.size(), value);
    }
  }
  EXPECT_GT(found, 0) << name;
  return saved;
}

TEST_F(Numbers, AModelWithoutNoiseNamesItsFile) {
  ASSERT_EQ(run_program("train '" + table_ +
                        "' --target y --method rdp --likelihood gaussian "
                        "--epochs 2 --hidden 3 --out '" +
                        (folder_ / "rdp") + "'")
                .exit_code,
            0);
  const io::SavedModel saved =
      io::read_model(folder_ / "rdp/model.safetensors");
  const std::string both =
      " '" + (folder_ / "m.safetensors") + "' '" + table_ + "'";
  for (const auto& [name, value] : {std::pair{"log_shape", 1e38F},
                                    {"log_shape", -1e38F},
                                    {"log_rate", 1e38F},
                                    {"log_rate", -1e38F}}) {
    write(with_parameter(saved, name, value));
    for (const char* command : {"predict", "evaluate"}) {
      expect_failure(command + both, 4,
                     "m.safetensors: the likelihood's parameters of network 1 "
                     "give no noise with a finite variance");
    }
  }
  if (!io::has_onnx()) return;
  const std::string model =
      write(with_parameter(saved, "bias.log_scale", 1e38F));
  const std::string onnx = folder_.write("f", "before");
  expect_failure(
      "export '" + model + "' --everything --force --onnx '" + onnx + "'", 3,
      "drawn biases that are not finite");
  EXPECT_EQ(testing::read_bytes(onnx), "before");
}

TEST_F(Numbers, ScoresThatAreNotNumbersAreNotPrinted) {
  for (const char* scale : {"1e200", "1e300", "1e308"}) {
    const std::string model = write(with_target(saved_, "0", scale));
    expect_failure("evaluate '" + model + "' '" + table_ + "'", 3,
                   "no row can be scored: in all 40 values are too large");
  }
}

}  // namespace
}  // namespace radir

#include <gtest/gtest.h>

#include <filesystem>

#include "cli/program.h"
#include "radir/io/model_file.h"
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

TEST_F(Numbers, ScoresThatAreNotNumbersAreNotPrinted) {
  for (const char* scale : {"1e200", "1e300", "1e308"}) {
    const std::string model = write(with_target(saved_, "0", scale));
    expect_failure("evaluate '" + model + "' '" + table_ + "'", 3,
                   "no row can be scored: in all 40 values are too large");
  }
}

}  // namespace
}  // namespace radir

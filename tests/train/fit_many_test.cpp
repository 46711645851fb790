#include "train/fit_many.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "kernels/cuda/serial_training.h"
#include "radir/core/error.h"
#include "radir/posterior/group_lasso.h"
#include "radir/train/fit_many.h"
#include "support/device_cases.h"
#include "support/expect_error.h"

namespace radir::train {
namespace {

using ::radir::testing::device_cases;
using ::radir::testing::device_options;
using ::radir::testing::DeviceCase;
using ::radir::testing::DeviceTable;
using ::radir::testing::expect_error;

const std::vector<std::uint64_t> kSeeds = {1, 0x9E3779B97F4A7C15u};

/// The device's program, run by one thread here.
template <typename T>
std::vector<TrainingResult<T>> fit_as_device(const Model& model,
                                             const DataView<T>& data,
                                             const TrainerOptions& options) {
  return fit_many_by<T>(kernels::train_serially<T>, model, data, options,
                        kSeeds, nullptr);
}

/// The largest difference, relative to the largest number.
template <typename T>
double difference(const std::vector<T>& a, const std::vector<T>& b) {
  EXPECT_EQ(a.size(), b.size());
  double largest = 0, distance = 0;
  for (std::size_t i = 0; i < std::min(a.size(), b.size()); ++i) {
    largest = std::max(largest, std::fabs(static_cast<double>(b[i])));
    distance = std::max(distance, std::fabs(static_cast<double>(a[i] - b[i])));
  }
  return distance / largest;
}

class FitMany : public ::testing::TestWithParam<DeviceCase> {
 protected:
  template <typename T>
  void expect_close(std::int64_t rows, std::int64_t epochs, double tolerance) {
    const Model model(GetParam().spec);
    const DeviceTable<T> table(rows, model.input_size());
    const TrainerOptions options = device_options(epochs);
    const auto expected =
        fit_many<T>(model, table.view(), options, kSeeds, Execution());
    const auto found = fit_as_device<T>(model, table.view(), options);
    ASSERT_EQ(found.size(), kSeeds.size());
    for (std::size_t n = 0; n < kSeeds.size(); ++n) {
      SCOPED_TRACE(n);
      const auto& slots = found[n].state.optimizer.slots;
      for (const auto& [name, slot] : expected[n].state.optimizer.slots) {
        EXPECT_LT(difference(slots.at(name), slot), 10 * tolerance) << name;
      }
      EXPECT_LT(difference(found[n].parameters, expected[n].parameters),
                tolerance);
      EXPECT_EQ(found[n].state.step, expected[n].state.step);
      ASSERT_EQ(found[n].history.size(), expected[n].history.size());
      for (std::size_t i = 0; i < found[n].history.size(); ++i) {
        const EpochReport& x = found[n].history[i];
        const EpochReport& y = expected[n].history[i];
        EXPECT_EQ(x.epoch, y.epoch);
        EXPECT_EQ(x.step, y.step);
        EXPECT_EQ(x.kl_weight, y.kl_weight);
        EXPECT_EQ(x.learning_rate, y.learning_rate);
        EXPECT_NEAR(x.nll, y.nll, 10 * tolerance * (1 + std::fabs(y.nll)));
        EXPECT_NEAR(x.kl, y.kl, 10 * tolerance * (1 + std::fabs(y.kl)));
      }
    }
  }
};

// A batch of all rows: one step. Its moments are the gradient.
TEST_P(FitMany, OneStepIsThatOfTheCpuInDouble) {
  expect_close<double>(25, 1, 1e-12);
}

TEST_P(FitMany, OneStepIsThatOfTheCpuInFloat) {
  expect_close<float>(25, 1, 1e-5);
}

TEST_P(FitMany, ATrainingIsThatOfTheCpuInDouble) {
  expect_close<double>(130, 5, 1e-9);
}

INSTANTIATE_TEST_SUITE_P(Cases, FitMany, ::testing::ValuesIn(device_cases()),
                         [](const ::testing::TestParamInfo<DeviceCase>& at) {
                           std::string name = at.param.name;
                           name.erase(
                               std::remove(name.begin(), name.end(), ' '),
                               name.end());
                           return name;
                         });

Model small_model() { return Model(device_cases().front().spec); }

TEST(FitManyOnTheCpu, GivesTheResultsOfFit) {
  const Model model = small_model();
  const DeviceTable<float> table(60, model.input_size());
  TrainerOptions options = device_options(2);
  ThreadPool pool(2);
  const auto many = fit_many(model, table.view(), options, kSeeds, &pool);
  for (std::size_t n = 0; n < kSeeds.size(); ++n) {
    options.seed = kSeeds[n];
    EXPECT_EQ(many[n].parameters, fit(model, table.view(), options).parameters);
  }
}

TEST(FitManyOnADevice, StopsWhereItIsTold) {
  const Model model = small_model();
  const DeviceTable<float> table(60, model.input_size());
  const auto half = [](kernels::TrainingRequest<float>& request) {
    request.end /= 2;
    kernels::train_serially(request);
    EXPECT_FALSE(request.proceed(request.context, request.done));
  };
  std::int64_t told = 0;
  const auto results =
      fit_many_by<float>(half, model, table.view(), device_options(4), kSeeds,
                         [&](std::int64_t steps) {
                           told = steps;
                           return false;
                         });
  EXPECT_EQ(told, 6);
  EXPECT_EQ(results.front().state.step, 6);
  EXPECT_EQ(results.front().history.size(), 2u);
}

TEST(FitManyOnADevice, ContinuesToTheSameBits) {
  const Model model = small_model();
  const DeviceTable<float> table(60, model.input_size());
  const auto in_parts = [](kernels::TrainingRequest<float>& request) {
    const std::int64_t end = request.end;
    for (std::int64_t step : {std::int64_t{4}, std::int64_t{5}, end}) {
      request.end = step;
      kernels::train_serially(request);
      request.begin = step;
    }
  };
  const auto options = device_options(4);
  const auto whole = fit_as_device<float>(model, table.view(), options);
  const auto parts = fit_many_by<float>(in_parts, model, table.view(), options,
                                        kSeeds, nullptr);
  EXPECT_EQ(parts.back().parameters, whole.back().parameters);
  EXPECT_EQ(parts.back().history.back().nll, whole.back().history.back().nll);
}

TEST(FitManyOnADevice, ReportsATrainingThatFails) {
  const Model model = small_model();
  DeviceTable<float> table(25, model.input_size());
  table.targets[3] = 1e30f;  // its square is infinite
  expect_error<NumericalError>(
      [&] { fit_as_device<float>(model, table.view(), device_options(2)); },
      "not finite at step 1 (seed 1, nll inf)");
}

TEST(FitManyOnADevice, RefusesWhatItCannotTrain) {
  const DeviceTable<float> table(60, 13);
  const auto refused = [&](const ModelSpec& spec, const TrainerOptions& options,
                           const char* text) {
    expect_error<UnsupportedError>(
        [&] { fit_as_device<float>(Model(spec), table.view(), options); },
        text);
  };
  const ModelSpec good = device_cases().front().spec;
  ModelSpec spec = good;
  spec.weights = {posterior::GroupLassoOptions()};
  refused(spec, device_options(1),
          "the family of layer1.weight is not supported yet; use --device cpu");
  spec = good;
  spec.likelihood.kind = likelihood::Kind::Mixture;
  spec.network = network::multilayer_perceptron(13, {50}, 9);
  refused(spec, device_options(1), "mixture likelihood is not supported");
  posterior::RadialDirectionalOptions mean;
  mean.direction_prior = posterior::DirectionPrior::MeanDirection;
  spec = good;
  spec.weights = {mean};
  refused(spec, device_options(1), "a prior around the mean direction is not");
  TrainerOptions options = device_options(1);
  options.samples = 2;
  refused(good, options, "more than one sample a step is not supported");
  options = device_options(1);
  options.validation_share = 0.1;
  refused(good, options, "by validation");
}

TEST(FitManyOnADevice, RefusesLayersThatItCannotTrain) {
  using network::Conv2d;
  using network::Dense;
  using network::Flatten;
  using network::MaxPool2d;
  const auto refused = [&](const std::vector<network::LayerSpec>& layers,
                           const char* text, std::int64_t height = 13) {
    ModelSpec spec;
    spec.network = {{1, height, 1}, layers};
    const DeviceTable<float> table(60, height);
    expect_error<UnsupportedError>(
        [&] {
          fit_as_device<float>(Model(spec), table.view(), device_options(1));
        },
        text);
  };
  refused({Conv2d{2, {3, 1}, {2, 1}}, Flatten{}, Dense{1}},
          "the stride, padding, dilation or groups of conv 2 3x1");
  refused({Conv2d{2, {101, 1}}}, "a kernel of more than 100 weights a channel",
          101);
  refused({Flatten{}, Dense{3}, MaxPool2d{{1, 1}, {1, 1}}, Flatten{}, Dense{1}},
          "a max-pool of one number is not supported yet");
  refused({MaxPool2d{{2, 1}, {2, 1}}, Flatten{}, Dense{1}},
          "a max-pool that follows no convolution is not supported yet");
  refused({Conv2d{2, {3, 1}}, MaxPool2d{{3, 1}, {2, 1}}, Flatten{}, Dense{1}},
          "that overlap or are padded are not supported yet");
  refused({Flatten{}, network::Select{{1, 2}}, Dense{1}},
          "the layer \"select 2\" is not supported yet");
  refused({Conv2d{1, {12, 1}}}, "outputs of several pixels are not");
}

// 25 images at once. Its first convolution has one column, its dense layer
// 400,000 weights.
TEST(FitManyOnADevice, TakesAStepOfLenet5AsTheCpuDoes) {
  const Model model(testing::lenet5_spec());
  const DeviceTable<double> table(25, model.input_size());
  const auto options = device_options(1);
  const auto found = fit_as_device<double>(model, table.view(), options);
  const auto expected =
      fit_many<double>(model, table.view(), options, kSeeds, Execution());
  for (std::size_t n = 0; n < kSeeds.size(); ++n) {
    EXPECT_LT(difference(found[n].parameters, expected[n].parameters), 1e-12);
    EXPECT_LT(difference(found[n].state.optimizer.slots.at("first_moment"),
                         expected[n].state.optimizer.slots.at("first_moment")),
              1e-12);
  }
}

// The module is not beside this program.
TEST(FitManyOnCuda, SaysWhatIsMissing) {
  const Model model = small_model();
  const DeviceTable<float> table(60, model.input_size());
  expect_error<UnsupportedError>(
      [&] {
        fit_many(model, table.view(), device_options(1), kSeeds,
                 Execution(Device::Cuda, nullptr));
      },
      "the module radir_cuda.so, which could not be loaded; build with "
      "RADIR_WITH_CUDA=ON, or use --device cpu");
}

}  // namespace
}  // namespace radir::train

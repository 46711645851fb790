#include "radir/experiments/images.h"

#include <gtest/gtest.h>

#include <map>
#include <set>

#include "radir/core/error.h"
#include "radir/train/compiled_step.h"
#include "support/expect_error.h"

namespace radir::experiments {
namespace {

using kernels::Dense;
using kernels::Flatten;

TEST(Images, DigitsAreMadeFromTheSeed) {
  const ImageSplit a = read_images("digits", "", 1);
  EXPECT_EQ(a.train.count, 10000);
  EXPECT_EQ(a.test.count, 2000);
  EXPECT_EQ(to_string(a.train.shape), "1x28x28");
  EXPECT_EQ(std::set<std::int64_t>(a.train.labels.begin(), a.train.labels.end())
                .size(),
            10u);
  for (float pixel : a.test.pixels) ASSERT_TRUE(pixel >= 0 && pixel <= 1);
  EXPECT_EQ(read_images("digits", "", 1).fingerprint, a.fingerprint);
  EXPECT_NE(read_images("digits", "", 2).fingerprint, a.fingerprint);
}

TEST(Images, RefusesWhatIsNotThere) {
  testing::expect_error<IoError>([] { read_images("./nowhere/x", "", 1); },
                                 "nowhere");
}

TEST(Images, RefusesANetworkThatDoesNotFit) {
  ImageSplit images;
  images.name = "pictures";
  images.train.shape = {1, 4, 5};
  images.classes = 3;
  testing::expect_error<ArgumentError>(
      [&] { check_fits(train::lenet5(), images); },
      "takes images of 1x28x28, but those of pictures are 1x4x5");
  testing::expect_error<ArgumentError>(
      [&] {
        check_fits({{1, 4, 5}, {Flatten{}, Dense{4}}}, images);
      },
      "has 4 outputs, but pictures has 3 classes");
  EXPECT_NO_THROW(check_fits({{20}, {Dense{3}}}, images));
}

TEST(Images, ShiftsMoveEveryPixel) {
  const kernels::Shape shape{1, 4, 5};
  std::vector<float> image(20), shifted(20);
  for (std::size_t i = 0; i < 20; ++i) image[i] = static_cast<float>(i + 1);
  const auto shift = random_shift(shape, 1);
  std::map<std::pair<int, int>, int> seen;
  for (int choice = 0; choice < 9; ++choice) {
    shift(image.data(), (choice + 0.5) / 9, shifted.data());
    // Where the pixel (1, 2) went tells the shift; all others go along.
    int down = 9, right = 9;
    for (int y = 0; y < 4; ++y) {
      for (int x = 0; x < 5; ++x) {
        if (shifted[static_cast<std::size_t>(y * 5 + x)] == 8) {
          down = y - 1;
          right = x - 2;
        }
      }
    }
    ++seen[{down, right}];
    for (int y = 0; y < 4; ++y) {
      for (int x = 0; x < 5; ++x) {
        const int from_y = y - down, from_x = x - right;
        const bool inside =
            from_y >= 0 && from_y < 4 && from_x >= 0 && from_x < 5;
        EXPECT_EQ(shifted[static_cast<std::size_t>(y * 5 + x)],
                  inside ? static_cast<float>(from_y * 5 + from_x + 1) : 0);
      }
    }
  }
  EXPECT_EQ(seen.size(), 9u);
  testing::expect_error<ArgumentError>([&] { random_shift(shape, 4); },
                                       "by up to 4 pixels");
}

TEST(Images, PlainAndBayesianScoresAgreeWithoutNoise) {
  ImageRows rows{50, {1, 2, 2}, std::vector<float>(200), {}};
  for (std::size_t i = 0; i < 200; ++i) {
    rows.pixels[i] = static_cast<float>((i * 37) % 101) / 100;
  }
  for (std::int64_t i = 0; i < 50; ++i) rows.labels.push_back(i % 3);
  train::ModelSpec spec;
  spec.network = {{4}, {Dense{3}}};
  spec.weights[0].family = posterior::Family::Gaussian;
  spec.weights[0].initial_noise = 1e-9;
  spec.likelihood.kind = train::Likelihood::Kind::Categorical;
  const train::Model model(spec);
  auto parameters = train::initial_state<float>(model, 3, 50).parameters;
  for (const auto& info : model.parameters()) {
    if (info.name.find("log_scale") == std::string::npos) continue;
    for (std::int64_t i = 0; i < info.size(); ++i) {
      parameters[static_cast<std::size_t>(info.offset + i)] = -30;
    }
  }
  const auto plain =
      evaluate(train::plain_network(model, parameters), rows).metrics();
  const auto bayes = evaluate(model, parameters, rows, 3, 1).metrics();
  for (std::size_t i = 0; i < plain.size(); ++i) {
    EXPECT_NEAR(plain[i].second, bayes[i].second, 1e-6) << plain[i].first;
  }
}

}  // namespace
}  // namespace radir::experiments

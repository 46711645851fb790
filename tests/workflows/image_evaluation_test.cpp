#include "radir/workflows/image_evaluation.h"

#include <gtest/gtest.h>

#include "radir/network/spec.h"
#include "radir/posterior/gaussian.h"
#include "radir/train/compiled_step.h"
#include "radir/train/point_network.h"

namespace radir::workflows {
namespace {

TEST(ImageEvaluation, PlainAndBayesianScoresAgreeWithoutNoise) {
  data::ImageRows rows{50, {1, 2, 2}, std::vector<float>(200), {}};
  for (std::size_t i = 0; i < 200; ++i) {
    rows.pixels[i] = static_cast<float>((i * 37) % 101) / 100;
  }
  for (std::int64_t i = 0; i < 50; ++i) rows.labels.push_back(i % 3);
  train::ModelSpec spec;
  spec.network = {{4}, {network::Dense{3}}};
  posterior::GaussianOptions weights;
  weights.initial_noise = 1e-9;
  spec.weights = {weights};
  spec.likelihood.kind = likelihood::Kind::Categorical;
  const train::Model model(spec);
  auto parameters = train::initial_state<float>(model, 3, 50).parameters;
  for (const auto& info : model.parameters()) {
    if (info.name.find("log_scale") == std::string::npos) continue;
    for (std::int64_t i = 0; i < info.size(); ++i) {
      parameters[static_cast<std::size_t>(info.offset + i)] = -30;
    }
  }
  const auto plain =
      evaluate(train::point_network(model, parameters), rows).metrics();
  const auto bayes = evaluate(model, parameters, rows, 3, 1).metrics();
  for (std::size_t i = 0; i < plain.size(); ++i) {
    EXPECT_NEAR(plain[i].second, bayes[i].second, 1e-6) << plain[i].first;
  }
}

}  // namespace
}  // namespace radir::workflows

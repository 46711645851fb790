#include <radir/radir.h>

#include <cstdio>

int main() {
  namespace rd = radir::distributions;
  const torch::Tensor mean =
      torch::zeros({100}).index_fill(0, torch::zeros({1}, torch::kLong), 1);
  const rd::VonMisesFisher q(mean, torch::tensor(300.0F));
  rd::Generator generator(1);
  const torch::Tensor x = q.rsample(generator, {1000});
  const float sampled = x.select(1, 0).mean().item<float>();
  const float exact = radir::math::vmf_mean_cosine(100.0F, 300.0F);
  std::printf("mean cosine: %.4f sampled, %.4f exact\n", sampled, exact);
  return std::fabs(sampled - exact) < 0.01F ? 0 : 1;
}

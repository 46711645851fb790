#include "radir/torch/nn/variational.h"

#include <torch/torch.h>

#include <algorithm>
#include <utility>
#include <vector>

#include "radir/core/error.h"
#include "torch/nn/kl_sum.h"

namespace radir::nn {
namespace {

/// Calls body(part) for each T among `module` and all it contains, once.
template <typename T, typename Module, typename Body>
void for_each(Module& module, const Body& body) {
  // modules() of a module that no shared_ptr owns cannot include itself.
  if (auto* part = dynamic_cast<T*>(&module)) body(*part);
  std::vector<const torch::nn::Module*> seen = {&module};
  for (const auto& child : module.modules(/*include_self=*/false)) {
    if (std::find(seen.begin(), seen.end(), child.get()) != seen.end()) {
      continue;
    }
    seen.push_back(child.get());
    if (auto* part = dynamic_cast<T*>(child.get())) body(*part);
  }
}

/// Lets all layers draw so many samples for as long as it lives, those whose
/// mode is Auto in evaluation too.
class ParallelSamples {
 public:
  ParallelSamples(torch::nn::Module& module, std::int64_t count) {
    for_each<RandomLayer>(module, [&](RandomLayer& layer) {
      before_.push_back({&layer, layer.mode(), layer.parallel_samples()});
      layer.set_parallel_samples(count);
      if (layer.mode() == Mode::Auto) layer.set_mode(Mode::Sample);
    });
  }
  ~ParallelSamples() {
    for (const Before& before : before_) {
      before.layer->set_parallel_samples(before.count);
      if (before.mode == Mode::Auto) before.layer->set_mode(Mode::Auto);
    }
  }
  ParallelSamples(const ParallelSamples&) = delete;
  ParallelSamples& operator=(const ParallelSamples&) = delete;

 private:
  struct Before {
    RandomLayer* layer;
    Mode mode;
    std::int64_t count;
  };
  std::vector<Before> before_;
};

}  // namespace

torch::Tensor kl(const torch::nn::Module& module) {
  std::vector<KlTerm> terms;
  torch::Tensor sum;
  const auto add = [&](const torch::Tensor& kl) {
    sum = sum.defined() ? sum + kl : kl;
  };
  for_each<const Variational>(module, [&](const Variational& part) {
    if (auto term = part.kl_term()) {
      terms.push_back(std::move(*term));
    } else {
      add(part.kl());
    }
  });
  if (!terms.empty()) add(detail::sum_of(terms));
  RADIR_CHECK(sum.defined(), ArgumentError, "kl: the module ", module.name(),
              " holds no Bayesian layer");
  return sum;
}

void set_mode(torch::nn::Module& module, Mode mode) {
  for_each<RandomLayer>(module,
                        [&](RandomLayer& layer) { layer.set_mode(mode); });
}

torch::Tensor sample_forward(
    torch::nn::Module& module, const torch::Tensor& input,
    std::int64_t num_samples,
    const std::function<torch::Tensor(const torch::Tensor&)>& forward) {
  RADIR_CHECK(num_samples > 0, ArgumentError, "sample_forward: the number of ",
              "samples must be positive, but is ", num_samples);
  RADIR_CHECK(input.dim() > 0, ArgumentError,
              "sample_forward: the input must have a batch dimension");
  std::vector<std::int64_t> repeats(static_cast<std::size_t>(input.dim()), 1);
  repeats[0] = num_samples;
  const ParallelSamples guard(module, num_samples);
  const torch::Tensor output = forward(input.repeat(repeats));
  const std::int64_t rows = num_samples * input.size(0);
  RADIR_CHECK(output.dim() > 0 && output.size(0) == rows, ArgumentError,
              "sample_forward: the network must keep the batch of ", rows,
              " in its first dimension, but gave the shape ", output.sizes());
  std::vector<std::int64_t> sizes = output.sizes().vec();
  sizes[0] = input.size(0);
  sizes.insert(sizes.begin(), num_samples);
  return output.reshape(sizes);
}

}  // namespace radir::nn

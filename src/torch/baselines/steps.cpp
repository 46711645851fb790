#include "torch/baselines/steps.h"

#include <dlfcn.h>
#include <torch/torch.h>

#include <memory>

#include "radir/network/spec.h"
#include "radir/torch/nn/adam.h"
#include "radir/torch/nn/bayes_conv2d.h"
#include "radir/torch/nn/bayes_linear.h"
#include "radir/torch/nn/composed.h"
#include "radir/torch/nn/elbo.h"
#include "radir/torch/nn/likelihood.h"
#include "radir/torch/nn/network_modules.h"
#include "radir/train/compiled_step.h"
#include "radir/train/point_network.h"
#include "radir/train/step.h"

namespace radir::baselines {
namespace {

namespace F = torch::nn::functional;

/// Examples the ELBO speaks of; its value does not matter for the time.
constexpr std::int64_t kDataCount = 10000;

struct Examples {
  torch::Tensor inputs;   ///< [batch, channels, height, width] or [batch, n]
  torch::Tensor targets;  ///< numbers [batch, n] or classes [batch]
};

Examples random_examples(const train::Model& model, std::int64_t batch) {
  const network::Shape& shape = model.spec().network.input;
  Examples examples;
  examples.inputs =
      shape.height == 1 && shape.width == 1
          ? torch::randn({batch, shape.channels})
          : torch::randn({batch, shape.channels, shape.height, shape.width});
  examples.targets =
      model.likelihood().has_labels()
          ? torch::randint(model.output_size(), {batch}, torch::kLong)
          : torch::randn({batch, model.target_size()});
  return examples;
}

bool is_classifier(const train::Model& model) {
  return model.likelihood().has_labels();
}

std::vector<float> initial_parameters(const train::Model& model) {
  return train::initial_state<float>(model, /*seed=*/0, kDataCount).parameters;
}

/// A step that libtorch takes with so many threads of its own.
Variant torch_variant(const char* name, int threads,
                      std::function<void()> step) {
  return {name, [=] {
            use_threads(threads);
            step();
          }};
}

Variant deterministic(const train::Model& model, const Examples& examples,
                      int threads) {
  torch::nn::Sequential chain =
      nn::to_module(train::point_network(model, initial_parameters(model)));
  auto adam = std::make_shared<torch::optim::Adam>(chain->parameters());
  const bool classes = is_classifier(model);
  return torch_variant("deterministic", threads, [=]() mutable {
    adam->zero_grad();
    const torch::Tensor outputs = chain->forward(examples.inputs);
    const torch::Tensor loss = classes
                                   ? F::cross_entropy(outputs, examples.targets)
                                   : F::mse_loss(outputs, examples.targets);
    loss.backward();
    adam->step();
  });
}

/// What the two Bayesian networks of libtorch modules share: layers, the
/// likelihood and an optimiser over the parameters of both.
template <typename Optimizer>
struct BayesNetwork {
  explicit BayesNetwork(const train::Model& model)
      : chain(nn::to_bayes_module(model, initial_parameters(model))),
        classes(is_classifier(model)),
        optimizer(parameters()) {}

  torch::Tensor nll(const torch::Tensor& outputs,
                    const torch::Tensor& targets) const {
    return classes ? categorical.nll(outputs, targets)
                   : gaussian->nll(outputs, targets);
  }

  void step(const torch::Tensor& nll, const torch::Tensor& kl) {
    elbo(nll, kl).loss.backward();
    optimizer.step();
  }

  torch::Tensor kl() const {
    return classes ? nn::kl(*chain) : nn::kl(*chain) + gaussian->kl();
  }

  torch::nn::Sequential chain;
  bool classes;
  nn::Categorical categorical;
  nn::GaussianLikelihood gaussian;
  nn::Elbo elbo{kDataCount};
  Optimizer optimizer;

 private:
  std::vector<torch::Tensor> parameters() const {
    std::vector<torch::Tensor> all = chain->parameters();
    if (!classes) {
      for (const auto& p : gaussian->parameters()) all.push_back(p);
    }
    return all;
  }
};

Variant autograd(const train::Model& model, const Examples& examples,
                 int threads) {
  auto network = std::make_shared<BayesNetwork<nn::Adam>>(model);
  return torch_variant("autograd", threads, [=] {
    network->optimizer.zero_grad();
    const torch::Tensor outputs = network->chain->forward(examples.inputs);
    network->step(network->nll(outputs, examples.targets), network->kl());
  });
}

Variant composed(const train::Model& model, const Examples& examples,
                 int threads) {
  auto network = std::make_shared<BayesNetwork<torch::optim::Adam>>(model);
  return torch_variant("composed", threads, [=] {
    network->optimizer.zero_grad();
    torch::Tensor kl =
        network->classes ? torch::zeros({}) : network->gaussian->kl();
    const auto draw = [&](const auto& layer) {
      const nn::ComposedPosterior weight = nn::composed_weight(layer);
      const nn::ComposedPosterior bias = nn::composed_bias(layer);
      kl = kl + weight.kl() + bias.kl();
      return std::make_pair(weight.sample(weight.draw_noise()),
                            bias.sample(bias.draw_noise()));
    };
    torch::Tensor x = examples.inputs;
    for (torch::nn::AnyModule& module : *network->chain) {
      if (auto* linear =
              dynamic_cast<nn::BayesLinearImpl*>(module.ptr().get())) {
        const auto [weight, bias] = draw(*linear);
        x = F::linear(x, weight.view({bias.size(0), x.size(1)}), bias);
      } else if (auto* conv =
                     dynamic_cast<nn::BayesConv2dImpl*>(module.ptr().get())) {
        const auto [weight, bias] = draw(*conv);
        const auto& kernel = *conv->options().kernel_size();
        x = torch::conv2d(
            x, weight.view({bias.size(0), x.size(1), kernel[0], kernel[1]}),
            bias);
      } else {
        x = module.forward(x);
      }
    }
    network->step(network->nll(x, examples.targets), kl);
  });
}

/// Everything a compiled step needs, in one place that outlives the call.
struct Compiled {
  Compiled(const train::Model& model, const Examples& examples_in,
           std::uint64_t seed, int threads)
      : examples(examples_in),
        pool(threads),
        step(model, examples_in.inputs.size(0), &pool),
        state(train::initial_state<float>(model, seed, kDataCount)) {
    batch.inputs = examples.inputs.data_ptr<float>();
    if (is_classifier(model)) {
      batch.labels = examples.targets.data_ptr<std::int64_t>();
    } else {
      batch.targets = examples.targets.data_ptr<float>();
    }
    batch.count = examples.inputs.size(0);
    settings.data_count = kDataCount;
    settings.kl_value = false;  // as in training, where an epoch reports it
  }

  void run() { step.step(state, batch, settings); }

  Examples examples;
  ThreadPool pool;
  train::CompiledStep<float> step;
  train::TrainingState<float> state;
  train::Batch<float> batch;
  train::StepSettings settings;
};

Variant compiled(const train::Model& model, const Examples& examples,
                 std::uint64_t seed, int threads) {
  auto it = std::make_shared<Compiled>(model, examples, seed, threads);
  return {"compiled", [=] { it->run(); }};
}

/// What the machine can give: as many trainings of one thread each, at once.
Variant apart(const train::Model& model, const Examples& examples,
              std::uint64_t seed, int threads) {
  auto pool = std::make_shared<ThreadPool>(threads);
  std::vector<std::shared_ptr<Compiled>> trainings;
  for (int i = 0; i < threads; ++i) {
    trainings.push_back(std::make_shared<Compiled>(model, examples, seed, 1));
  }
  return {"apart",
          [=] {
            pool->run(threads, [&](std::int64_t i) {
              trainings[static_cast<std::size_t>(i)]->run();
            });
          },
          threads};
}

}  // namespace

void use_threads(int threads) {
  torch::set_num_threads(threads);
  static void* const blas = dlopen("libopenblas.so.0", RTLD_LAZY | RTLD_NOLOAD);
  static void* const set_threads =
      blas == nullptr ? nullptr : dlsym(blas, "openblas_set_num_threads");
  if (set_threads != nullptr) {
    reinterpret_cast<void (*)(int)>(set_threads)(threads);
  }
}

std::vector<Variant> training_steps(const train::ModelSpec& spec,
                                    std::int64_t batch, std::uint64_t seed,
                                    int threads) {
  torch::manual_seed(static_cast<std::int64_t>(seed));
  const train::Model model(spec);
  const Examples examples = random_examples(model, batch);
  std::vector<Variant> variants = {deterministic(model, examples, threads),
                                   composed(model, examples, threads),
                                   autograd(model, examples, threads),
                                   compiled(model, examples, seed, threads)};
  if (threads > 1) {
    variants.push_back(apart(model, examples, seed, threads));
  }
  return variants;
}

}  // namespace radir::baselines

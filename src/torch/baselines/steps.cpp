#include "torch/baselines/steps.h"

#include <dlfcn.h>
#include <torch/torch.h>

#include <memory>
#include <variant>

#include "radir/network/spec.h"
#include "radir/torch/nn/bayes_conv2d.h"
#include "radir/torch/nn/bayes_linear.h"
#include "radir/torch/nn/composed.h"
#include "radir/torch/nn/likelihood.h"
#include "radir/train/compiled_step.h"
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
      model.spec().likelihood.kind == train::Likelihood::Kind::Categorical
          ? torch::randint(model.output_size(), {batch}, torch::kLong)
          : torch::randn({batch, model.target_size()});
  return examples;
}

/// A network of libtorch modules built from a description. `Linear` and
/// `Conv` choose what stands for the layers with weights.
template <typename Linear, typename Conv>
class Chain {
 public:
  explicit Chain(const network::NetworkSpec& spec) : spec_(spec) {
    const auto shapes = network::layer_shapes(spec.input, spec.layers);
    for (std::size_t i = 0; i < spec.layers.size(); ++i) {
      std::visit(Builder{*this, shapes[i]}, spec.layers[i]);
    }
  }

  /// Applies the layers; `linear` and `conv` say how those with weights are
  /// applied.
  template <typename ApplyLinear, typename ApplyConv>
  torch::Tensor forward(torch::Tensor x, ApplyLinear apply_linear,
                        ApplyConv apply_conv) {
    Pass<ApplyLinear, ApplyConv> pass{std::move(x), apply_linear, apply_conv,
                                      linears_.data(), convs_.data()};
    for (const network::LayerSpec& layer : spec_.layers) {
      std::visit(pass, layer);
    }
    return pass.x;
  }

  torch::Tensor forward(const torch::Tensor& x) {
    const auto call = [](auto& layer, const torch::Tensor& input) {
      return layer->forward(input);
    };
    return forward(x, call, call);
  }

  const std::vector<torch::Tensor>& parameters() const { return parameters_; }
  std::vector<Linear>& linears() { return linears_; }
  std::vector<Conv>& convs() { return convs_; }

 private:
  /// Makes the modules of the layers with weights.
  struct Builder {
    Chain& chain;
    const network::Shape& input;

    void operator()(const network::Dense& layer) const {
      chain.linears_.push_back(Linear(input.size(), layer.outputs));
      chain.add_parameters(*chain.linears_.back());
    }
    void operator()(const network::Conv2d& layer) const {
      chain.convs_.push_back(
          Conv(input.channels, layer.outputs, layer.kernel.h));
      chain.add_parameters(*chain.convs_.back());
    }
    void operator()(const network::MaxPool2d&) const {}
    void operator()(const network::Relu&) const {}
    void operator()(const network::Flatten&) const {}
    void operator()(const network::Select&) const {}
  };

  /// Applies one layer after the other to x.
  template <typename ApplyLinear, typename ApplyConv>
  struct Pass {
    torch::Tensor x;
    ApplyLinear& apply_linear;
    ApplyConv& apply_conv;
    Linear* linear;
    Conv* conv;

    void operator()(const network::Dense&) { x = apply_linear(*linear++, x); }
    void operator()(const network::Conv2d&) { x = apply_conv(*conv++, x); }
    void operator()(const network::MaxPool2d& layer) {
      x = F::max_pool2d(
          x, F::MaxPool2dFuncOptions(layer.kernel.h).stride(layer.stride.h));
    }
    void operator()(const network::Relu&) { x = torch::relu(x); }
    void operator()(const network::Flatten&) { x = x.flatten(1); }
    void operator()(const network::Select& layer) {
      x = x.flatten(1).index_select(1, torch::tensor(layer.indices));
    }
  };

  void add_parameters(const torch::nn::Module& layer) {
    for (const torch::Tensor& p : layer.parameters()) parameters_.push_back(p);
  }

  network::NetworkSpec spec_;
  std::vector<Linear> linears_;
  std::vector<Conv> convs_;
  std::vector<torch::Tensor> parameters_;
};

using PlainChain = Chain<torch::nn::Linear, torch::nn::Conv2d>;
using BayesChain = Chain<nn::BayesLinear, nn::BayesConv2d>;

bool is_classifier(const train::Model& model) {
  return model.spec().likelihood.kind == train::Likelihood::Kind::Categorical;
}

/// A step that libtorch takes with so many threads of its own.
Contender torch_contender(const char* name, int threads,
                          std::function<void()> step) {
  return {name, [=] {
            use_threads(threads);
            step();
          }};
}

Contender deterministic(const train::Model& model, const Examples& examples,
                        int threads) {
  auto chain = std::make_shared<PlainChain>(model.spec().network);
  auto adam = std::make_shared<torch::optim::Adam>(chain->parameters());
  const bool classes = is_classifier(model);
  return torch_contender("deterministic", threads, [=] {
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
/// likelihood and an Adam over the parameters of both.
struct BayesNetwork {
  explicit BayesNetwork(const train::Model& model)
      : chain(model.spec().network),
        classes(is_classifier(model)),
        adam(parameters()) {}

  std::vector<torch::Tensor> parameters() const {
    std::vector<torch::Tensor> all = chain.parameters();
    if (!classes) {
      for (const auto& p : gaussian->parameters()) all.push_back(p);
    }
    return all;
  }

  torch::Tensor nll(const torch::Tensor& outputs,
                    const torch::Tensor& targets) const {
    return classes ? categorical.nll(outputs, targets)
                   : gaussian->nll(outputs, targets);
  }

  void step(const torch::Tensor& nll, torch::Tensor kl) {
    if (!classes) kl = kl + gaussian->kl();
    const torch::Tensor loss = nll + kl / static_cast<double>(kDataCount);
    loss.backward();
    adam.step();
  }

  BayesChain chain;
  bool classes;
  nn::Categorical categorical;
  nn::GaussianLikelihood gaussian{nn::GaussianLikelihoodOptions()};
  torch::optim::Adam adam;
};

Contender autograd(const train::Model& model, const Examples& examples,
                   int threads) {
  auto network = std::make_shared<BayesNetwork>(model);
  return torch_contender("autograd", threads, [=] {
    network->adam.zero_grad();
    const torch::Tensor outputs = network->chain.forward(examples.inputs);
    torch::Tensor kl = torch::zeros({});
    for (auto& layer : network->chain.linears()) kl = kl + layer->kl();
    for (auto& layer : network->chain.convs()) kl = kl + layer->kl();
    network->step(network->nll(outputs, examples.targets), kl);
  });
}

Contender composed(const train::Model& model, const Examples& examples,
                   int threads) {
  auto network = std::make_shared<BayesNetwork>(model);
  return torch_contender("composed", threads, [=] {
    network->adam.zero_grad();
    torch::Tensor kl = torch::zeros({});
    const auto draw = [&](const auto& layer) {
      const nn::ComposedPosterior weight = nn::composed_weight(*layer);
      const nn::ComposedPosterior bias = nn::composed_bias(*layer);
      kl = kl + weight.kl() + bias.kl();
      return std::make_pair(weight.sample(weight.draw_noise()),
                            bias.sample(bias.draw_noise()));
    };
    const torch::Tensor outputs = network->chain.forward(
        examples.inputs,
        [&](const nn::BayesLinear& layer, const torch::Tensor& x) {
          const auto [weight, bias] = draw(layer);
          return F::linear(x, weight.view({bias.size(0), x.size(1)}), bias);
        },
        [&](const nn::BayesConv2d& layer, const torch::Tensor& x) {
          const auto [weight, bias] = draw(layer);
          const auto& kernel = *layer->options().kernel_size();
          return torch::conv2d(
              x, weight.view({bias.size(0), x.size(1), kernel[0], kernel[1]}),
              bias);
        });
    network->step(network->nll(outputs, examples.targets), kl);
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

Contender compiled(const train::Model& model, const Examples& examples,
                   std::uint64_t seed, int threads) {
  auto it = std::make_shared<Compiled>(model, examples, seed, threads);
  return {"compiled", [=] { it->run(); }};
}

/// What the machine can give: as many trainings of one thread each, at once.
Contender apart(const train::Model& model, const Examples& examples,
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

std::vector<Contender> training_steps(const train::ModelSpec& spec,
                                      std::int64_t batch, std::uint64_t seed,
                                      int threads) {
  torch::manual_seed(static_cast<std::int64_t>(seed));
  const train::Model model(spec);
  const Examples examples = random_examples(model, batch);
  std::vector<Contender> contenders = {
      deterministic(model, examples, threads),
      composed(model, examples, threads), autograd(model, examples, threads),
      compiled(model, examples, seed, threads)};
  if (threads > 1) {
    contenders.push_back(apart(model, examples, seed, threads));
  }
  return contenders;
}

}  // namespace radir::baselines

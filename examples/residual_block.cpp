// A network of one's own: a residual block around a Bayesian convolution and
// libtorch's own batch normalisation, trained with libtorch's SGD to tell
// horizontal from vertical and diagonal stripes.

#include <radir/torch/nn/nn.h>
#include <torch/torch.h>

#include <cmath>
#include <iostream>

namespace nn = radir::nn;

struct ResidualBlockImpl : torch::nn::Module {
  explicit ResidualBlockImpl(std::int64_t channels)
      : convolution(nn::BayesConv2dOptions(channels, channels, 3)
                        .padding(1)
                        .bias(false)),
        norm(channels) {
    register_module("convolution", convolution);
    register_module("norm", norm);
  }

  torch::Tensor forward(const torch::Tensor& x) {
    return torch::relu(x + norm(convolution(x)));
  }

  nn::BayesConv2d convolution;
  torch::nn::BatchNorm2d norm;
};
TORCH_MODULE(ResidualBlock);

struct NetworkImpl : torch::nn::Module {
  NetworkImpl()
      : stem(torch::nn::Conv2dOptions(1, 8, 3).padding(1)),
        block(8),
        head(nn::BayesLinearOptions(8, 3).initial_gain(1)) {
    register_module("stem", stem);
    register_module("block", block);
    register_module("head", head);
  }

  torch::Tensor forward(const torch::Tensor& x) {
    return head(block(torch::relu(stem(x))).mean({2, 3}));
  }

  torch::nn::Conv2d stem;
  ResidualBlock block;
  nn::BayesLinear head;
};
TORCH_MODULE(Network);

struct Stripes {
  torch::Tensor images;  // [count, 1, 12, 12]
  torch::Tensor labels;  // [count]
};

/// Noisy stripes of random width and phase; the label is their direction.
Stripes draw_stripes(std::int64_t count) {
  const torch::Tensor labels = torch::randint(3, {count}, torch::kLong);
  const torch::Tensor position = torch::arange(12, torch::kFloat);
  const torch::Tensor along_x = position.view({1, 1, 12});
  const torch::Tensor along_y = position.view({1, 12, 1});
  const torch::Tensor label = labels.view({count, 1, 1});
  const torch::Tensor place =
      torch::where(label == 0, along_y,
                   torch::where(label == 1, along_x, along_x + along_y));
  const torch::Tensor frequency = 1 + torch::rand({count, 1, 1});
  const torch::Tensor phase = 6.28 * torch::rand({count, 1, 1});
  const torch::Tensor images = torch::sin(frequency * place + phase) +
                               1.5 * torch::randn({count, 12, 12});
  return {images.unsqueeze(1), labels};
}

int main() {
  constexpr std::int64_t kExamples = 1000, kBatch = 50, kEpochs = 8;
  torch::manual_seed(1);
  const Stripes train = draw_stripes(kExamples);
  const Stripes test = draw_stripes(500);

  Network net;
  std::cout << net << "\n";
  torch::optim::SGD optimizer(net->parameters(),
                              torch::optim::SGDOptions(0.05).momentum(0.9));
  const nn::Categorical likelihood;
  const nn::Elbo elbo(kExamples, nn::KlSchedule::warmup(0.5));

  double first_nll = 0, nll = 0;
  for (std::int64_t epoch = 0; epoch < kEpochs; ++epoch) {
    const torch::Tensor order = torch::randperm(kExamples);
    const double progress = static_cast<double>(epoch) / kEpochs;
    double kl = 0;
    nll = 0;
    for (std::int64_t begin = 0; begin < kExamples; begin += kBatch) {
      const torch::Tensor batch = order.slice(0, begin, begin + kBatch);
      optimizer.zero_grad();
      const torch::Tensor outputs = net->forward(train.images.index({batch}));
      const nn::ElboTerms terms =
          elbo(likelihood.nll(outputs, train.labels.index({batch})),
               nn::kl(*net), progress);
      terms.loss.backward();
      optimizer.step();
      nll += terms.nll.item<double>() * kBatch / kExamples;
      kl = terms.kl.item<double>();
    }
    if (epoch == 0) first_nll = nll;
    std::cout << "epoch " << epoch + 1 << ": nll " << nll << ", kl " << kl
              << " nats per example\n";
  }

  // The prediction: a mixture over draws of the weights.
  net->eval();
  const torch::NoGradGuard no_grad;
  const torch::Tensor outputs = nn::sample_forward(net, test.images, 20);
  const double test_nll = -likelihood.predictive_log_prob(outputs, test.labels)
                               .mean()
                               .item<double>();
  const torch::Tensor chosen = outputs.softmax(-1).mean(0).argmax(-1);
  const double error =
      chosen.ne(test.labels).to(torch::kDouble).mean().item<double>();
  std::cout << "test: nll " << test_nll << ", error " << 100 * error << " %\n";

  const bool learnt = nll < 0.5 * first_nll && test_nll < 0.5 * std::log(3);
  if (!learnt) std::cerr << "the network did not learn\n";
  return learnt ? 0 : 1;
}

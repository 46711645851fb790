#pragma once

#include <torch/optim/adam.h>
#include <torch/optim/optimizer.h>
#include <torch/types.h>

#include <cstdint>
#include <vector>

namespace radir::nn {

/// torch::optim::Adam, with its options, defaults and update rule, in one pass
/// over each parameter instead of seven: the optimiser for the many parameters
/// of a posterior. Parameters are float or double, dense and contiguous, on the
/// CPU; amsgrad is not supported.
///
///   Adam optimizer(net->parameters(), torch::optim::AdamOptions(1e-3));
class Adam : public torch::optim::Optimizer {
 public:
  using Options = torch::optim::AdamOptions;

  explicit Adam(std::vector<torch::Tensor> parameters,
                const Options& defaults = {});
  /// A group without options of its own takes the defaults.
  explicit Adam(std::vector<torch::optim::OptimizerParamGroup> groups,
                const Options& defaults = {});

  /// Throws UnsupportedError for amsgrad and for a parameter that is not as
  /// described above, DomainError for options outside their ranges.
  torch::Tensor step(LossClosure closure = nullptr) override;

  /// Drops the gradients, as PyTorch does since version 2, instead of filling
  /// them with zeros: the next backward pass then makes them without adding.
  void zero_grad();

  /// Number of steps and both moments of every parameter.
  void save(torch::serialize::OutputArchive& archive) const override;
  void load(torch::serialize::InputArchive& archive) override;

 private:
  /// Of one parameter; undefined before its first gradient.
  struct Moments {
    std::int64_t steps = 0;
    torch::Tensor first;
    torch::Tensor second;
  };

  void update(const Options& options, torch::Tensor& parameter,
              Moments& moments) const;

  std::vector<Moments> moments_;  // in the order of the groups' parameters
};

}  // namespace radir::nn

#include "radir/torch/nn/network_modules.h"

#include <torch/torch.h>

#include <algorithm>
#include <ostream>
#include <string>
#include <utility>
#include <variant>

#include "radir/core/error.h"
#include "radir/likelihood/options.h"
#include "radir/network/spec.h"
#include "radir/torch/nn/bayes_conv2d.h"
#include "radir/torch/nn/bayes_linear.h"

namespace radir::nn {
namespace {

using torch::ExpandingArray;

ExpandingArray<2> both(const network::Pair& pair) { return {pair.h, pair.w}; }

/// Sets what a plain and a Bayesian convolution have in common.
template <typename Options>
Options conv_options(std::int64_t channels, const network::Conv2d& conv) {
  return Options(channels, conv.outputs, both(conv.kernel))
      .stride(both(conv.stride))
      .padding(both(conv.padding))
      .dilation(both(conv.dilation))
      .groups(conv.groups)
      .bias(conv.bias);
}

std::string layer_name(std::size_t index) {
  return "layer" + std::to_string(index + 1);
}

/// Appends the modules of a description one by one. `Factory` makes those with
/// weights: dense(inputs, spec) and conv(channels, spec), called in order.
template <typename Factory>
class ChainBuilder {
 public:
  ChainBuilder(const network::NetworkSpec& spec, Factory& factory)
      : factory_(factory) {
    const auto shapes = network::layer_shapes(spec.input, spec.layers);
    for (index_ = 0; index_ < spec.layers.size(); ++index_) {
      shape_ = shapes[index_];
      std::visit(*this, spec.layers[index_]);
    }
  }

  const torch::nn::Sequential& chain() const { return chain_; }

  void operator()(const network::Dense& dense) {
    add(factory_.dense(shape_.size(), dense));
  }
  void operator()(const network::Conv2d& conv) {
    add(factory_.conv(shape_.channels, conv));
  }
  void operator()(const network::MaxPool2d& pool) {
    add(torch::nn::MaxPool2d(torch::nn::MaxPool2dOptions(both(pool.kernel))
                                 .stride(both(pool.stride))
                                 .padding(both(pool.padding))));
  }
  void operator()(const network::Relu&) { add(torch::nn::ReLU()); }
  void operator()(const network::Flatten&) { add(torch::nn::Flatten()); }
  void operator()(const network::Select& select) {
    add(SelectFeatures(select.indices));
  }

 private:
  template <typename Module>
  void add(Module module) {
    chain_->push_back(layer_name(index_), std::move(module));
  }

  Factory& factory_;
  torch::nn::Sequential chain_;
  std::size_t index_ = 0;
  network::Shape shape_;
};

template <typename Factory>
torch::nn::Sequential build(const network::NetworkSpec& spec, Factory factory) {
  return ChainBuilder<Factory>(spec, factory).chain();
}

/// Gives `tensor` new contents: `count` numbers in its order.
template <typename T>
void assign(torch::Tensor tensor, const T* values, std::size_t count,
            const std::string& what) {
  RADIR_CHECK(static_cast<std::size_t>(tensor.numel()) == count, ArgumentError,
              "to_module: ", what, " needs ", tensor.numel(),
              " numbers, but there are ", count);
  const torch::NoGradGuard no_grad;
  tensor.set_data(tensor.to(torch::CppTypeToScalarType<T>::value));
  std::copy(values, values + count, tensor.data_ptr<T>());
}

/// Layers of libtorch's own with given numbers.
template <typename T>
class PlainFactory {
 public:
  explicit PlainFactory(const std::vector<network::PlainLayer<T>>& layers)
      : layers_(layers) {}

  torch::nn::Linear dense(std::int64_t inputs, const network::Dense& dense) {
    return filled(torch::nn::Linear(
        torch::nn::LinearOptions(inputs, dense.outputs).bias(dense.bias)));
  }
  torch::nn::Conv2d conv(std::int64_t channels, const network::Conv2d& conv) {
    return filled(torch::nn::Conv2d(
        conv_options<torch::nn::Conv2dOptions>(channels, conv)));
  }

 private:
  template <typename Layer>
  Layer filled(Layer layer) {
    RADIR_CHECK(next_ < layers_.size(), ArgumentError,
                "to_module: the network has numbers for only ", layers_.size(),
                " layers with weights");
    const network::PlainLayer<T>& numbers = layers_[next_++];
    const std::string where =
        "layer " + std::to_string(next_) + " with weights";
    assign(layer->weight, numbers.weight.data(), numbers.weight.size(),
           "the weight of " + where);
    if (layer->bias.defined()) {
      assign(layer->bias, numbers.bias.data(), numbers.bias.size(),
             "the bias of " + where);
    }
    return layer;
  }

  const std::vector<network::PlainLayer<T>>& layers_;
  std::size_t next_ = 0;
};

/// Bayesian layers as a model has them, at their starting values.
class BayesFactory {
 public:
  explicit BayesFactory(const train::Model& model) : model_(model) {}

  BayesLinear dense(std::int64_t inputs, const network::Dense& dense) {
    return BayesLinear(
        posterior_of_next(BayesLinearOptions(inputs, dense.outputs))
            .bias(dense.bias));
  }
  BayesConv2d conv(std::int64_t channels, const network::Conv2d& conv) {
    return BayesConv2d(
        posterior_of_next(conv_options<BayesConv2dOptions>(channels, conv)));
  }

 private:
  template <typename Options>
  Options posterior_of_next(Options options) {
    return options.weight(model_.layers()[next_++].weight)
        .bias_prior_scale(model_.spec().bias_prior_scale);
  }

  const train::Model& model_;
  std::size_t next_ = 0;
};

template <typename T>
void check_count(const char* where, const train::Model& model,
                 const std::vector<T>& parameters) {
  RADIR_CHECK(
      static_cast<std::int64_t>(parameters.size()) == model.parameter_count(),
      ArgumentError, where, ": the model has ", model.parameter_count(),
      " parameters, but got ", parameters.size());
}

/// Copies the arrays of `parameters` that belong to `owner` ("layer2") into the
/// parameters and buffers of its module: layer2.weight.row_direction becomes
/// weight_row_direction.
template <typename T>
void copy_parameters(const train::Model& model,
                     const std::vector<T>& parameters, const std::string& owner,
                     torch::nn::Module& module) {
  module.to(torch::CppTypeToScalarType<T>::value);
  const auto named = module.named_parameters();
  const auto buffers = module.named_buffers();
  for (const train::ParameterInfo& info : model.parameters()) {
    if (info.name.compare(0, owner.size() + 1, owner + ".") != 0) continue;
    std::string name = info.name.substr(owner.size() + 1);
    std::replace(name.begin(), name.end(), '.', '_');
    const torch::Tensor* tensor = named.find(name);
    if (tensor == nullptr) tensor = &buffers[name];
    assign(*tensor, parameters.data() + info.offset,
           static_cast<std::size_t>(info.size()), info.name);
  }
}

}  // namespace

SelectFeaturesImpl::SelectFeaturesImpl(std::vector<std::int64_t> indices)
    : indices_(std::move(indices)) {
  for (const std::int64_t index : indices_) {
    RADIR_CHECK(index >= 0, ArgumentError,
                "SelectFeatures: an index must not be negative, but is ",
                index);
  }
  SelectFeaturesImpl::reset();
}

void SelectFeaturesImpl::reset() {
  index_ = register_buffer("index", torch::tensor(indices_, torch::kLong));
}

torch::Tensor SelectFeaturesImpl::forward(const torch::Tensor& input) {
  return input.flatten(1).index_select(1, index_);
}

void SelectFeaturesImpl::pretty_print(std::ostream& stream) const {
  stream << "radir::nn::SelectFeatures(" << indices_.size() << " features)";
}

template <typename T>
torch::nn::Sequential to_module(const network::PlainNetwork<T>& network) {
  return build(network.spec, PlainFactory<T>(network.layers));
}

template <typename T>
torch::nn::Sequential to_bayes_module(const train::Model& model,
                                      const std::vector<T>& parameters) {
  check_count("to_bayes_module", model, parameters);
  torch::nn::Sequential chain =
      build(model.spec().network, BayesFactory(model));
  const auto modules = chain->named_children();
  for (const train::WeightedLayer& layer : model.layers()) {
    copy_parameters(model, parameters, layer.name,
                    *modules[layer_name(layer.index)]);
  }
  return chain;
}

template <typename T>
GaussianLikelihood to_gaussian_likelihood(const train::Model& model,
                                          const std::vector<T>& parameters) {
  const char* where = "to_gaussian_likelihood";
  check_count(where, model, parameters);
  const likelihood::Options& options = model.spec().likelihood;
  RADIR_CHECK(options.kind == likelihood::Kind::Gaussian, ArgumentError, where,
              ": the model's likelihood is ",
              likelihood::to_string(options.kind));
  GaussianLikelihood result(GaussianLikelihoodOptions()
                                .prior_shape(options.prior_shape)
                                .prior_rate(options.prior_rate));
  copy_parameters(model, parameters, "likelihood", *result);
  return result;
}

template torch::nn::Sequential to_module(const network::PlainNetwork<float>&);
template torch::nn::Sequential to_module(const network::PlainNetwork<double>&);
template torch::nn::Sequential to_bayes_module(const train::Model&,
                                               const std::vector<float>&);
template torch::nn::Sequential to_bayes_module(const train::Model&,
                                               const std::vector<double>&);
template GaussianLikelihood to_gaussian_likelihood(const train::Model&,
                                                   const std::vector<float>&);
template GaussianLikelihood to_gaussian_likelihood(const train::Model&,
                                                   const std::vector<double>&);

}  // namespace radir::nn

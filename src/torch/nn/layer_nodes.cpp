#include <torch/csrc/autograd/functions/utils.h>
#include <torch/torch.h>

#include <utility>

#include "torch/distributions/first_order.h"
#include "torch/nn/fast_tensors.h"
#include "torch/nn/layer_posterior.h"

namespace radir::nn::detail {
namespace {

using torch::autograd::Node;
using torch::autograd::SavedVariable;
using Variables = torch::autograd::variable_list;
using Posterior = std::shared_ptr<LayerPosterior>;
using Tensors = LayerPosterior::Tensors;

/// The backward pass of a layer: of a draw of its weight and bias, and of its
/// KL, whose gradients it adds up in one set of tensors.
///
/// A Node instead of a torch::autograd::Function, whose bookkeeping for some
/// twenty arguments costs more than a small layer itself.
class LayerNode : public Node {
 public:
  static constexpr std::uint32_t kKlInput = 0;

  LayerNode(Posterior posterior, const Tensors& blocks)
      : Node(torch::autograd::collect_next_edges(blocks)),
        posterior_(std::move(posterior)) {
    const auto options = blocks[0].options().requires_grad(false);
    add_input_metadata(options, c10::SymIntArrayRef(), false);
    for (const torch::Tensor& block : blocks) {
      blocks_.emplace_back(block, /*is_output=*/false);
      seen_.push_back({block.unsafeGetTensorImpl(), block.data_ptr(),
                       block._version(), block.requires_grad()});
    }
  }

  /// Makes this the node of a draw.
  void add_draw(const DrawRequest& request, std::int64_t serial,
                LayerWeights& weights) {
    request_ = request;
    serial_ = serial;
    weights_ = {weights.weight.variable_data(), {}};
    set_gradient_edge(weights.weight);
    if (!weights.bias.defined()) return;
    weights_.bias = weights.bias.variable_data();
    set_gradient_edge(weights.bias);
  }

  /// Whether the parameters are still those this node was made for.
  bool belongs_to(const Tensors& blocks) const {
    if (blocks.size() != seen_.size()) return false;
    for (std::size_t i = 0; i < blocks.size(); ++i) {
      const torch::Tensor& block = blocks[i];
      const Seen& seen = seen_[i];
      if (block.unsafeGetTensorImpl() != seen.tensor ||
          block.data_ptr() != seen.data || block._version() != seen.version ||
          block.requires_grad() != seen.wants_gradient) {
        return false;
      }
    }
    return true;
  }

  /// The weights alone: the KL's backward pass needs the parameters only, and
  /// may come later.
  void release_variables() override {
    const std::lock_guard<std::mutex> lock(mutex_);
    if (draw_used_) weights_ = {};
  }

 private:
  struct Seen {
    const void* tensor;
    const void* data;
    std::int64_t version;
    bool wants_gradient;
  };

  void set_gradient_edge(torch::Tensor& output) {
    torch::autograd::create_gradient_edge(output, shared_from_this());
  }

  Variables apply(Variables&& output_gradients) override {
    const std::lock_guard<std::mutex> lock(mutex_);
    output_gradients.resize(3);
    const torch::Tensor& of_kl = output_gradients[kKlInput];
    const bool through_draw =
        output_gradients[1].defined() || output_gradients[2].defined();
    Variables blocks;
    for (const SavedVariable& block : blocks_) blocks.push_back(block.unpack());
    Variables gradients = wanted_gradients(blocks, through_draw);
    if (through_draw) add_draw_gradients(blocks, output_gradients, gradients);
    if (of_kl.defined()) {
      posterior_->kl_backward(blocks, number_in(of_kl), gradients);
    }
    Variables sources = std::move(blocks);
    for (const torch::Tensor& gradient : output_gradients) {
      if (gradient.defined()) sources.push_back(gradient);
    }
    return distributions::detail::first_order_only(std::move(gradients),
                                                   sources);
  }

  /// Zeros for the gradients that a backward pass is asked for and can give.
  Variables wanted_gradients(const Variables& blocks, bool through_draw) const {
    Variables gradients(blocks.size());
    for (std::size_t i = 0; i < blocks.size(); ++i) {
      if (task_should_compute_output(i) &&
          (through_draw || posterior_->blocks()[i].in_kl)) {
        gradients[i] = zero_tensor(blocks[i].sizes(), blocks[i].scalar_type());
      }
    }
    return gradients;
  }

  void add_draw_gradients(const Variables& blocks,
                          const Variables& output_gradients,
                          const Variables& gradients) {
    TORCH_CHECK(weights_.weight.defined(), torch::autograd::ERR_BACKWARD_TWICE);
    draw_used_ = true;
    const auto gradient_by = [](const torch::Tensor& output,
                                const torch::Tensor& gradient) {
      if (!output.defined()) return torch::Tensor();
      if (gradient.defined()) return gradient.detach().contiguous();
      return zero_tensor(output.sizes(), output.scalar_type());
    };
    posterior_->backward(blocks, request_, serial_, weights_,
                         {gradient_by(weights_.weight, output_gradients[1]),
                          gradient_by(weights_.bias, output_gradients[2])},
                         gradients);
  }

  Posterior posterior_;
  std::vector<SavedVariable> blocks_;
  std::vector<Seen> seen_;
  DrawRequest request_;
  std::int64_t serial_ = 0;
  LayerWeights weights_;
  bool draw_used_ = false;
};

/// A new node, which the posterior remembers for a KL to share.
std::shared_ptr<LayerNode> make_node(const Posterior& posterior,
                                     const Tensors& blocks) {
  const std::shared_ptr<LayerNode> node(new LayerNode(posterior, blocks),
                                        torch::autograd::deleteNode);
  posterior->set_last_node(node);
  return node;
}

}  // namespace

LayerWeights draw(const Posterior& posterior, const Tensors& blocks,
                  const DrawRequest& request) {
  LayerWeights weights;
  const std::int64_t serial = posterior->draw(blocks, request, weights);
  if (torch::autograd::compute_requires_grad(blocks)) {
    make_node(posterior, blocks)->add_draw(request, serial, weights);
  }
  return weights;
}

KlTerm kl_term(const Posterior& posterior, const Tensors& blocks) {
  KlTerm term;
  term.value = posterior->kl(blocks);
  term.dtype = blocks[0].scalar_type();
  if (torch::autograd::compute_requires_grad(blocks)) {
    auto node =
        std::static_pointer_cast<LayerNode>(posterior->last_node().lock());
    if (node == nullptr || !node->belongs_to(blocks)) {
      node = make_node(posterior, blocks);
    }
    term.edge = {node, LayerNode::kKlInput};
  }
  return term;
}

}  // namespace radir::nn::detail

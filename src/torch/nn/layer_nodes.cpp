#include <torch/torch.h>

#include "torch/distributions/first_order.h"
#include "torch/nn/layer_posterior.h"

namespace radir::nn::detail {
namespace {

using Context = torch::autograd::AutogradContext;
using Variables = torch::autograd::variable_list;
using Posterior = std::shared_ptr<LayerPosterior>;

/// What a backward pass has to know besides tensors.
struct NodeState : torch::CustomClassHolder {
  NodeState(Posterior p, const DrawRequest& r, std::int64_t s)
      : posterior(std::move(p)), request(r), serial(s) {}

  Posterior posterior;
  DrawRequest request;
  std::int64_t serial;
};

void save_state(Context* ctx, const Posterior& posterior,
                const DrawRequest& request, std::int64_t serial) {
  ctx->saved_data["state"] = c10::IValue::make_capsule(
      c10::make_intrusive<NodeState>(posterior, request, serial));
}

c10::intrusive_ptr<NodeState> saved_state(Context* ctx) {
  return c10::static_intrusive_pointer_cast<NodeState>(
      ctx->saved_data["state"].toCapsule());
}

/// Zeros for the gradients that a backward pass is asked for and, by
/// has_gradient(block), can give.
template <typename HasGradient>
Variables wanted_gradients(Context* ctx, const NodeState& state,
                           const Variables& blocks,
                           const HasGradient& has_gradient) {
  Variables gradients(blocks.size());
  for (std::size_t i = 0; i < blocks.size(); ++i) {
    if (ctx->needs_input_grad(i) &&
        has_gradient(state.posterior->blocks()[i])) {
      gradients[i] = torch::zeros_like(blocks[i]);
    }
  }
  return gradients;
}

/// The gradients of a node's arguments: `leading` of them are not tensors.
Variables of_arguments(std::size_t leading, Variables gradients) {
  gradients.insert(gradients.begin(), leading, torch::Tensor());
  return gradients;
}

struct DrawNode : torch::autograd::Function<DrawNode> {
  static Variables forward(Context* ctx, const Posterior& posterior,
                           const DrawRequest& request,
                           torch::TensorList blocks) {
    LayerWeights weights;
    const std::int64_t serial = posterior->draw(blocks.vec(), request, weights);
    Variables outputs = {weights.weight};
    if (weights.bias.defined()) outputs.push_back(weights.bias);
    Variables saved = blocks.vec();
    saved.insert(saved.end(), outputs.begin(), outputs.end());
    ctx->save_for_backward(std::move(saved));
    save_state(ctx, posterior, request, serial);
    return outputs;
  }

  static Variables backward(Context* ctx, Variables output_gradients) {
    const auto state = saved_state(ctx);
    const Variables saved = ctx->get_saved_variables();
    const auto count =
        static_cast<std::ptrdiff_t>(state->posterior->blocks().size());
    const Variables blocks(saved.begin(), saved.begin() + count);
    const Variables outputs(saved.begin() + count, saved.end());

    const auto weights_of = [](const Variables& tensors) {
      return LayerWeights{tensors[0].detach().contiguous(),
                          tensors.size() > 1 ? tensors[1].detach().contiguous()
                                             : torch::Tensor()};
    };
    Variables gradients = wanted_gradients(ctx, *state, blocks,
                                           [](const Block&) { return true; });
    state->posterior->backward(blocks, state->request, state->serial,
                               weights_of(outputs),
                               weights_of(output_gradients), gradients);

    Variables sources = blocks;
    sources.insert(sources.end(), output_gradients.begin(),
                   output_gradients.end());
    return of_arguments(2, distributions::detail::first_order_only(
                               std::move(gradients), sources));
  }
};

struct KlNode : torch::autograd::Function<KlNode> {
  static torch::Tensor forward(Context* ctx, const Posterior& posterior,
                               torch::TensorList blocks) {
    ctx->save_for_backward(blocks.vec());
    save_state(ctx, posterior, {}, 0);
    return torch::full({}, posterior->kl(blocks.vec()),
                       blocks[0].options().requires_grad(false));
  }

  static Variables backward(Context* ctx, Variables output_gradients) {
    const auto state = saved_state(ctx);
    const Variables blocks = ctx->get_saved_variables();
    Variables gradients = wanted_gradients(
        ctx, *state, blocks, [](const Block& block) { return block.in_kl; });
    state->posterior->kl_backward(blocks, output_gradients[0].item<double>(),
                                  gradients);
    Variables sources = blocks;
    sources.push_back(output_gradients[0]);
    return of_arguments(1, distributions::detail::first_order_only(
                               std::move(gradients), sources));
  }
};

}  // namespace

LayerWeights draw(const Posterior& posterior,
                  const LayerPosterior::Tensors& blocks,
                  const DrawRequest& request) {
  const Variables outputs =
      DrawNode::apply(posterior, request, torch::TensorList(blocks));
  return {outputs[0], outputs.size() > 1 ? outputs[1] : torch::Tensor()};
}

torch::Tensor kl(const Posterior& posterior,
                 const LayerPosterior::Tensors& blocks) {
  return KlNode::apply(posterior, torch::TensorList(blocks));
}

}  // namespace radir::nn::detail

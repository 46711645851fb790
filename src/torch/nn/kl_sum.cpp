#include "torch/nn/kl_sum.h"

#include <torch/torch.h>

#include <memory>

#include "torch/nn/fast_tensors.h"

namespace radir::nn::detail {
namespace {

using torch::autograd::Node;
using Variables = torch::autograd::variable_list;

/// Passes the derivative by a sum on to every term.
class SumNode : public Node {
 public:
  using Node::Node;

 private:
  Variables apply(Variables&& gradients) override {
    return Variables(num_outputs(), gradients[0]);
  }
};

}  // namespace

torch::Tensor sum_of(const std::vector<KlTerm>& terms) {
  double value = 0;
  torch::Dtype dtype = terms.at(0).dtype;
  torch::autograd::edge_list edges;
  for (const KlTerm& term : terms) {
    value += term.value;
    dtype = c10::promoteTypes(dtype, term.dtype);
    if (term.edge.is_valid()) edges.push_back(term.edge);
  }
  torch::Tensor sum = scalar_tensor(value, dtype);
  if (!edges.empty()) {
    const std::shared_ptr<Node> node(new SumNode(std::move(edges)),
                                     torch::autograd::deleteNode);
    torch::autograd::create_gradient_edge(sum, node);
  }
  return sum;
}

}  // namespace radir::nn::detail

#pragma once

#include <ATen/Dispatch.h>
#include <ATen/ExpandUtils.h>
#include <ATen/TensorIterator.h>
#include <torch/csrc/autograd/custom_function.h>
#include <torch/types.h>

#include <array>
#include <tuple>
#include <type_traits>

#include "torch/distributions/first_order.h"

namespace radir::distributions::detail {

/// A function of N numbers, in double: the value and its partial derivatives.
///
///   struct Product {
///     double operator()(double x, double y) const { return x * y; }
///     std::array<double, 2> gradient(double x, double y) const {
///       return {y, x};
///     }
///   };
///
/// It is evaluated in double for float tensors too, so that their results are
/// the rounded true values.
template <typename Op, std::size_t N>
struct ElementwiseNode : torch::autograd::Function<ElementwiseNode<Op, N>> {
  using Context = torch::autograd::AutogradContext;
  using Variables = torch::autograd::variable_list;

  /// Carries the operation from the forward to the backward pass.
  struct OpHolder : torch::CustomClassHolder {
    explicit OpHolder(const Op& value) : op(value) {}
    Op op;
  };

  static torch::Tensor forward(Context* ctx, const Op& op,
                               torch::TensorList inputs) {
    ctx->save_for_backward(inputs.vec());
    ctx->saved_data["op"] =
        c10::IValue::make_capsule(c10::make_intrusive<OpHolder>(op));

    at::TensorIteratorConfig config;
    config.add_owned_output(torch::Tensor());
    for (const torch::Tensor& x : inputs) config.add_owned_input(x);
    at::TensorIterator iterator = config.build();
    AT_DISPATCH_FLOATING_TYPES(iterator.dtype(), "elementwise", [&] {
      iterator.for_each([&op](char** data, const int64_t* strides, int64_t n) {
        for (int64_t i = 0; i < n; ++i) {
          const auto x = load<scalar_t>(data + 1, strides + 1, i);
          element<scalar_t>(data[0], strides[0], i) =
              static_cast<scalar_t>(std::apply(op, x));
        }
      });
    });
    return iterator.output();
  }

  static Variables backward(Context* ctx, Variables output_gradients) {
    const Variables inputs = ctx->get_saved_variables();
    const torch::Tensor& output_gradient = output_gradients[0];
    const auto capsule = ctx->saved_data["op"].toCapsule();
    const Op& op = static_cast<const OpHolder&>(*capsule).op;

    at::TensorIteratorConfig config;
    for (std::size_t k = 0; k < N; ++k) {
      config.add_owned_output(torch::Tensor());
    }
    config.add_owned_input(output_gradient.detach());
    for (const torch::Tensor& x : inputs) config.add_owned_input(x.detach());
    at::TensorIterator iterator = config.build();
    AT_DISPATCH_FLOATING_TYPES(iterator.dtype(), "elementwise", [&] {
      iterator.for_each([&op](char** data, const int64_t* strides, int64_t n) {
        for (int64_t i = 0; i < n; ++i) {
          const auto x = load<scalar_t>(data + N + 1, strides + N + 1, i);
          const double outer = element<scalar_t>(data[N], strides[N], i);
          const auto partial = std::apply(
              [&op](auto... args) { return op.gradient(args...); }, x);
          for (std::size_t k = 0; k < N; ++k) {
            element<scalar_t>(data[k], strides[k], i) =
                static_cast<scalar_t>(outer * partial[k]);
          }
        }
      });
    });

    Variables gradients(N);
    Variables sources = inputs;
    sources.push_back(output_gradient);
    for (std::size_t k = 0; k < N; ++k) {
      if (ctx->needs_input_grad(k)) {
        gradients[k] =
            at::sum_to(iterator.output(static_cast<int>(k)), inputs[k].sizes());
      }
    }
    gradients = first_order_only(std::move(gradients), sources);
    gradients.insert(gradients.begin(), torch::Tensor());  // for op
    return gradients;
  }

 private:
  template <typename T>
  static T& element(char* data, int64_t stride, int64_t i) {
    return *reinterpret_cast<T*>(data + i * stride);
  }

  /// Element i of each of the N inputs.
  template <typename T>
  static std::array<double, N> load(char** data, const int64_t* strides,
                                    int64_t i) {
    std::array<double, N> x;
    for (std::size_t k = 0; k < N; ++k) {
      x[k] = element<T>(data[k], strides[k], i);
    }
    return x;
  }
};

/// op(x_1, ..., x_N) for every element of the inputs, broadcast against each
/// other: one pass forward and one pass backward, with analytic derivatives.
template <typename Op, typename... Tensors>
torch::Tensor elementwise(const Op& op, const Tensors&... inputs) {
  static_assert((std::is_same_v<Tensors, torch::Tensor> && ...));
  const std::array<torch::Tensor, sizeof...(Tensors)> list{inputs...};
  return ElementwiseNode<Op, sizeof...(Tensors)>::apply(
      op, torch::TensorList(list));
}

}  // namespace radir::distributions::detail

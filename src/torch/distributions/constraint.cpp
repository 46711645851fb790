#include "torch/distributions/constraint.h"

#include <cmath>
#include <sstream>

#include "radir/core/error.h"

namespace radir::distributions::detail {
namespace {

/// " at index [1, 2]" for the element at `position` of a contiguous tensor;
/// nothing for a tensor without dimensions.
std::string at_index(torch::IntArrayRef sizes, std::int64_t position) {
  if (sizes.empty()) return "";
  std::vector<std::int64_t> index(sizes.size());
  for (std::size_t d = sizes.size(); d-- > 0;) {
    index[d] = position % sizes[d];
    position /= sizes[d];
  }
  std::ostringstream text;
  text << " at index " << torch::IntArrayRef(index);
  return text.str();
}

/// Contiguous doubles without a graph, for checks that read values.
torch::Tensor readable(const torch::Tensor& tensor) {
  return tensor.detach().to(torch::kDouble).contiguous();
}

}  // namespace

void check_tensor(const char* where, const char* name,
                  const torch::Tensor& tensor) {
  RADIR_CHECK(tensor.defined(), ArgumentError, where, ": ", name,
              " is an undefined tensor; pass a float or double tensor.");
  RADIR_CHECK(tensor.scalar_type() == torch::kFloat ||
                  tensor.scalar_type() == torch::kDouble,
              ArgumentError, where, ": ", name,
              " must be a float or double tensor, but its dtype is ",
              tensor.scalar_type(), "; convert it with .to(torch::kFloat).");
  RADIR_CHECK(tensor.device().is_cpu(), UnsupportedError, where, ": ", name,
              " is on device ", tensor.device(),
              ", but distributions work on the CPU; move it with .cpu().");
  RADIR_CHECK(tensor.layout() == torch::kStrided, ArgumentError, where, ": ",
              name, " must be a dense tensor, but its layout is ",
              tensor.layout(), "; convert it with .to_dense().");
}

void check_same_dtype(const char* where, const char* name,
                      const torch::Tensor& tensor, torch::Dtype expected) {
  RADIR_CHECK(tensor.scalar_type() == expected, ArgumentError, where, ": ",
              name, " has dtype ", tensor.scalar_type(),
              ", but the other tensors have ", expected,
              "; all must have the same one.");
}

void check_elements(const char* where, const char* name,
                    const torch::Tensor& tensor, const Constraint& constraint) {
  const torch::Tensor values = readable(tensor);
  const double* data = values.data_ptr<double>();
  for (std::int64_t i = 0; i < values.numel(); ++i) {
    RADIR_CHECK(constraint.holds(data[i]), DomainError, where, ": ", name,
                " must be ", constraint.text, ", but got ", data[i],
                at_index(values.sizes(), i), constraint.advice, ".");
  }
}

void check_unit_rows(const char* where, const char* name,
                     const torch::Tensor& tensor) {
  // What normalising in the tensor's own precision leaves, with room to spare.
  const double tolerance =
      tensor.scalar_type() == torch::kDouble ? 1e-10 : 1e-5;
  const torch::Tensor norms = readable(tensor).norm(2, -1);
  const double* data = norms.data_ptr<double>();
  for (std::int64_t i = 0; i < norms.numel(); ++i) {
    RADIR_CHECK(std::abs(data[i] - 1) <= tolerance, DomainError, where, ": ",
                name, " must have unit length, but its norm is ", data[i],
                at_index(norms.sizes(), i),
                "; divide it by its norm first, with "
                "torch::nn::functional::normalize(x, ...dim(-1)).");
  }
}

std::vector<std::int64_t> broadcast_shape(const char* where,
                                          torch::IntArrayRef a,
                                          torch::IntArrayRef b) {
  const std::size_t rank = std::max(a.size(), b.size());
  std::vector<std::int64_t> shape(rank);
  for (std::size_t d = 0; d < rank; ++d) {  // d counts from the last dimension
    const std::int64_t size_a = d < a.size() ? a[a.size() - 1 - d] : 1;
    const std::int64_t size_b = d < b.size() ? b[b.size() - 1 - d] : 1;
    RADIR_CHECK(size_a == size_b || size_a == 1 || size_b == 1, ArgumentError,
                where, ": shapes ", a, " and ", b,
                " do not broadcast; sizes counted from the last dimension must "
                "be equal or 1.");
    shape[rank - 1 - d] = size_a == 1 ? size_b : size_a;
  }
  return shape;
}

}  // namespace radir::distributions::detail

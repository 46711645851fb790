#include "radir/torch/nn/elbo.h"

#include <torch/torch.h>

#include <cmath>
#include <ostream>

#include "radir/core/error.h"

namespace radir::nn {

Elbo::Elbo(std::int64_t data_count, const KlSchedule& schedule)
    : data_count_(data_count), schedule_(schedule) {
  RADIR_CHECK(data_count > 0, ArgumentError, "Elbo: data_count, the number of ",
              "training examples, must be positive, but is ", data_count);
}

ElboTerms Elbo::operator()(const torch::Tensor& nll, const torch::Tensor& kl,
                           double progress) const {
  RADIR_CHECK(nll.numel() == 1 && kl.numel() == 1, ArgumentError,
              "Elbo: nll and kl must be scalars, but their shapes are ",
              nll.sizes(), " and ", kl.sizes(),
              "; nll() of a likelihood and nn::kl give such");
  ElboTerms terms;
  terms.kl_weight = schedule_(progress);
  terms.nll = nll;
  terms.kl = kl / static_cast<double>(data_count_);
  terms.loss = torch::add(terms.nll, terms.kl, terms.kl_weight);
  RADIR_CHECK(std::isfinite(terms.loss.item<double>()), NumericalError,
              "Elbo: the loss is not finite: nll ", terms.nll.item<double>(),
              ", kl ", terms.kl.item<double>(),
              " nats per example; try a smaller learning rate");
  return terms;
}

void Elbo::pretty_print(std::ostream& stream) const {
  stream << "radir::nn::Elbo(" << data_count_ << " examples, KL "
         << train::to_string(schedule_) << ")";
}

std::ostream& operator<<(std::ostream& stream, const Elbo& elbo) {
  elbo.pretty_print(stream);
  return stream;
}

}  // namespace radir::nn

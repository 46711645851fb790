#include "radir/torch/distributions/von_mises_fisher.h"

#include "radir/core/error.h"
#include "radir/kernels/philox.h"
#include "radir/kernels/vmf.h"
#include "radir/math/vmf.h"
#include "torch/distributions/constraint.h"
#include "torch/distributions/elementwise.h"

namespace radir::distributions {
namespace {

// Functions of the concentration in dimension m; A is the mean cosine.

/// log C_m(kappa) + kappa: the log density at the mean direction.
struct LogPeakDensity {
  double m;
  double operator()(double kappa) const {
    return kappa * math::vmf_one_minus_mean_cosine(m, kappa) -
           math::vmf_entropy(m, kappa);
  }
  std::array<double, 1> gradient(double kappa) const {
    return {math::vmf_one_minus_mean_cosine(m, kappa)};
  }
};

struct MeanCosine {
  double m;
  double operator()(double kappa) const {
    return math::vmf_mean_cosine(m, kappa);
  }
  std::array<double, 1> gradient(double kappa) const {
    return {math::vmf_cosine_variance(m, kappa)};
  }
};

/// Variance along the mean direction, A'.
struct CosineVariance {
  double m;
  double operator()(double kappa) const {
    return math::vmf_cosine_variance(m, kappa);
  }
  std::array<double, 1> gradient(double kappa) const {
    return {math::vmf_cosine_variance_derivative(m, kappa)};
  }
};

/// Variance along any direction orthogonal to the mean one, A/kappa.
struct TangentVariance {
  double m;
  double operator()(double kappa) const {
    return math::vmf_mean_cosine_over_kappa(m, kappa);
  }
  std::array<double, 1> gradient(double kappa) const {
    // From A' = 1 - A^2 - (m-1) A/kappa; (A' - A/kappa)/kappa would cancel.
    return {-(math::vmf_cosine_variance_derivative(m, kappa) +
              2 * math::vmf_mean_cosine(m, kappa) *
                  math::vmf_cosine_variance(m, kappa)) /
            (m - 1)};
  }
};

struct VmfEntropy {
  double m;
  double operator()(double kappa) const { return math::vmf_entropy(m, kappa); }
  std::array<double, 1> gradient(double kappa) const {
    return {-kappa * math::vmf_cosine_variance(m, kappa)};
  }
};

/// Zero, with the derivative c(w) with respect to the concentration.
struct ScoreCorrection {
  double m;
  KappaGradient kappa_gradient;
  double operator()(double, double) const { return 0; }
  std::array<double, 2> gradient(double kappa, double one_minus_cosine) const {
    const auto law = math::VmfCosine<double>::make(m, kappa);
    const double cosine = 1 - one_minus_cosine;
    return {law.correction(kappa_gradient, {cosine, one_minus_cosine,
                                            one_minus_cosine * (1 + cosine)}),
            0};
  }
};

/// 1 - a.b of unit vectors along the last dimension, without cancellation.
torch::Tensor one_minus_cosine(const torch::Tensor& a, const torch::Tensor& b) {
  return 0.5 * (a - b).square().sum(-1);
}

template <typename T>
kernels::VmfLaws<T> laws_of(const torch::Tensor& loc,
                            const torch::Tensor& concentration) {
  const std::int64_t m = loc.size(-1);
  return {m, loc.numel() / m, loc.data_ptr<T>(), concentration.numel(),
          concentration.data_ptr<T>()};
}

/// Samples of shape sample_shape + loc.sizes(), for contiguous loc [..., m] and
/// concentration [] or [...].
struct SampleNode : torch::autograd::Function<SampleNode> {
  using Context = torch::autograd::AutogradContext;
  using Variables = torch::autograd::variable_list;

  static torch::Tensor forward(Context* ctx, const torch::Tensor& loc,
                               const torch::Tensor& concentration,
                               torch::IntArrayRef shape,
                               const kernels::RandomStream& stream,
                               KappaGradient kappa_gradient) {
    torch::Tensor samples = torch::empty(shape, loc.options());
    const std::int64_t rows = samples.numel() / loc.size(-1);
    torch::Tensor gaps = torch::empty({rows}, torch::kDouble);
    AT_DISPATCH_FLOATING_TYPES(loc.scalar_type(), "sample_vmf", [&] {
      kernels::sample_vmf<scalar_t>(
          stream, 0, rows, laws_of<scalar_t>(loc, concentration),
          {samples.data_ptr<scalar_t>(), gaps.data_ptr<double>(), nullptr});
    });
    ctx->save_for_backward({loc, concentration, samples, gaps});
    ctx->saved_data["kappa_gradient"] = static_cast<int64_t>(kappa_gradient);
    return samples;
  }

  static Variables backward(Context* ctx, Variables output_gradients) {
    const Variables saved = ctx->get_saved_variables();
    const torch::Tensor &loc = saved[0], &concentration = saved[1],
                        &samples = saved[2], &gaps = saved[3];
    const torch::Tensor sample_gradient = output_gradients[0].contiguous();
    const auto kappa_gradient =
        static_cast<KappaGradient>(ctx->saved_data["kappa_gradient"].toInt());
    const auto zeros_like = [](const torch::Tensor& x) {
      return torch::zeros(x.sizes(), torch::kDouble);
    };
    torch::Tensor loc_gradient = zeros_like(loc);
    torch::Tensor concentration_gradient = zeros_like(concentration);
    AT_DISPATCH_FLOATING_TYPES(loc.scalar_type(), "sample_vmf_backward", [&] {
      kernels::sample_vmf_backward<scalar_t>(
          gaps.numel(), laws_of<scalar_t>(loc, concentration),
          samples.data_ptr<scalar_t>(), gaps.data_ptr<double>(),
          sample_gradient.data_ptr<scalar_t>(), kappa_gradient,
          {loc_gradient.data_ptr<double>(),
           concentration_gradient.data_ptr<double>()});
    });
    const torch::Dtype dtype = loc.scalar_type();
    Variables gradients = detail::first_order_only(
        {loc_gradient.to(dtype), concentration_gradient.to(dtype)},
        {loc, concentration, output_gradients[0]});
    gradients.resize(5);  // none for shape, stream and kappa_gradient
    return gradients;
  }
};

}  // namespace

VonMisesFisher::VonMisesFisher(torch::Tensor loc, torch::Tensor concentration,
                               Validate validate)
    : Distribution("VonMisesFisher", &detail::kFinite,
                   {{"loc", std::move(loc), &detail::kFinite, 1},
                    {"concentration", std::move(concentration),
                     &detail::kNonNegativeParameter}},
                   validate) {
  RADIR_CHECK(
      dimension() >= 2, ArgumentError,
      "VonMisesFisher: loc must have vectors of length >= 2 in its last "
      "dimension, but its shape is ",
      this->loc().sizes(), "; a direction of length 1 is only a sign.");
  if (validates())
    detail::check_unit_rows("VonMisesFisher", "loc", this->loc());
}

double VonMisesFisher::m() const { return static_cast<double>(dimension()); }

void VonMisesFisher::check_direction(const char* where,
                                     const torch::Tensor& value) const {
  check_value(where, value);
  if (validates()) detail::check_unit_rows(where, "value", value);
}

torch::Tensor VonMisesFisher::log_prob(const torch::Tensor& value) const {
  check_direction("VonMisesFisher.log_prob", value);
  return detail::elementwise(LogPeakDensity{m()}, concentration()) -
         concentration() * one_minus_cosine(value, loc());
}

torch::Tensor VonMisesFisher::rsample(Generator& generator,
                                      torch::IntArrayRef sample_shape) const {
  return rsample(generator, sample_shape, KappaGradient::Implicit);
}

torch::Tensor VonMisesFisher::rsample(Generator& generator,
                                      torch::IntArrayRef sample_shape,
                                      KappaGradient kappa_gradient) const {
  const torch::Tensor laws_loc = over_batch(loc()).contiguous();
  const bool shared = concentration().numel() == 1;
  const torch::Tensor laws_concentration =
      shared ? concentration().reshape({})
             : concentration().expand(batch_shape()).contiguous();
  return SampleNode::apply(laws_loc, laws_concentration,
                           extended_shape(sample_shape), generator.next(),
                           kappa_gradient);
}

torch::Tensor VonMisesFisher::score_correction(
    const torch::Tensor& sample, KappaGradient kappa_gradient) const {
  check_direction("VonMisesFisher.score_correction", sample);
  return detail::elementwise(ScoreCorrection{m(), kappa_gradient},
                             concentration(),
                             one_minus_cosine(sample, loc()).detach());
}

torch::Tensor VonMisesFisher::mean() const {
  return over_batch(
      detail::elementwise(MeanCosine{m()}, concentration()).unsqueeze(-1) *
      loc());
}

torch::Tensor VonMisesFisher::variance() const {
  const torch::Tensor along =
      detail::elementwise(CosineVariance{m()}, concentration()).unsqueeze(-1);
  const torch::Tensor across =
      detail::elementwise(TangentVariance{m()}, concentration()).unsqueeze(-1);
  const torch::Tensor share = loc().square();
  return over_batch(along * share + across * (1 - share));
}

torch::Tensor VonMisesFisher::entropy() const {
  return detail::elementwise(VmfEntropy{m()}, concentration())
      .expand(batch_shape());
}

}  // namespace radir::distributions

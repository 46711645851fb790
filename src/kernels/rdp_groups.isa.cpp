#include <cmath>
#include <cstdint>

#include "kernels/rdp_isa.h"
#include "kernels/simd_math.h"
#include "kernels/vector_loop.h"
#include "kernels/vmf_lanes.h"

namespace radir::kernels {
inline namespace RADIR_ISA {
namespace {

/// Proposals per group after which the parameters must be at fault: each is
/// accepted with probability 0.65 or more.
constexpr std::int64_t kMaxProposals = 250;

/// Least |noise orthogonal to the direction|^2 / |noise|^2, against 0 / 0.
template <typename T>
constexpr T kLeastResidual = sizeof(T) == 4 ? T(1e-14) : T(1e-32);

/// First proposals: the cosine of the noise itself, which is independent of the
/// noise's part orthogonal to the direction. Lists the groups they fail for.
template <typename T>
std::int64_t first_proposals(const SideGroups<T>& side, std::int64_t begin,
                             std::int64_t end, std::int32_t* rejected) {
  std::int64_t count = 0;
  for_each_vector<T>(begin, end, [&](std::int64_t i, auto lanes) {
    const Vec<T> norm2 = lanes.load(side.norm2 + i);
    const Vec<T> dot = lanes.load(side.dot + i);
    const Vec<T> noise2 = lanes.load(side.noise2 + i);
    const Vec<T> residual2 = side.residual_known
                                 ? lanes.load(side.residual2 + i)
                                 : noise2 - dot * dot / norm2;
    const Vec<T> positive = maximum(residual2, kLeastResidual<T> * noise2);
    const Vec<T> t = dot / sqrt(norm2 * noise2);
    lanes.store(side.residual2 + i, positive);
    lanes.store(side.t + i, t);
    lanes.store(side.t_complement + i, positive / noise2);
    const CosineLaw<T> law(static_cast<T>(side.length),
                           lanes.load(side.concentration + i));
    const LaneFlags<T> accepted(lanes.load(side.exponential + i) >=
                                law.threshold(t));
    const std::int64_t here = lanes_used<T>(end - i);
    for (std::int64_t lane = 0; lane < here; ++lane) {
      rejected[count] = static_cast<std::int32_t>(i + lane);
      count += !accepted[lane];
    }
  });
  return count;
}

/// The next `copies` proposals, from number `attempt` on, for each of `count`
/// groups, count * copies <= kLanes; returns how many groups none of them
/// suits, moved to the front of the list.
template <typename T>
std::int64_t propose(const SideGroups<T>& side, std::int64_t attempt,
                     std::int64_t copies, std::int64_t count,
                     std::int32_t* groups) {
  using Word = typename ProposalBits<T>::Word;
  Word elements[kLanes<T>] = {};
  T concentration[kLanes<T>] = {};
  for (std::int64_t copy = 0, lane = 0; copy < copies; ++copy) {
    const std::int64_t first =
        side.first_element + (attempt + copy - 1) * side.elements;
    for (std::int64_t i = 0; i < count; ++i, ++lane) {
      elements[lane] = static_cast<Word>(first + groups[i]);
      concentration[lane] = side.concentration[groups[i]];
    }
  }
  const CosineLaw<T> law(static_cast<T>(side.length), load(concentration));
  const Proposal<T> proposal(ProposalBits<T>(side.acceptance, load(elements)),
                             law.freedom);
  const LaneFlags<T> accepted(proposal.exponential >=
                              law.threshold(proposal.t));
  T t[kLanes<T>], complement[kLanes<T>];
  store(t, proposal.t);
  store(complement, proposal.complement);
  std::int64_t kept = 0;
  for (std::int64_t i = 0; i < count; ++i) {
    const std::int32_t group = groups[i];
    std::int64_t lane = i;
    while (lane < count * copies && !accepted[lane]) lane += count;
    if (lane < count * copies) {
      side.t[group] = t[lane];
      side.t_complement[group] = complement[lane];
    } else {
      groups[kept++] = group;
    }
  }
  return kept;
}

/// Proposals for the groups listed, until each has one that is accepted;
/// returns how many still have none after kMaxProposals. Free lanes try later
/// proposals of the same groups ahead of time.
template <typename T>
std::int64_t propose_until_accepted(const SideGroups<T>& side,
                                    std::int64_t count, std::int32_t* groups) {
  std::int64_t attempt = 1;
  while (count > 0 && attempt < kMaxProposals) {
    const std::int64_t copies = count < kLanes<T> ? kLanes<T> / count : 1;
    std::int64_t kept = 0;
    for (std::int64_t first = 0; first < count; first += kLanes<T>) {
      const std::int64_t here = lanes_used<T>(count - first);
      const std::int64_t left =
          propose(side, attempt, copies, here, groups + first);
      for (std::int64_t i = 0; i < left; ++i) {
        groups[kept++] = groups[first + i];
      }
    }
    count = kept;
    attempt += copies;
  }
  return count;
}

/// From accepted proposals to radii, cosines, and the two coefficients of
/// r x = r [w mu + sqrt(1 - w^2) xi], xi the noise orthogonal to mu,
/// normalised. Tells whether all coefficients are finite.
template <typename T>
bool place_samples(const SideGroups<T>& side, std::int64_t begin,
                   std::int64_t end) {
  const T log_global = static_cast<T>(side.log_global);
  Vec<T> zero_if_finite = {};
  for_each_vector<T>(begin, end, [&](std::int64_t i, auto lanes) {
    const Vec<T> variance_a = exp(lanes.load(side.local.log_var_a + i));
    const Vec<T> variance_b = exp(lanes.load(side.local.log_var_b + i));
    const Vec<T> noise = lanes.load(side.radius_noise + i);
    const Vec<T> root = sqrt(variance_a + variance_b);
    const Vec<T> loc =
        lanes.load(side.local.loc_a + i) + lanes.load(side.local.loc_b + i);
    const Vec<T> radius = exp(T(0.5) * (loc + root * noise) + log_global);
    const Vec<T> slope = select(root > 0, noise / (4 * root), Vec<T>{});
    lanes.store(side.radius + i, radius);
    lanes.store(side.slope_a + i, slope * variance_a);
    lanes.store(side.slope_b + i, slope * variance_b);

    const CosineLaw<T> law(static_cast<T>(side.length),
                           lanes.load(side.concentration + i));
    const Vec<T> t = lanes.load(side.t + i);
    const Vec<T> inverse = 1 / (1 + law.x0 * t);
    const Vec<T> w_offset = law.spread * t * inverse;
    const Vec<T> w = law.x0 + w_offset;
    const Vec<T> sine =
        sqrt(law.spread * lanes.load(side.t_complement + i)) * inverse;
    lanes.store(side.w + i, w);
    lanes.store(side.w_offset + i, w_offset);
    lanes.store(side.sine + i, sine);

    const Vec<T> inverse_norm2 = 1 / lanes.load(side.norm2 + i);
    const Vec<T> along = lanes.load(side.dot + i) * inverse_norm2;
    const Vec<T> noise_scale =
        radius * sine / sqrt(lanes.load(side.residual2 + i));
    const Vec<T> direction_scale =
        radius * w * sqrt(inverse_norm2) - noise_scale * along;
    lanes.store(side.noise_scale + i, noise_scale);
    lanes.store(side.direction_scale + i, direction_scale);
    zero_if_finite += lanes.keep(0 * noise_scale + 0 * direction_scale);
  });
  return reduce_add<T>(zero_if_finite) == 0;
}

/// The first group of [begin, end) whose coefficients are not finite, or end.
template <typename T>
std::int64_t first_unusable(const SideGroups<T>& side, std::int64_t begin,
                            std::int64_t end) {
  const auto is_finite = [](T x) { return x - x == 0; };
  for (std::int64_t i = begin; i < end; ++i) {
    if (!is_finite(side.noise_scale[i])) return i;
    if (!is_finite(side.direction_scale[i])) return i;
  }
  return end;
}

template <typename T>
std::int64_t draw(const SideGroups<T>& side, std::int64_t begin,
                  std::int64_t end) {
  std::int32_t* rejected = side.pending + begin;
  const std::int64_t count = first_proposals(side, begin, end, rejected);
  if (propose_until_accepted(side, count, rejected) > 0) return rejected[0];
  const bool finite = place_samples(side, begin, end);
  return finite ? end : first_unusable(side, begin, end);
}

template <typename T>
struct CosineSlope {
  Vec<T> slope;            // u(w)
  Vec<T> correction = {};  // c(w)
};

/// u(w), and c(w) of those rules that have one, for the groups from i on.
template <SlopeRule kRule, typename T, typename Lanes>
[[gnu::always_inline]] inline CosineSlope<T> cosine_slope(
    const SideGroups<T>& side, const CosineLaw<T>& law, Vec<T> w,
    std::int64_t i, const Lanes& lanes) {
  const Vec<T> w_offset = lanes.load(side.w_offset + i);
  if constexpr (kRule == SlopeRule::Series) {
    return {series_slope(side.series, w_offset)};
  } else if constexpr (kRule == SlopeRule::Approximate) {
    return {ClosedForm<T>(law, w, w_offset).slope1()};
  } else {
    const Vec<T> excess = lanes.load(side.x0_excess + i);
    const Vec<T> sine = lanes.load(side.sine + i);
    if constexpr (kRule == SlopeRule::Quadrature) {
      return {implicit_slope<T>(law.freedom + 1, law.kappa, w, sine,
                                w_offset + excess)};
    } else if constexpr (kRule == SlopeRule::Rejection) {
      const Vec<T> slope = 1 / law.s;
      return {slope, excess - law.kappa * slope * w_offset * w_offset};
    } else {
      const ClosedForm<T> form(law, w, w_offset);
      if constexpr (kRule == SlopeRule::ClosedForm0) {
        return {form.slope0(), form.correction0(excess, sine)};
      } else {
        return {form.slope1(), form.correction1(excess, sine)};
      }
    }
  }
}

template <SlopeRule kRule, typename T>
void finish_groups(const SideGroups<T>& side, double loss, std::int64_t begin,
                   std::int64_t end, const RadiusFactors<T>& gradient) {
  const T length = static_cast<T>(side.length);
  const T f = static_cast<T>(loss);
  for_each_vector<T>(begin, end, [&](std::int64_t i, auto lanes) {
    const auto add = [&](T* array, Vec<T> value) {
      lanes.store(array + i, lanes.load(array + i) + value);
    };
    const Vec<T> radial = lanes.load(side.radial + i);
    add(gradient.loc_a, radial * T(0.5));
    add(gradient.loc_b, radial * T(0.5));
    add(gradient.log_var_a, radial * lanes.load(side.slope_a + i));
    add(gradient.log_var_b, radial * lanes.load(side.slope_b + i));

    const CosineLaw<T> law(length, lanes.load(side.concentration + i));
    const Vec<T> w = lanes.load(side.w + i);
    const auto [slope, correction] =
        cosine_slope<kRule>(side, law, w, i, lanes);
    const Vec<T> axial = lanes.load(side.axial + i);
    const Vec<T> inverse_norm2 = 1 / lanes.load(side.norm2 + i);
    const Vec<T> scale = lanes.load(side.radius + i) * sqrt(inverse_norm2);
    lanes.store(
        side.log_concentration_gradient + i,
        law.kappa * (slope * (scale * axial - w * radial) + f * correction));
    lanes.store(side.loss_scale + i, w * scale);
    lanes.store(side.part_scale + i, -axial * inverse_norm2);
  });
}

template <typename T>
void finish(const SideGroups<T>& side, SlopeRule rule, double loss,
            std::int64_t begin, std::int64_t end, const RadiusFactors<T>& to) {
  switch (rule) {
    case SlopeRule::Series:
      return finish_groups<SlopeRule::Series>(side, loss, begin, end, to);
    case SlopeRule::Quadrature:
      return finish_groups<SlopeRule::Quadrature>(side, loss, begin, end, to);
    case SlopeRule::Approximate:
      return finish_groups<SlopeRule::Approximate>(side, loss, begin, end, to);
    case SlopeRule::Rejection:
      return finish_groups<SlopeRule::Rejection>(side, loss, begin, end, to);
    case SlopeRule::ClosedForm0:
      return finish_groups<SlopeRule::ClosedForm0>(side, loss, begin, end, to);
    case SlopeRule::ClosedForm1:
      return finish_groups<SlopeRule::ClosedForm1>(side, loss, begin, end, to);
  }
}

/// The prior of one factor: Gamma(shape, exp(log_scale)) when sign is +1,
/// inverse Gamma(shape, exp(-log_scale)) when -1.
struct FactorPrior {
  int sign;
  double shape;
  double log_scale;
};

/// KL(log-normal(loc, variance) || prior):
///   e - shape (sign loc - log_scale) - log_var/2 + constant,
/// e = exp(sign loc - log_scale + variance/2). Returns the sum without the
/// constant, and the sum of e - shape.
template <typename T>
[[gnu::always_inline]] inline RadiusKl factor_kl(std::int64_t count,
                                                 const FactorPrior& prior,
                                                 const T* loc, const T* log_var,
                                                 double scale, T* loc_gradient,
                                                 T* log_var_gradient) {
  const T half = T(0.5);
  const T c = static_cast<T>(scale);
  const T direction = static_cast<T>(prior.sign);
  const T shape = static_cast<T>(prior.shape);
  const T shift = static_cast<T>(prior.log_scale);
  Vec<T> value = {}, excess = {};
  for_each_vector<T>(0, count, [&](std::int64_t i, auto lanes) {
    const Vec<T> location = direction * lanes.load(loc + i) - shift;
    const Vec<T> log_variance = lanes.load(log_var + i);
    const Vec<T> variance = exp(log_variance);
    const Vec<T> e = exp(location + half * variance);
    value += lanes.keep(e - shape * location - half * log_variance);
    excess += lanes.keep(e - shape);
    if (loc_gradient == nullptr) return;
    lanes.store(loc_gradient + i,
                lanes.load(loc_gradient + i) + c * direction * (e - shape));
    lanes.store(log_var_gradient + i, lanes.load(log_var_gradient + i) +
                                          c * half * (variance * e - 1));
  });
  return {static_cast<double>(reduce_add<T>(value)),
          static_cast<double>(reduce_add<T>(excess))};
}

template <typename T>
RadiusKl radius_kl(std::int64_t count, const RadiusFactors<const T>& q,
                   const RadiusPrior& prior, double scale,
                   const RadiusFactors<T>& gradient) {
  // (log(2 pi) + 1)/2, and log Gamma(1/2) less it.
  constexpr double kEntropy = 1.41893853320467274178;
  constexpr double kConstantA = -0.84657359027997265471;
  // A half-t variable of n degrees of freedom is the root of a product of
  // Gamma(1/2, scale^2) and inverse Gamma(n/2, n); n = 1 is half-Cauchy.
  const double n = prior.degrees_of_freedom;
  const FactorPrior prior_a{1, 0.5, 2 * prior.log_scale};
  const FactorPrior prior_b{-1, n / 2, -prior.log_degrees};
  const RadiusKl a = factor_kl(count, prior_a, q.loc_a, q.log_var_a, scale,
                               gradient.loc_a, gradient.log_var_a);
  const RadiusKl b = factor_kl(count, prior_b, q.loc_b, q.log_var_b, scale,
                               gradient.loc_b, gradient.log_var_b);
  const double constant = kConstantA + prior.log_gamma_shape - kEntropy;
  return {a.value + b.value + constant * static_cast<double>(count),
          -2 * a.log_scale};
}

template <typename T>
constexpr RdpGroupTable<T> kTable = {draw<T>, finish<T>, radius_kl<T>};

}  // namespace

extern const RdpGroupTable<float> rdp_group_float = kTable<float>;
extern const RdpGroupTable<double> rdp_group_double = kTable<double>;

}  // namespace RADIR_ISA
}  // namespace radir::kernels

#pragma once

#include <cmath>
#include <vector>

#include "kernels/rdp_problem.h"
#include "radir/kernels/random.h"
#include "radir/math/bessel.h"
#include "radir/math/gauss_legendre.h"
#include "radir/math/vmf_sampling.h"
#include "radir/network/weight_shape.h"

// What RdpKernel computes, one group after the other and straight from the
// formulas: explicit unit vectors, Wood's sampler in its textbook form, the
// implicit derivative from its definition.

namespace radir::kernels::testing {

/// dw/dkappa / (1 - w^2) at fixed quantile, from its definition,
/// int_w^1 (t - A) p(t) dt / p(w), in the angle, by forty panels.
inline double implicit_slope(double m, double kappa, double w,
                             double one_minus_w) {
  const double mean = math::bessel_ratio(m / 2, kappa);
  const double theta = 2 * std::asin(std::sqrt(one_minus_w / 2));
  const double end = w >= mean ? 0 : 3.14159265358979323846;
  const auto log_density = [&](double a) {
    return kappa * (std::cos(a) - w) +
           (m - 2) * std::log(std::sin(a) / std::sin(theta));
  };
  // Panels shrink towards theta, where a concentrated distribution has its
  // mass.
  double sum = 0;
  double left = theta;
  for (int panel = 40; panel-- > 0;) {
    const double right = theta + (end - theta) * std::pow(1 - panel / 40.0, 4);
    sum += (right - left) * math::detail::integrate<24, double>([&](double x) {
             const double a = left + x * (right - left);
             return (std::cos(a) - mean) * std::exp(log_density(a));
           });
    left = right;
  }
  return -sum / std::sin(theta);
}

/// The closed form u1.
inline double closed_form_slope(double m, double k, double w) {
  const double s = std::sqrt(4 * k * k + (m - 1) * (m - 1));
  const double x0 = 2 * k / (m - 1 + s);
  const double h = k * w + (m - 1 + s) / 2;
  const double d = w - x0;
  const double n = (2 * x0 + d) * s * s + (1 - x0 * x0) * k * (2 * s + k * d);
  return 1 / h + k * n / (h * h * h * s * s);
}

/// The cosine that Wood's sampler makes of proposal t, and its test.
struct WoodSampler {
  double m, kappa;
  double b =
      (m - 1) / (2 * kappa + std::sqrt(4 * kappa * kappa + (m - 1) * (m - 1)));
  double a =
      (m - 1 + 2 * kappa + std::sqrt(4 * kappa * kappa + (m - 1) * (m - 1))) /
      4;
  double d = 4 * a * b / (1 + b) - (m - 1) * std::log(m - 1);

  double cosine(double t) const {
    const double eps = (1 - t) / 2;
    return (1 - (1 + b) * eps) / (1 - (1 - b) * eps);
  }
  double one_minus_cosine(double t) const {
    const double eps = (1 - t) / 2;
    return 2 * b * eps / (1 - (1 - b) * eps);
  }
  bool accepts(double t, double exponential) const {
    const double tau = 2 * a * b / (1 - (1 - b) * (1 - t) / 2);
    return (m - 1) * std::log(tau) - tau + d >= -exponential;
  }
};

/// A proposal, from the bits of one Philox block: t is
/// q / sqrt(1 + q^2), q = sqrt(U^(-2/(m-1)) - 1) cos(angle). The angle's upper
/// two bits choose the quarter, the others the place in it, which a kernel over
/// float reads as a signed number.
template <typename T>
struct FreshProposal {
  double t, exponential;

  FreshProposal(const RandomStream& stream, std::uint32_t element, double m) {
    const PhiloxBlock bits =
        philox(counter_of(stream, element, 1), key_of(stream));
    const std::uint32_t place = bits.word[2] << 2;
    const double fraction = sizeof(T) == 4
                                ? static_cast<std::int32_t>(place) * 0x1p-32
                                : place * 0x1p-32 - 0.5;
    const double angle = 1.5707963267948966 * fraction;
    const bool mirrored = bits.word[2] >> 31 != 0;
    const bool swapped = (bits.word[2] >> 30 & 1) != 0;
    const double sign = mirrored ? -1 : 1;
    const double cosine = swapped ? std::sin(angle) : sign * std::cos(angle);
    const double u = open_unit(bits.word[0], bits.word[1]);
    const double q = std::sqrt(std::pow(u, -2 / (m - 1)) - 1) * cosine;
    t = q / std::sqrt(1 + q * q);
    exponential = -std::log(open_unit(0, bits.word[3]));
  }
};

/// The random numbers of a kernel over T, in double.
enum class Law { Normal, Exponential };
template <typename T>
std::vector<double> random_numbers(Law law, RandomStream stream,
                                   std::uint32_t substream, std::int64_t offset,
                                   std::int64_t count) {
  stream.stream += substream;
  std::vector<T> v(static_cast<std::size_t>(count));
  if (law == Law::Normal) {
    fill_normal(stream, offset, count, v.data());
  } else {
    fill_exponential(stream, offset, count, v.data());
  }
  return {v.begin(), v.end()};
}

/// One side of a layer: a draw with the noise of a kernel over T, and its
/// derivatives.
template <typename T>
class SideTwin {
 public:
  struct Group {
    std::vector<double> mu, x;
    double norm = 0, w = 0, one_minus_w = 0, r = 0, kappa = 0;
    double slope_a = 0, slope_b = 0;  // d log r / d log_var
  };
  std::vector<Group> groups;
  std::vector<std::vector<std::size_t>> elements;
  double global_slope_a = 0, global_slope_b = 0;

  SideTwin(const RdpLayout& layout, bool rows, SideStorage<double>& p,
           const RandomStream& stream)
      : elements(elements_of_groups(layout.shape, rows)),
        side_(rows ? *layout.row : *layout.column) {
    const network::WeightShape& shape = layout.shape;
    const std::int64_t row_count = layout.row ? shape.rows() : 0;
    const std::int64_t column_count = layout.column ? shape.columns() : 0;
    all_groups_ = static_cast<std::uint32_t>(row_count + column_count);
    const std::int64_t first = rows ? 0 : row_count;
    const auto n = static_cast<std::int64_t>(elements.size());
    const auto noise =
        random_numbers<T>(Law::Normal, stream, rows ? 0 : 1, 0, shape.size());
    const auto radius_noise =
        random_numbers<T>(Law::Normal, stream, 2, first, n);
    const auto exponential =
        random_numbers<T>(Law::Exponential, stream, 3, first, n);
    const double global_noise =
        random_numbers<T>(Law::Normal, stream, 2,
                          row_count + column_count + (rows ? 0 : 1), 1)[0];
    RandomStream acceptance = stream;
    acceptance.stream += 3;
    const double log_global = draw_global(p, global_noise);
    for (std::size_t i = 0; i < elements.size(); ++i) {
      Group group;
      group.kappa =
          std::exp(p.log_concentration[side_.shared_concentration ? 0 : i]);
      const double va = std::exp(p.local[1][i]), vb = std::exp(p.local[3][i]);
      const double sd = std::sqrt((va + vb) / 4);
      const double e = radius_noise[i];
      group.r =
          std::exp((p.local[0][i] + p.local[2][i]) / 2 + sd * e + log_global);
      group.slope_a = e * va / (8 * sd);
      group.slope_b = e * vb / (8 * sd);
      groups.push_back(group);
      draw_direction(
          i, p.direction, noise, exponential[i], acceptance,
          static_cast<std::uint32_t>(first) + static_cast<std::uint32_t>(i));
    }
  }

  /// r x at every element.
  std::vector<double> part() const {
    std::vector<double> out;
    for (std::size_t i = 0; i < groups.size(); ++i) {
      for (std::size_t j = 0; j < elements[i].size(); ++j) {
        out.resize(std::max(out.size(), elements[i][j] + 1));
        out[elements[i][j]] = groups[i].r * groups[i].x[j];
      }
    }
    return out;
  }

  /// Gradients from `v`, that of the loss with respect to part().
  void backward(const std::vector<double>& v, math::VmfEstimator estimator,
                double loss, SideStorage<double>& out) const {
    for (std::size_t i = 0; i < groups.size(); ++i) {
      const Group& group = groups[i];
      const double w = group.w;
      double x_dot = 0, mu_dot = 0;  // with xbar = r v
      for (std::size_t j = 0; j < group.mu.size(); ++j) {
        const double xbar = group.r * v[elements[i][j]];
        x_dot += group.x[j] * xbar;
        mu_dot += group.mu[j] * xbar;
      }
      for (std::size_t j = 0; j < group.mu.size(); ++j) {
        const double xbar = group.r * v[elements[i][j]];
        out.direction[elements[i][j]] +=
            (w * xbar - mu_dot * group.x[j]) / group.norm;
      }
      const double kappa_bar =
          concentration_gradient(estimator, loss, group, mu_dot - w * x_dot);
      out.log_concentration[side_.shared_concentration ? 0 : i] +=
          group.kappa * kappa_bar;
      out.local[0][i] += x_dot / 2;
      out.local[1][i] += x_dot * group.slope_a;
      out.local[2][i] += x_dot / 2;
      out.local[3][i] += x_dot * group.slope_b;
      if (!side_.global_radius) continue;
      out.global[0][0] += x_dot / 2;
      out.global[1][0] += x_dot * global_slope_a;
      out.global[2][0] += x_dot / 2;
      out.global[3][0] += x_dot * global_slope_b;
    }
  }

 private:
  double draw_global(const SideStorage<double>& p, double noise) {
    if (!side_.global_radius) return 0;
    const double va = std::exp(p.global[1][0]), vb = std::exp(p.global[3][0]);
    const double sd = std::sqrt((va + vb) / 4);
    global_slope_a = noise * va / (8 * sd);
    global_slope_b = noise * vb / (8 * sd);
    return (p.global[0][0] + p.global[2][0]) / 2 + sd * noise;
  }

  static double concentration_gradient(math::VmfEstimator estimator,
                                       double loss, const Group& group,
                                       double along) {
    const double m = static_cast<double>(group.mu.size());
    const double k = group.kappa, w = group.w;
    if (estimator == math::VmfEstimator::Implicit) {
      const double u = m < 30 ? implicit_slope(m, k, w, group.one_minus_w)
                              : closed_form_slope(m, k, w);
      return u * along;
    }
    if (estimator != math::VmfEstimator::Rejection) {
      const auto law = math::VmfCosine<double>::make(m, k);
      const double c = law.correction(
          estimator, {w, group.one_minus_w, group.one_minus_w * (1 + w)});
      return law.velocity(estimator, w) * along + loss * c;
    }
    // c = w - A + [k (1 - w^2) - (m-1) w] / s, with k (1 - x0^2) = (m-1) x0,
    // from numbers of the size of 1 - w.
    const double s = std::sqrt(4 * k * k + (m - 1) * (m - 1));
    const double one_minus_x0 = 1 - 2 * k / (m - 1 + s);
    const double offset = one_minus_x0 - group.one_minus_w;
    const double c = math::vmf_one_minus_mean_cosine(m, k) - one_minus_x0 -
                     k / s * offset * offset;
    return along / s + loss * c;
  }

  /// x = w mu + sqrt(1 - w^2) xi. The cosine of the noise proposes first.
  void draw_direction(std::size_t i, const std::vector<double>& direction,
                      const std::vector<double>& noise, double exponential,
                      const RandomStream& stream, std::uint32_t element) {
    Group& group = groups[i];
    const std::size_t m = elements[i].size();
    double norm2 = 0, noise2 = 0, along = 0, rest2 = 0;
    for (const std::size_t e : elements[i]) {
      norm2 += direction[e] * direction[e];
      noise2 += noise[e] * noise[e];
    }
    group.norm = std::sqrt(norm2);
    for (const std::size_t e : elements[i]) {
      group.mu.push_back(direction[e] / group.norm);
      along += group.mu.back() * noise[e];
    }
    std::vector<double> xi;
    for (std::size_t j = 0; j < m; ++j) {
      xi.push_back(noise[elements[i][j]] - along * group.mu[j]);
      rest2 += xi[j] * xi[j];
    }
    const WoodSampler sampler{static_cast<double>(m), group.kappa};
    double t = along / std::sqrt(noise2);
    for (; !sampler.accepts(t, exponential); element += all_groups_) {
      const FreshProposal<T> next(stream, element, sampler.m);
      t = next.t;
      exponential = next.exponential;
    }
    group.w = sampler.cosine(t);
    group.one_minus_w = sampler.one_minus_cosine(t);
    const double sine = std::sqrt(group.one_minus_w * (1 + group.w));
    for (std::size_t j = 0; j < m; ++j) {
      group.x.push_back(group.w * group.mu[j] +
                        sine * xi[j] / std::sqrt(rest2));
    }
  }

  RdpSideLayout side_;
  std::uint32_t all_groups_;  // of both sides
};

/// A complete layer.
template <typename T>
class LayerTwin {
 public:
  std::vector<SideTwin<T>> sides;  // rows, columns, as far as present
  std::vector<double> weight;

  LayerTwin(Problem<double>& problem, const RandomStream& stream) {
    const RdpLayout& layout = problem.layout;
    if (layout.row) {
      storages_.push_back(&Storage<double>::row);
      sides.emplace_back(layout, true, problem.storage.row, stream);
    }
    if (layout.column) {
      storages_.push_back(&Storage<double>::column);
      sides.emplace_back(layout, false, problem.storage.column, stream);
    }
    weight.assign(static_cast<std::size_t>(layout.shape.size()), 1.0);
    for (const SideTwin<T>& side : sides) {
      parts_.push_back(side.part());
      for (std::size_t e = 0; e < weight.size(); ++e) {
        weight[e] *= parts_.back()[e];
      }
    }
  }

  void backward(const std::vector<double>& weight_gradient,
                const RdpBackwardOptions& options,
                Storage<double>& gradients) const {
    for (std::size_t i = 0; i < sides.size(); ++i) {
      std::vector<double> v = weight_gradient;
      for (std::size_t other = 0; other < sides.size(); ++other) {
        if (other == i) continue;
        for (std::size_t e = 0; e < v.size(); ++e) v[e] *= parts_[other][e];
      }
      sides[i].backward(v, options.estimator, options.loss,
                        gradients.*storages_[i]);
    }
  }

 private:
  std::vector<std::vector<double>> parts_;
  std::vector<SideStorage<double> Storage<double>::*> storages_;
};

}  // namespace radir::kernels::testing

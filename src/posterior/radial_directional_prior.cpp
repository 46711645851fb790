#include <algorithm>
#include <limits>

#include "posterior/priors.h"
#include "radir/core/error.h"
#include "radir/kernels/philox.h"
#include "radir/kernels/random.h"
#include "radir/network/weight_shape.h"

namespace radir::posterior {
namespace {

std::int64_t side_count(const network::WeightShape& shape, Grouping grouping) {
  return (grouping != Grouping::Column ? shape.rows() : 0) +
         (grouping != Grouping::Row ? shape.columns() : 0);
}

std::int64_t normal_count(const network::WeightShape& shape,
                          Grouping grouping) {
  return shape.size() * (grouping == Grouping::Double ? 2 : 1);
}

std::int64_t scale_count(const network::WeightShape& shape,
                         const RadialDirectionalOptions& options) {
  return side_count(shape, options.grouping) + (options.global_scale ? 1 : 0);
}

}  // namespace

template <typename T>
RadialDirectionalPrior<T>::RadialDirectionalPrior(
    const network::WeightShape& shape, const RadialDirectionalOptions& options)
    : WeightPrior<T>(
          normal_count(shape, options.grouping) + scale_count(shape, options),
          scale_count(shape, options)),
      shape_(shape),
      options_(options),
      part_gradient_(static_cast<std::size_t>(shape.size())) {
  RADIR_CHECK(options.direction_prior == DirectionPrior::Uniform,
              UnsupportedError, "radial-directional prior: directions can be ",
              "sampled under direction_prior=uniform, but not under ",
              to_string(options.direction_prior),
              ", whose centre depends on the posterior");
  if (options.grouping != Grouping::Column) add_side(true);
  if (options.grouping != Grouping::Row) add_side(false);
}

template <typename T>
void RadialDirectionalPrior<T>::add_side(bool is_row) {
  Side side;
  side.is_row = is_row;
  side.groups = is_row ? shape_.rows() : shape_.columns();
  side.normal = static_cast<std::int64_t>(sides_.size()) * shape_.size();
  side.radius = normal_count(shape_, options_.grouping) +
                (sides_.empty() ? 0 : sides_.front().groups);
  side.degrees_of_freedom = is_row
                                ? options_.degrees_of_freedom
                                : options_.column_degrees_of_freedom.value_or(
                                      options_.degrees_of_freedom);
  side.part.resize(static_cast<std::size_t>(shape_.size()));
  side.inverse_norm.resize(static_cast<std::size_t>(side.groups));
  side.factor.resize(static_cast<std::size_t>(side.groups));
  side.dot.resize(static_cast<std::size_t>(side.groups));
  sides_.push_back(std::move(side));
}

/// Calls visit(index of the weight, group).
template <typename T>
template <typename Visit>
void RadialDirectionalPrior<T>::for_each_weight(const Side& side,
                                                const Visit& visit) const {
  std::int64_t at = 0;
  for (std::int64_t row = 0; row < shape_.rows(); ++row) {
    const std::int64_t first = row / shape_.out * shape_.in;
    for (std::int64_t column = 0; column < shape_.in; ++column) {
      const auto group =
          static_cast<std::size_t>(side.is_row ? row : first + column);
      for (std::int64_t k = 0; k < shape_.kernel; ++k) visit(at++, group);
    }
  }
}

template <typename T>
void RadialDirectionalPrior<T>::initialize(const kernels::RandomStream& stream,
                                           T* coordinates) const {
  const std::int64_t normals = normal_count(shape_, options_.grouping);
  kernels::fill_normal(stream, 0, normals, coordinates);
  // What all radii together must multiply, and whether one number does it.
  const auto length = static_cast<double>(shape_.column_length());
  const auto inputs = static_cast<double>(shape_.row_length());
  const double square = options_.grouping == Grouping::Row ? 1
                        : options_.grouping == Grouping::Column
                            ? length / inputs
                            : length;
  const double log_factor = std::log(options_.initial_gain * square) / 2;
  std::fill(coordinates + normals, coordinates + this->size(), T(0));
  const double unit =
      std::log(options_.local_scale) * static_cast<double>(sides_.size());
  if (options_.global_scale) {
    coordinates[this->size() - 1] =
        static_cast<T>(log_factor - unit - std::log(*options_.global_scale));
  } else {
    const Side& side = sides_.front();
    std::fill_n(coordinates + side.radius, side.groups,
                static_cast<T>(log_factor - unit));
  }
}

template <typename T>
void RadialDirectionalPrior<T>::fill_part(const T* coordinates, double factor,
                                          Side& side) const {
  const T* normal = coordinates + side.normal;
  std::vector<double>& squares = side.inverse_norm;
  std::fill(squares.begin(), squares.end(), std::numeric_limits<double>::min());
  for_each_weight(side, [&](std::int64_t at, std::size_t group) {
    squares[group] += static_cast<double>(normal[at] * normal[at]);
  });
  for (std::size_t g = 0; g < squares.size(); ++g) {
    squares[g] = 1 / std::sqrt(squares[g]);  // is inverse_norm from here on
    const auto log_radius = static_cast<double>(
        coordinates[side.radius + static_cast<std::int64_t>(g)]);
    side.factor[g] = factor * std::exp(log_radius) * squares[g];
  }
  for_each_weight(side, [&](std::int64_t at, std::size_t group) {
    side.part[static_cast<std::size_t>(at)] =
        static_cast<T>(side.factor[group]) * normal[at];
  });
}

template <typename T>
void RadialDirectionalPrior<T>::weights(const T* coordinates, T* weight) {
  const double global =
      options_.global_scale
          ? *options_.global_scale *
                std::exp(static_cast<double>(coordinates[this->size() - 1]))
          : 1;
  for (std::size_t s = 0; s < sides_.size(); ++s) {
    fill_part(coordinates, options_.local_scale * (s == 0 ? global : 1),
              sides_[s]);
  }
  std::copy(sides_[0].part.begin(), sides_[0].part.end(), weight);
  if (sides_.size() == 1) return;
  for (std::size_t i = 0; i < sides_[1].part.size(); ++i) {
    weight[i] *= sides_[1].part[i];
  }
}

/// The gradient by a side's coordinates, given that by its part; returns its
/// negative log density.
template <typename T>
double RadialDirectionalPrior<T>::backward_side(const T* coordinates,
                                                const T* part_gradient,
                                                Side& side, T* gradient) const {
  const T* normal = coordinates + side.normal;
  std::fill(side.dot.begin(), side.dot.end(), 0.0);
  double squares = 0;
  for_each_weight(side, [&](std::int64_t at, std::size_t group) {
    side.dot[group] += static_cast<double>(
        part_gradient[at] * side.part[static_cast<std::size_t>(at)]);
    squares += static_cast<double>(normal[at] * normal[at]);
  });
  double energy = squares / 2;
  for (std::int64_t g = 0; g < side.groups; ++g) {
    const Energy radius =
        log_half_t_energy(static_cast<double>(coordinates[side.radius + g]),
                          side.degrees_of_freedom);
    energy += radius.value;
    gradient[side.radius + g] =
        static_cast<T>(radius.gradient + side.dot[static_cast<std::size_t>(g)]);
  }
  // d part / d normal = (radius / norm) (1 - direction direction^T).
  for_each_weight(side, [&](std::int64_t at, std::size_t group) {
    const double inverse = side.inverse_norm[group];
    const double own = 1 - side.dot[group] * inverse * inverse;
    gradient[side.normal + at] =
        static_cast<T>(own) * normal[at] +
        static_cast<T>(side.factor[group]) * part_gradient[at];
  });
  return energy;
}

template <typename T>
double RadialDirectionalPrior<T>::backward(const T* coordinates,
                                           const T* weight_gradient,
                                           T* gradient) {
  double energy = 0;
  for (std::size_t s = 0; s < sides_.size(); ++s) {
    const T* part_gradient = weight_gradient;
    if (sides_.size() == 2) {
      const std::vector<T>& other = sides_[1 - s].part;
      for (std::size_t i = 0; i < other.size(); ++i) {
        part_gradient_[i] = weight_gradient[i] * other[i];
      }
      part_gradient = part_gradient_.data();
    }
    energy += backward_side(coordinates, part_gradient, sides_[s], gradient);
  }
  if (!options_.global_scale) return energy;
  const Side& side = sides_.front();
  double along = 0;
  for (double dot : side.dot) along += dot;
  const std::int64_t at = this->size() - 1;
  const Energy global =
      log_half_t_energy(static_cast<double>(coordinates[at]), 1);
  gradient[at] = static_cast<T>(global.gradient + along);
  return energy + global.value;
}

template class RadialDirectionalPrior<float>;
template class RadialDirectionalPrior<double>;

}  // namespace radir::posterior

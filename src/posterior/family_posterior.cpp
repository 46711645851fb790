#include "radir/posterior/family_posterior.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "radir/core/error.h"
#include "radir/kernels/random.h"
#include "radir/posterior/family.h"
#include "radir/posterior/gaussian.h"

namespace radir::posterior {

void Family::check(const Options&) const {}

Options Family::bias_options(const Options&, double prior_scale) const {
  return posterior::bias_options(prior_scale);
}

namespace {

[[noreturn]] void report_no_prior(const Family& family) {
  detail::throw_error<UnsupportedError>(
      "the family ", family.name(), " has no prior that can be sampled; use ",
      "gaussian or radial-directional");
}

}  // namespace

void Family::make_prior(const network::WeightShape&, const Options&,
                        std::unique_ptr<WeightPrior<float>>&) const {
  report_no_prior(*this);
}

void Family::make_prior(const network::WeightShape&, const Options&,
                        std::unique_ptr<WeightPrior<double>>&) const {
  report_no_prior(*this);
}

template <typename T>
void FamilyPosterior<T>::point(const Arrays<const T>& parameters,
                               kernels::PointWeight, T* weight) {
  moments(parameters, weight, nullptr);
}

template <typename T>
UnitScores FamilyPosterior<T>::unit_scores(const Arrays<const T>& parameters) {
  std::vector<T> means(static_cast<std::size_t>(shape_.size()));
  moments(parameters, means.data(), nullptr);
  UnitScores scores;
  scores.rows.resize(static_cast<std::size_t>(shape_.rows()));
  scores.columns.resize(static_cast<std::size_t>(shape_.columns()));
  const T* mean = means.data();
  for (std::size_t row = 0; row < scores.rows.size(); ++row) {
    const auto group = static_cast<std::int64_t>(row) / shape_.out;
    for (std::int64_t column = 0; column < shape_.in; ++column) {
      for (std::int64_t k = 0; k < shape_.kernel; ++k) {
        const auto value = static_cast<double>(*mean++);
        scores.rows[row] += value * value;
        scores.columns[static_cast<std::size_t>(group * shape_.in + column)] +=
            value * value;
      }
    }
  }
  // Of units that are exactly zero the score is low, but finite.
  const auto to_log_rms = [](std::vector<double>& squares,
                             std::int64_t length) {
    for (double& score : squares) {
      score = std::log(std::max(score / static_cast<double>(length),
                                std::numeric_limits<double>::min())) /
              2;
    }
  };
  to_log_rms(scores.rows, shape_.row_length());
  to_log_rms(scores.columns, shape_.column_length());
  return scores;
}

template <typename T>
void FamilyPosterior<T>::step_moments(const Arrays<const T>& parameters,
                                      const kernels::RandomStream&, T* mean,
                                      T* variance) {
  moments(parameters, mean, variance);
}

template <typename T>
void FamilyPosterior<T>::moments_backward(const Arrays<const T>&, const T*,
                                          const T*, const Arrays<T>&) {
  detail::throw_error<UnsupportedError>("moments_backward: the family ",
                                        options_.family().name(),
                                        " draws no noise in activations");
}

template <typename T>
std::size_t FamilyPosterior<T>::add_block(std::string name, Extent extent,
                                          bool trainable, bool is_scale) {
  std::int64_t size = 1;
  switch (extent) {
    case Extent::Weight:
      size = shape_.size();
      break;
    case Extent::Rows:
      size = shape_.rows();
      break;
    case Extent::Columns:
      size = shape_.columns();
      break;
    case Extent::One:
      break;
  }
  blocks_.push_back({std::move(name), size, extent, trainable, is_scale});
  return blocks_.size() - 1;
}

template <typename T>
std::size_t FamilyPosterior<T>::add_unit_block(std::string name, Extent extent,
                                               std::int64_t copies,
                                               std::int64_t per_unit) {
  RADIR_ASSERT(extent == Extent::Rows || extent == Extent::Columns);
  const std::size_t index = add_block(std::move(name), extent);
  blocks_[index].copies = copies;
  blocks_[index].per_unit = per_unit;
  blocks_[index].size *= copies * per_unit;
  return index;
}

template <typename T>
double FamilyPosterior<T>::spread_of(double gain) const {
  return std::sqrt(gain / static_cast<double>(shape_.row_length()));
}

template <typename T>
void FamilyPosterior<T>::draw_start(const kernels::RandomStream& stream,
                                    double gain, T* weight) const {
  const std::int64_t size = shape_.size();
  const T spread = T(spread_of(gain));
  kernels::fill_normal(stream, 0, size, weight);
  for (std::int64_t i = 0; i < size; ++i) weight[i] *= spread;
}

template class FamilyPosterior<float>;
template class FamilyPosterior<double>;

}  // namespace radir::posterior

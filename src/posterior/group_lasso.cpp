#include "radir/posterior/group_lasso.h"

#include <cmath>
#include <sstream>

#include "posterior/point_posterior.h"
#include "radir/core/text_stream.h"
#include "radir/network/weight_shape.h"
#include "radir/posterior/point.h"

namespace radir::posterior {
namespace {

template <typename T>
class GroupLassoPosterior final : public PointPosterior<T> {
 public:
  GroupLassoPosterior(const network::WeightShape& shape,
                      const GroupLassoOptions& options)
      : PointPosterior<T>(shape, options, options.initial_gain),
        own_(options) {}

  std::string describe() const override {
    std::ostringstream text = text_stream();
    text << "group lasso, " << to_string(own_.grouping)
         << " grouping, strength " << own_.strength;
    return text.str();
  }

  double kl(const Arrays<const T>& parameters) override {
    const T* const weight = this->weights(parameters);
    double sum = 0;
    for_each_side([&](bool rows) {
      for (double norm : norms(rows, weight)) sum += price(rows) * norm;
    });
    return sum;
  }

  // All of it is after_step's.
  void kl_backward(const Arrays<const T>&, double, const Arrays<T>&) override {}

  bool has_after_step() const override { return true; }

  void after_step(double rate, const Arrays<T>& parameters) override {
    T* const weight = this->weights(parameters);
    for_each_side([&](bool rows) {
      std::vector<double> factors = norms(rows, weight);
      for (double& factor : factors) {
        const double taken = rate * price(rows);
        factor = factor > taken ? 1 - taken / factor : 0;
      }
      for_each_weight(rows, [&](std::int64_t i, std::size_t group) {
        weight[i] *= T(factors[group]);
      });
    });
  }

 private:
  template <typename Treat>
  void for_each_side(const Treat& treat) const {
    if (own_.grouping != Grouping::Column) treat(true);
    if (own_.grouping != Grouping::Row) treat(false);
  }

  /// treat(index of the weight, its row or its column).
  template <typename Treat>
  void for_each_weight(bool rows, const Treat& treat) const {
    const network::WeightShape& shape = this->shape();
    std::int64_t i = 0;
    for (std::int64_t row = 0; row < shape.rows(); ++row) {
      const std::int64_t first_column = row / shape.out * shape.in;
      for (std::int64_t column = 0; column < shape.in; ++column) {
        const std::int64_t group = rows ? row : first_column + column;
        for (std::int64_t k = 0; k < shape.kernel; ++k) {
          treat(i++, static_cast<std::size_t>(group));
        }
      }
    }
  }

  std::vector<double> norms(bool rows, const T* weight) const {
    const network::WeightShape& shape = this->shape();
    std::vector<double> result(
        static_cast<std::size_t>(rows ? shape.rows() : shape.columns()));
    for_each_weight(rows, [&](std::int64_t i, std::size_t group) {
      const auto value = static_cast<double>(weight[i]);
      result[group] += value * value;
    });
    for (double& norm : result) norm = std::sqrt(norm);
    return result;
  }

  /// Of a norm.
  double price(bool rows) const {
    const network::WeightShape& shape = this->shape();
    return own_.strength *
           std::sqrt(static_cast<double>(rows ? shape.row_length()
                                              : shape.column_length()));
  }

  GroupLassoOptions own_;
};

class GroupLassoFamily final
    : public FamilyOf<GroupLassoOptions, GroupLassoPosterior> {
 public:
  using FamilyOf::FamilyOf;

  Options bias_options(const Options&, double) const override {
    return point_bias_options(std::nullopt, 0);
  }
};

}  // namespace

void describe(SettingsVisitor& visit, GroupLassoOptions& options) {
  visit.choice({"grouping", "Which weights are removed together", {}},
               options.grouping, grouping_choices());
  visit.number({"strength", "Factor of the penalty", at_least(0)},
               options.strength);
  visit.number(
      {"initial_gain",
       "Variance of the starting weights times the inputs of a unit", above(0)},
      options.initial_gain);
}

const Family& family_of(const GroupLassoOptions&) {
  static const GroupLassoFamily family(
      "group-lasso",
      "Weights without noise, with a penalty that makes groups of them zero.");
  return family;
}

}  // namespace radir::posterior

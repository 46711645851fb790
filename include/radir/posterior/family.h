#pragma once

#include <memory>
#include <string_view>
#include <vector>

#include "radir/core/settings.h"
#include "radir/network/weight_shape.h"
#include "radir/posterior/family_posterior.h"
#include "radir/posterior/options.h"
#include "radir/posterior/weight_prior.h"

namespace radir::posterior {

/// A kind of posterior: what its options are and how it is made from them.
class Family {
 public:
  virtual ~Family() = default;

  /// As files and the command line call it, such as "radial-directional".
  virtual const char* name() const = 0;
  /// One sentence.
  virtual const char* description() const = 0;
  virtual Options default_options() const = 0;
  /// Shows every field of options of this family.
  virtual void visit_settings(SettingsVisitor& visit,
                              Options& options) const = 0;

  /// Throws ArgumentError for options that do not fit each other. Ranges of
  /// single options are checked by their description.
  virtual void check(const Options& options) const;

  /// The posterior of the bias of a layer whose weights have these options:
  /// Gaussian unless overridden. Its first array holds the mean of each bias,
  /// to which the removal of constant units adds.
  virtual Options bias_options(const Options& weight, double prior_scale) const;

  /// Throws ArgumentError for an impossible option or shape.
  template <typename T>
  std::unique_ptr<FamilyPosterior<T>> make(const network::WeightShape& shape,
                                           const Options& options) const {
    std::unique_ptr<FamilyPosterior<T>> result;
    make(shape, options, result);
    return result;
  }

  /// The prior in coordinates that can be sampled. Throws UnsupportedError
  /// unless overridden. See make_weight_prior.
  template <typename T>
  std::unique_ptr<WeightPrior<T>> make_prior(const network::WeightShape& shape,
                                             const Options& options) const {
    std::unique_ptr<WeightPrior<T>> result;
    make_prior(shape, options, result);
    return result;
  }

 protected:
  virtual void make(const network::WeightShape& shape, const Options& options,
                    std::unique_ptr<FamilyPosterior<float>>& result) const = 0;
  virtual void make(const network::WeightShape& shape, const Options& options,
                    std::unique_ptr<FamilyPosterior<double>>& result) const = 0;
  virtual void make_prior(const network::WeightShape& shape,
                          const Options& options,
                          std::unique_ptr<WeightPrior<float>>& result) const;
  virtual void make_prior(const network::WeightShape& shape,
                          const Options& options,
                          std::unique_ptr<WeightPrior<double>>& result) const;
};

/// The family of Posterior<T>(shape, const FamilyOptions&), which derives from
/// FamilyPosterior<T>.
template <typename FamilyOptions, template <typename> class Posterior>
class FamilyOf : public Family {
 public:
  FamilyOf(const char* name, const char* description)
      : name_(name), description_(description) {}

  const char* name() const override { return name_; }
  const char* description() const override { return description_; }
  Options default_options() const override { return FamilyOptions{}; }
  void visit_settings(SettingsVisitor& visit, Options& options) const override {
    describe(visit, options.get<FamilyOptions>());
  }

 protected:
  void make(const network::WeightShape& shape, const Options& options,
            std::unique_ptr<FamilyPosterior<float>>& result) const override {
    result =
        std::make_unique<Posterior<float>>(shape, options.get<FamilyOptions>());
  }
  void make(const network::WeightShape& shape, const Options& options,
            std::unique_ptr<FamilyPosterior<double>>& result) const override {
    result = std::make_unique<Posterior<double>>(shape,
                                                 options.get<FamilyOptions>());
  }

 private:
  const char* name_;
  const char* description_;
};

/// All families, those of this library first.
std::vector<const Family*> families();

/// The family of this name. Throws UnsupportedError that lists those there are.
const Family& find_family(std::string_view name);

/// Adds a family from outside this library, which must outlive all use of it;
/// files can name it from then on. Throws ArgumentError when another family has
/// the name.
void register_family(const Family& family);

}  // namespace radir::posterior

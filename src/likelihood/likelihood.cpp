#include "radir/likelihood/likelihood.h"

#include "likelihood/kinds.h"
#include "radir/core/error.h"

namespace radir::likelihood {
namespace {

/// The registry: one line per kind. The first is the default.
struct Entry {
  Kind kind;
  const char* name;
  std::unique_ptr<const Likelihood> (*make)(const Options&);
};
constexpr Entry kKinds[] = {
    {Kind::Gaussian, "gaussian", make_gaussian},
    {Kind::TwoNormals, "two-normals", make_two_normals},
    {Kind::PredictedNoise, "predicted-noise", make_predicted_noise},
    {Kind::Mixture, "mixture", make_mixture},
    {Kind::Categorical, "categorical", make_categorical},
};

}  // namespace

const Choices<Kind>& kind_choices() {
  static const Choices<Kind> choices = [] {
    Choices<Kind> result;
    for (const Entry& entry : kKinds) {
      result.emplace_back(entry.kind, entry.name);
    }
    return result;
  }();
  return choices;
}

const char* to_string(Kind kind) { return choice_name(kind_choices(), kind); }

void describe(SettingsVisitor& visit, Options& options) {
  visit.choice({"kind", "How targets are distributed given the outputs", {}},
               options.kind, kind_choices());
  visit.number({"prior_shape", "Shape of the precision's prior", above(0)},
               options.prior_shape);
  visit.number({"prior_rate", "Rate of the precision's prior", above(0)},
               options.prior_rate);
  if (options.kind != Kind::Mixture) return;
  visit.integer({"parts", "Parts of a mixture",
                 between(1, static_cast<double>(kernels::kMostNoiseParts))},
                options.parts);
  visit.number(
      {"least_scale", "Least standard deviation of a part", between(0, 1)},
      options.least_scale);
}

std::unique_ptr<const Likelihood> make_likelihood(const Options& options) {
  for (const Entry& entry : kKinds) {
    if (entry.kind == options.kind) return entry.make(options);
  }
  RADIR_ASSERT(false && "every kind is registered");
  return nullptr;
}

void Likelihood::initialize(std::int64_t, double*) const {}
double Likelihood::kl(const double*) const { return 0; }
void Likelihood::kl_backward(const double*, double, double*) const {}
std::vector<OwnPrior> Likelihood::own_priors() const { return {}; }
bool Likelihood::scale_noise(double /*factor*/, double* /*own*/) const {
  return false;
}

bool Likelihood::own_step(const double*, const OwnStep&, double*) const {
  return false;
}

void Likelihood::add_components(const Draws<float>&, const double*,
                                std::vector<MixtureComponent>&) const {
  detail::throw_error<UnsupportedError>(
      "likelihood: the targets are classes, not numbers");
}

bool Likelihood::add_columns(const Draws<float>&, const double*,
                             DrawColumns&) const {
  return false;
}

ClassPrediction Likelihood::predict_class(const Draws<float>&) const {
  detail::throw_error<UnsupportedError>(
      "likelihood: the targets are numbers, not classes");
}

}  // namespace radir::likelihood

#include <algorithm>
#include <limits>
#include <memory>
#include <mutex>
#include <nlohmann/json.hpp>
#include <utility>
#include <variant>
#include <vector>

#include "c_api/guard.h"
#include "c_api/handles.h"
#include "radir/core/error.h"
#include "radir/core/settings_text.h"
#include "radir/kernels/philox.h"
#include "radir/kernels/rdp.h"
#include "radir/network/weight_shape.h"
#include "radir/posterior/family.h"
#include "radir/posterior/family_posterior.h"
#include "radir/posterior/options.h"
#include "radir/posterior/weight_posterior.h"

namespace radir::c_api {
namespace {

using Json = nlohmann::ordered_json;

kernels::RandomStream stream_of(const radir_random_stream* stream) {
  check_pointer(stream, "stream");
  RADIR_CHECK(stream->step < kernels::kMaxRandomSteps, ArgumentError,
              "the step of a random stream must be below 2^48, but is ",
              stream->step);
  return {stream->seed, stream->stream, stream->step};
}

/// Throws ArgumentError where the weight has more numbers than memory can hold;
/// the posterior checks the rest.
network::WeightShape sizes_of(const radir_weight_shape& shape) {
  constexpr std::int64_t kMost =
      std::numeric_limits<std::int64_t>::max() / sizeof(double);
  std::int64_t product = 1;
  for (std::int64_t size : {shape.groups, shape.out, shape.in, shape.kernel}) {
    RADIR_CHECK(size <= 0 || product <= kMost / size, ArgumentError,
                "a weight of the shape ", shape.groups, "x", shape.out, "x",
                shape.in, "x", shape.kernel,
                " has more numbers than any memory can hold");
    product *= std::max<std::int64_t>(size, 1);
  }
  return {shape.groups, shape.out, shape.in, shape.kernel};
}

kernels::PointWeight point_of(radir_point point) {
  switch (point) {
    case RADIR_MEAN:
      return kernels::PointWeight::Mean;
    case RADIR_MEDIAN:
      return kernels::PointWeight::Median;
    case RADIR_MODE:
      return kernels::PointWeight::Mode;
  }
  detail::throw_error<ArgumentError>("there is no point weight ", point);
}

/// The posterior of one weight tensor in one type of numbers, on the pointers
/// that callers give.
template <typename T>
class TypedWeight {
 public:
  TypedWeight(const network::WeightShape& shape,
              const posterior::Options& options)
      : posterior_(shape, options) {}

  const posterior::WeightPosterior<T>& posterior() const { return posterior_; }

  void initialize(const kernels::RandomStream& stream, void* const* to) {
    posterior_.initialize(stream, all<T>(to, "parameters"));
  }

  std::int64_t draw(const void* const* parameters,
                    const kernels::RandomStream& stream, void* values) {
    check_pointer(values, "values");
    posterior_.sample(all<const T>(parameters, "parameters"), stream,
                      static_cast<T*>(values));
    return ++draws_;
  }

  void backward(const void* const* parameters,
                const kernels::RandomStream& stream, std::int64_t draw,
                const void* values, const void* value_gradient,
                void* const* gradients) {
    check_pointer(values, "values");
    check_pointer(value_gradient, "value_gradient");
    const auto from = all<const T>(parameters, "parameters");
    const auto to = wanted(gradients);
    if (draw != draws_) {  // its traces are gone: the same numbers again
      again_.resize(static_cast<std::size_t>(posterior_.shape().size()));
      posterior_.sample(from, stream, again_.data());
      ++draws_;
    }
    posterior_.backward(from, static_cast<const T*>(values),
                        static_cast<const T*>(value_gradient), to);
  }

  double kl(const void* const* parameters) {
    return posterior_.kl(all<const T>(parameters, "parameters"));
  }

  void kl_backward(const void* const* parameters, double scale,
                   void* const* gradients) {
    posterior_.kl_backward(all<const T>(parameters, "parameters"), scale,
                           wanted(gradients));
  }

  void moments(const void* const* parameters, void* mean, void* variance) {
    posterior_.moments(all<const T>(parameters, "parameters"),
                       static_cast<T*>(mean), static_cast<T*>(variance));
  }

  void point(const void* const* parameters, kernels::PointWeight kind,
             void* values) {
    check_pointer(values, "values");
    posterior_.point(all<const T>(parameters, "parameters"), kind,
                     static_cast<T*>(values));
  }

 private:
  std::size_t block_count() const {
    return posterior_.parameter_blocks().size();
  }

  /// Pointers that must all be there. P is T or const T.
  template <typename P, typename Void>
  posterior::Arrays<P> all(Void* const* pointers, const char* name) const {
    check_pointer(pointers, name);
    posterior::Arrays<P> arrays;
    for (std::size_t i = 0; i < block_count(); ++i) {
      check_pointer(pointers[i], name);
      arrays.push_back(static_cast<P*>(pointers[i]));
    }
    return arrays;
  }

  /// Where gradients are added; those that nobody wants go to waste.
  posterior::Arrays<T> wanted(void* const* pointers) {
    check_pointer(pointers, "gradients");
    posterior::Arrays<T> arrays;
    unwanted_.resize(block_count());
    for (std::size_t i = 0; i < block_count(); ++i) {
      if (pointers[i] == nullptr) {
        unwanted_[i].assign(
            static_cast<std::size_t>(posterior_.parameter_blocks()[i].size), 0);
      }
      arrays.push_back(pointers[i] != nullptr ? static_cast<T*>(pointers[i])
                                              : unwanted_[i].data());
    }
    return arrays;
  }

  posterior::WeightPosterior<T> posterior_;
  std::int64_t draws_ = 0;  // so far; the last one's traces are there
  std::vector<T> again_;
  std::vector<std::vector<T>> unwanted_;
};

/// A weight of either type, used by one caller at a time.
class WeightObject {
 public:
  WeightObject(radir_type type, const network::WeightShape& shape,
               const posterior::Options& options)
      : weight_(make(type, shape, options)), type_(type) {}

  radir_type type() const { return type_; }

  template <typename Use>
  auto use(const Use& action) {
    const std::lock_guard<std::mutex> lock(mutex_);
    return std::visit(action, weight_);
  }

 private:
  using Either = std::variant<TypedWeight<float>, TypedWeight<double>>;

  static Either make(radir_type type, const network::WeightShape& shape,
                     const posterior::Options& options) {
    RADIR_CHECK(type == RADIR_FLOAT32 || type == RADIR_FLOAT64, ArgumentError,
                "weights must be RADIR_FLOAT32 or RADIR_FLOAT64, not type ",
                type);
    if (type == RADIR_FLOAT32) {
      return Either(std::in_place_index<0>, shape, options);
    }
    return Either(std::in_place_index<1>, shape, options);
  }

  std::mutex mutex_;
  Either weight_;
  radir_type type_;
};

Handles<radir_weight, WeightObject>& weights() {
  static Handles<radir_weight, WeightObject> handles("weight");
  return handles;
}

posterior::Options options_of(const std::string& name, const char* text) {
  const posterior::Family& family = posterior::find_family(name);
  posterior::Options options = family.default_options();
  SettingsAssignment assignment(
      name, parse_assignments(
                name, text == nullptr ? "" : required_text(text, "options")));
  family.visit_settings(assignment, options);
  assignment.finish();
  return options;
}

template <typename T>
std::string description(const posterior::WeightPosterior<T>& posterior) {
  Json blocks = Json::array();
  for (const posterior::ParameterBlock& block : posterior.parameter_blocks()) {
    blocks.push_back({{"name", block.name},
                      {"size", block.size},
                      {"weight_shaped", block.weight_shaped()},
                      {"trainable", block.trainable},
                      {"is_scale", block.is_scale}});
  }
  const Json json = {{"family", posterior.options().family().name()},
                     {"description", posterior.describe()},
                     {"streams", posterior::kStreamsPerPosterior},
                     {"blocks", std::move(blocks)}};
  return json.dump();
}

}  // namespace

// The functions of the interface.
extern "C" {

radir_status radir_weight_create(const char* family, const char* options,
                                 radir_type type,
                                 const radir_weight_shape* shape,
                                 radir_weight* weight) {
  return guarded([&] {
    check_pointer(shape, "shape");
    check_pointer(weight, "weight");
    const network::WeightShape sizes = sizes_of(*shape);
    *weight = weights().add(std::make_shared<WeightObject>(
        type, sizes, options_of(required_text(family, "family"), options)));
  });
}

radir_status radir_weight_create_bias(radir_weight weight, double prior_scale,
                                      radir_weight* bias) {
  return guarded([&] {
    check_pointer(bias, "bias");
    const auto object = weights().get(weight);
    object->use([&](auto& typed) {
      const auto& posterior = typed.posterior();
      const posterior::Options& options = posterior.options();
      *bias = weights().add(std::make_shared<WeightObject>(
          object->type(),
          network::WeightShape{1, posterior.shape().rows(), 1, 1},
          options.family().bias_options(options, prior_scale)));
    });
  });
}

radir_status radir_weight_free(radir_weight weight) {
  return guarded([&] { weights().remove(weight); });
}

radir_status radir_weight_describe(radir_weight weight, char* text,
                                   int64_t capacity, int64_t* length) {
  return guarded([&] {
    weights().get(weight)->use([&](auto& typed) {
      copy_text(description(typed.posterior()), text, capacity, length);
    });
  });
}

radir_status radir_weight_initialize(radir_weight weight,
                                     const radir_random_stream* stream,
                                     void* const* parameters) {
  return guarded([&] {
    weights().get(weight)->use(
        [&](auto& typed) { typed.initialize(stream_of(stream), parameters); });
  });
}

radir_status radir_weight_draw(radir_weight weight,
                               const void* const* parameters,
                               const radir_random_stream* stream, void* values,
                               int64_t* draw) {
  return guarded([&] {
    const std::int64_t number = weights().get(weight)->use([&](auto& typed) {
      return typed.draw(parameters, stream_of(stream), values);
    });
    if (draw != nullptr) *draw = number;
  });
}

radir_status radir_weight_backward(radir_weight weight,
                                   const void* const* parameters,
                                   const radir_random_stream* stream,
                                   int64_t draw, const void* values,
                                   const void* value_gradient,
                                   void* const* gradients) {
  return guarded([&] {
    weights().get(weight)->use([&](auto& typed) {
      typed.backward(parameters, stream_of(stream), draw, values,
                     value_gradient, gradients);
    });
  });
}

radir_status radir_weight_kl(radir_weight weight, const void* const* parameters,
                             double* kl) {
  return guarded([&] {
    check_pointer(kl, "kl");
    *kl = weights().get(weight)->use(
        [&](auto& typed) { return typed.kl(parameters); });
  });
}

radir_status radir_weight_kl_backward(radir_weight weight,
                                      const void* const* parameters,
                                      double scale, void* const* gradients) {
  return guarded([&] {
    weights().get(weight)->use(
        [&](auto& typed) { typed.kl_backward(parameters, scale, gradients); });
  });
}

radir_status radir_weight_moments(radir_weight weight,
                                  const void* const* parameters, void* mean,
                                  void* variance) {
  return guarded([&] {
    weights().get(weight)->use(
        [&](auto& typed) { typed.moments(parameters, mean, variance); });
  });
}

radir_status radir_weight_point(radir_weight weight,
                                const void* const* parameters,
                                radir_point point, void* values) {
  return guarded([&] {
    weights().get(weight)->use(
        [&](auto& typed) { typed.point(parameters, point_of(point), values); });
  });
}

}  // extern "C"
}  // namespace radir::c_api

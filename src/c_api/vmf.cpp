#include "radir/math/vmf.h"

#include <vector>

#include "c_api/guard.h"
#include "radir/core/error.h"
#include "radir/kernels/math_array.h"
#include "radir/kernels/philox.h"
#include "radir/kernels/vmf.h"

namespace radir::c_api {
namespace {

/// A function of one number on an array, which it names in its errors.
template <typename Function>
radir_status on_array(const double* input, std::int64_t count, double* result,
                      const Function& function) {
  return guarded([&] {
    RADIR_CHECK(count >= 0, ArgumentError, "an array of ", count, " numbers");
    if (count == 0) return;
    check_pointer(input, "input");
    check_pointer(result, "result");
    function();
  });
}

/// Throws DomainError unless the vector has length 1.
void check_direction(const double* direction, std::int64_t dimension) {
  double squares = 0;
  for (std::int64_t i = 0; i < dimension; ++i) {
    squares += direction[i] * direction[i];
  }
  constexpr double kTolerance = 1e-6;
  RADIR_CHECK(std::abs(squares - 1) < kTolerance, DomainError,
              "the mean direction must have length 1, but the square of its ",
              "length is ", squares);
}

}  // namespace

// The functions of the interface.
extern "C" {

radir_status radir_bessel_ratio(double nu, const double* z, int64_t count,
                                double* ratio) {
  return on_array(z, count, ratio, [&] {
    kernels::dispatched_bessel_ratio(nu, z, count, ratio);
  });
}

radir_status radir_log_bessel_i(double nu, const double* z, int64_t count,
                                double* result) {
  return on_array(z, count, result, [&] {
    kernels::dispatched_log_bessel_i(nu, z, count, result);
  });
}

radir_status radir_vmf_log_normalizer(double m, const double* kappa,
                                      int64_t count, double* result) {
  return on_array(kappa, count, result, [&] {
    kernels::dispatched_vmf_log_normalizer(m, kappa, count, result);
  });
}

radir_status radir_vmf_mean_cosine(double m, const double* kappa, int64_t count,
                                   double* result) {
  return on_array(kappa, count, result, [&] {
    kernels::dispatched_vmf_mean_cosine(m, kappa, count, result);
  });
}

radir_status radir_vmf_cosine_variance(double m, const double* kappa,
                                       int64_t count, double* result) {
  return on_array(kappa, count, result, [&] {
    kernels::dispatched_vmf_cosine_variance(m, kappa, count, result);
  });
}

radir_status radir_vmf_entropy(double m, const double* kappa, int64_t count,
                               double* result) {
  return on_array(kappa, count, result, [&] {
    for (std::int64_t i = 0; i < count; ++i) {
      result[i] = math::vmf_entropy(m, kappa[i]);
    }
  });
}

radir_status radir_vmf_kl(double m, const double* kappa,
                          const double* other_kappa, const double* cosine,
                          int64_t count, double* result) {
  return on_array(kappa, count, result, [&] {
    check_pointer(other_kappa, "other_kappa");
    check_pointer(cosine, "cosine");
    kernels::dispatched_vmf_kl(m, kappa, other_kappa, cosine, count, result);
  });
}

radir_status radir_vmf_sample(const radir_random_stream* stream,
                              int64_t dimension, const double* mean_direction,
                              double kappa, int64_t rows, double* vectors) {
  return on_array(mean_direction, rows, vectors, [&] {
    check_pointer(stream, "stream");
    RADIR_CHECK(dimension >= 2, ArgumentError,
                "a direction needs at least two dimensions, but has ",
                dimension);
    check_direction(mean_direction, dimension);
    const kernels::VmfLaws<double> laws = {dimension, 1, mean_direction, 1,
                                           &kappa};
    std::vector<double> one_minus_cosine(static_cast<std::size_t>(rows));
    kernels::sample_vmf({stream->seed, stream->stream, stream->step}, 0, rows,
                        laws, {vectors, one_minus_cosine.data(), nullptr});
  });
}

}  // extern "C"
}  // namespace radir::c_api

#pragma once

#include <cstdint>

#include "radir/kernels/philox.h"
#include "radir/math/vmf_sampling.h"

// Unit vectors from von Mises-Fisher distributions, on raw buffers, and the
// gradient through them. T is float or double; numbers of which there is one
// per row are computed in double.

namespace radir::kernels {

/// The distributions that rows of samples cycle through: row i follows the
/// distribution of mean direction i % directions, and so with the
/// concentrations.
template <typename T>
struct VmfLaws {
  std::int64_t dimension = 0;        ///< m >= 2
  std::int64_t directions = 0;       ///< how many mean directions, > 0
  const T* loc = nullptr;            ///< [directions][dimension], unit vectors
  std::int64_t concentrations = 0;   ///< 1 for all, or one per direction
  const T* concentration = nullptr;  ///< [concentrations], >= 0; 0 is uniform
};

/// What sample_vmf writes, one row per sample.
template <typename T>
struct VmfSamples {
  T* vectors = nullptr;                ///< [rows][dimension], unit vectors
  double* one_minus_cosine = nullptr;  ///< [rows], 1 - loc.x to full precision
  std::int32_t* proposals = nullptr;   ///< [rows] or null: draws until accepted
};

/// Writes samples offset ... offset + rows - 1 of the distributions. Sample i
/// depends on (seed, stream, step, i) alone, so work may be cut at any place
/// and among any number of threads.
///
/// x = w loc + sqrt(1 - w^2) xi: xi is the normalised part of a normal vector g
/// orthogonal to loc, and the first proposal for the cosine w comes from the
/// part along loc (the two are independent). The cosine follows the rejection
/// sampler of A. Wood, "Simulation of the von Mises Fisher distribution",
/// Commun. Stat. Simul. 23 (1994), with proposals that are Moebius images of a
/// uniform cosine; in dimension 3 the inverse distribution function.
///
/// Throws ArgumentError when an array is missing, an extent is out of range, or
/// (offset + rows) * dimension exceeds 2^32; DomainError when a concentration
/// is negative or not finite.
template <typename T>
void sample_vmf(const RandomStream& stream, std::int64_t offset,
                std::int64_t rows, const VmfLaws<T>& laws,
                const VmfSamples<T>& out);

/// Where sample_vmf_backward adds gradients, in double.
struct VmfGradients {
  double* loc = nullptr;            ///< [directions][dimension]
  double* concentration = nullptr;  ///< [concentrations]
};

/// Adds the gradient that flows through samples [0, rows) of the distributions,
/// given the vectors and 1 - w that sample_vmf wrote and the gradient xbar with
/// respect to the vectors:
///   to loc:            w xbar - (loc.xbar) x   (the rotation that carries loc)
///   to concentration:  u(w) (loc - w x).xbar   (u as `estimator` says)
/// Implicit takes its closed form u1 from dimension 30 on; the other estimators
/// are biased by what their correction c(w), not added here, would make up for.
///
/// Throws ArgumentError when an array is missing or an extent is out of range.
template <typename T>
void sample_vmf_backward(std::int64_t rows, const VmfLaws<T>& laws,
                         const T* vectors, const double* one_minus_cosine,
                         const T* vector_gradient, math::VmfEstimator estimator,
                         const VmfGradients& gradients);

}  // namespace radir::kernels

#pragma once

#include "radir/posterior/family_posterior.h"
#include "radir/posterior/weight_posterior.h"
#include "radir/train/model.h"

// Private to prune.

namespace radir::prune {

/// The arrays of one posterior in a flat buffer; P is `const T` or `T`.
template <typename P>
posterior::Arrays<P> arrays(const train::Model& model, std::size_t first,
                            std::size_t count, P* flat) {
  posterior::Arrays<P> result;
  for (std::size_t i = 0; i < count; ++i) {
    result.push_back(flat + model.parameters()[first + i].offset);
  }
  return result;
}

}  // namespace radir::prune

#pragma once

#include <cmath>
#include <cstdint>

#include "radir/core/error.h"
#include "radir/train/model.h"
#include "radir/train/trainer.h"

namespace radir::train {

/// Throws ArgumentError for data that does not fit the model, DomainError for
/// numbers or labels that it cannot be trained on.
template <typename T>
void check_data(const Model& model, const DataView<T>& data) {
  RADIR_CHECK(data.count > 0, ArgumentError,
              "training: the data set has no examples");
  RADIR_CHECK(data.inputs != nullptr, ArgumentError,
              "training: the data set has no inputs");
  const auto check_finite = [&](const T* values, std::int64_t width,
                                const char* what) {
    for (std::int64_t i = 0; i < data.count * width; ++i) {
      RADIR_CHECK(std::isfinite(values[i]), DomainError, "training: ", what,
                  " ", i % width, " of example ", i / width, " is ", values[i],
                  "; remove or fill such examples first");
    }
  };
  check_finite(data.inputs, model.input_size(), "input");
  if (model.likelihood().has_labels()) {
    RADIR_CHECK(data.labels != nullptr, ArgumentError,
                "training: a classifier needs labels");
    for (std::int64_t i = 0; i < data.count; ++i) {
      RADIR_CHECK(data.labels[i] >= 0 && data.labels[i] < model.output_size(),
                  DomainError, "training: the label of example ", i, " is ",
                  data.labels[i], ", but there are ", model.output_size(),
                  " classes, from 0");
    }
    return;
  }
  RADIR_CHECK(data.targets != nullptr, ArgumentError,
              "training: a regression needs targets");
  check_finite(data.targets, model.target_size(), "target");
}

}  // namespace radir::train

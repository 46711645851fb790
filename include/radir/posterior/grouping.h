#pragma once

#include "radir/core/settings.h"

namespace radir::posterior {

/// Which weights of a tensor belong together.
enum class Grouping {
  Row,     ///< the weights of each output unit
  Column,  ///< the weights of each input unit
  Double,  ///< both: each weight belongs to a row and to a column
};

/// Their names in files and on the command line.
const Choices<Grouping>& grouping_choices();
const char* to_string(Grouping grouping);

}  // namespace radir::posterior

#pragma once

#include "radir/report/page.h"

namespace radir::reproduce {

/// The figures of the article that need no training, drawn from the functions
/// of radir/math: the von Mises-Fisher density on the circle, half-Cauchy
/// densities, the gap between the bounds of the Bessel ratio, and the ratio and
/// log I by each method with their errors. Every number in the text is
/// computed. Takes about a second.
report::Page figures();

}  // namespace radir::reproduce

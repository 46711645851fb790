#pragma once

/// The mathematics of radial and directional posteriors: header-only, float and
/// double, host and device, and nothing of it needs libtorch.

#include "radir/math/array.h"
#include "radir/math/article.h"
#include "radir/math/bessel.h"
#include "radir/math/double_grouping.h"
#include "radir/math/gamma.h"
#include "radir/math/gamma_sampling.h"
#include "radir/math/half_cauchy.h"
#include "radir/math/matrix_normal.h"
#include "radir/math/moment_matching.h"
#include "radir/math/phi.h"
#include "radir/math/predictive.h"
#include "radir/math/radial_kl.h"
#include "radir/math/radius.h"
#include "radir/math/vmf.h"
#include "radir/math/vmf_sampling.h"

#pragma once

/// Everything of radir::distributions.

#include "radir/torch/distributions/gamma.h"
#include "radir/torch/distributions/half_cauchy.h"
#include "radir/torch/distributions/inverse_gamma.h"
#include "radir/torch/distributions/kl_divergence.h"
#include "radir/torch/distributions/log_normal.h"
#include "radir/torch/distributions/normal.h"
#include "radir/torch/distributions/von_mises_fisher.h"
#include "radir/torch/distributions/weibull.h"

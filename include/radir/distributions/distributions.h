#pragma once

/// Everything of radir::distributions.

#include "radir/distributions/gamma.h"
#include "radir/distributions/half_cauchy.h"
#include "radir/distributions/inverse_gamma.h"
#include "radir/distributions/kl_divergence.h"
#include "radir/distributions/log_normal.h"
#include "radir/distributions/normal.h"
#include "radir/distributions/von_mises_fisher.h"
#include "radir/distributions/weibull.h"

#pragma once

#include "radir/report/page.h"

namespace radir::reproduce {

/// I_nu(z)/I_{nu-1}(z) by each method: values, where they exist, and errors.
report::Section bessel_ratio_section();

/// The same for log I_nu(z).
report::Section log_bessel_section();

}  // namespace radir::reproduce

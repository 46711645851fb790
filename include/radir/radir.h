#pragma once

// Everything, libtorch included. Programs that need less include less:
// radir/math.h alone needs no other library.

#include "radir/core/cpu.h"
#include "radir/core/device.h"
#include "radir/core/error.h"
#include "radir/core/thread_pool.h"
#include "radir/core/version.h"
#include "radir/data/table.h"
#include "radir/kernels/random.h"
#include "radir/math.h"
#include "radir/posterior/family.h"
#include "radir/posterior/gaussian.h"
#include "radir/posterior/group_lasso.h"
#include "radir/posterior/point.h"
#include "radir/posterior/radial_directional.h"
#include "radir/posterior/weight_posterior.h"
#include "radir/report/chart.h"
#include "radir/report/page.h"
#include "radir/report/table.h"
#include "radir/torch/distributions/distributions.h"
#include "radir/torch/nn/nn.h"
#include "radir/train/evaluation.h"
#include "radir/train/method.h"
#include "radir/train/predictor.h"
#include "radir/train/trainer.h"

#pragma once

// All of the layer; composed.h, an oracle, apart.

#include "radir/torch/nn/adam.h"
#include "radir/torch/nn/bayes_conv2d.h"
#include "radir/torch/nn/bayes_layer.h"
#include "radir/torch/nn/bayes_linear.h"
#include "radir/torch/nn/elbo.h"
#include "radir/torch/nn/likelihood.h"
#include "radir/torch/nn/network_modules.h"
#include "radir/torch/nn/options.h"
#include "radir/torch/nn/variational.h"

#pragma once

// All of the layer; composed.h, an oracle, apart.

#include "radir/nn/adam.h"
#include "radir/nn/bayes_conv2d.h"
#include "radir/nn/bayes_layer.h"
#include "radir/nn/bayes_linear.h"
#include "radir/nn/elbo.h"
#include "radir/nn/likelihood.h"
#include "radir/nn/options.h"
#include "radir/nn/variational.h"

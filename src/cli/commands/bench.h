#pragma once

#include "cli/command.h"

namespace radir::cli {

void add_bench_step(CLI::App& bench, Invocation& invocation);
void add_bench_scale(CLI::App& bench, Invocation& invocation);
void add_bench_predict(CLI::App& bench, Invocation& invocation);
void add_bench_calibration(CLI::App& bench, Invocation& invocation);
void add_bench_sbc(CLI::App& bench, Invocation& invocation);

}  // namespace radir::cli

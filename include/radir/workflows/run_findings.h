#pragma once

#include <optional>
#include <string>
#include <vector>

#include "radir/io/run_folder.h"
#include "radir/workflows/column_curves.h"
#include "radir/workflows/holdout.h"

// What `radir train` found out about its model, in files of the run folder
// beside it: holdout.json and effects.json. A run of version 0.1 has neither.

namespace radir::workflows {

/// The checkpoints of the held-out fits belong to parts whose names begin so.
constexpr const char* kHoldoutPart = "holdout";

/// The columns whose effect is drawn: those that matter or, where that was not
/// measured, the strongest. The first comes first.
std::vector<std::size_t> drawn_columns(const TableModel& model,
                                       const std::optional<HeldOut>& held_out);

void write_held_out(const io::RunFolder& folder, const HeldOut& held_out);
void write_curves(const io::RunFolder& folder,
                  const std::vector<ColumnCurve>& curves);

/// None where there is no such file. Throws IoError when it is damaged.
std::optional<HeldOut> read_held_out(const io::RunFolder& folder);
/// Empty where there is no such file. Throws IoError when it is damaged.
std::vector<ColumnCurve> read_curves(const io::RunFolder& folder);

/// report.html in the folder. Throws IoError where that is a symbolic link.
std::string report_file(const io::RunFolder& folder);

}  // namespace radir::workflows

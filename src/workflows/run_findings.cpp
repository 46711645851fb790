#include "radir/workflows/run_findings.h"

#include <algorithm>
#include <filesystem>

#include "radir/core/error.h"
#include "radir/files/atomic_file.h"
#include "radir/files/byte_source.h"
#include "radir/workflows/importance.h"

namespace radir::workflows {
namespace {

constexpr const char* kHeldOutFile = "holdout.json";
constexpr const char* kCurvesFile = "effects.json";
/// Far more than the rows and columns that are kept need.
constexpr std::size_t kMostBytes = std::size_t{1} << 26;

std::optional<std::string> text_of(const std::string& file) {
  std::error_code error;
  if (!std::filesystem::exists(file, error)) return std::nullopt;
  return files::read_all(*files::open_byte_source(file), kMostBytes);
}

}  // namespace

std::vector<std::size_t> drawn_columns(const TableModel& model,
                                       const std::optional<HeldOut>& held_out) {
  constexpr std::size_t kMostDrawn = 6;
  std::vector<std::size_t> columns = strength_order(column_strengths(model));
  if (held_out && !held_out->columns.empty()) {
    std::vector<std::size_t> matter;
    for (const std::string& name : columns_that_matter(*held_out)) {
      for (std::size_t c = 0; c < held_out->columns.size(); ++c) {
        if (held_out->columns[c].column == name) matter.push_back(c);
      }
    }
    // One panel at least.
    if (matter.empty()) matter.push_back(columns.front());
    columns = std::move(matter);
  }
  columns.resize(std::min(columns.size(), kMostDrawn));
  return columns;
}

void write_held_out(const io::RunFolder& folder, const HeldOut& held_out) {
  files::write_file(folder.file(kHeldOutFile),
                    to_json(held_out).dump(1) + "\n");
}

void write_curves(const io::RunFolder& folder,
                  const std::vector<ColumnCurve>& curves) {
  files::write_file(folder.file(kCurvesFile), to_json(curves).dump(1) + "\n");
}

std::optional<HeldOut> read_held_out(const io::RunFolder& folder) {
  const std::string file = folder.file(kHeldOutFile);
  const auto text = text_of(file);
  if (!text) return std::nullopt;
  return held_out_from_json(file, *text);
}

std::vector<ColumnCurve> read_curves(const io::RunFolder& folder) {
  const std::string file = folder.file(kCurvesFile);
  const auto text = text_of(file);
  if (!text) return {};
  return column_curves_from_json(file, *text);
}

std::string report_file(const io::RunFolder& folder) {
  std::string file = folder.file("report.html");
  RADIR_CHECK(!std::filesystem::is_symlink(file), IoError, file,
              ": is a symbolic link, and links inside a run are ",
              "not followed; remove it or use --out");
  return file;
}

}  // namespace radir::workflows

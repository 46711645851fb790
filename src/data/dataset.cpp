#include "radir/data/dataset.h"

#include <algorithm>
#include <filesystem>

#include "data/uci_recipe.h"
#include "radir/core/error.h"
#include "radir/data/download.h"
#include "radir/files/atomic_file.h"
#include "radir/files/byte_source.h"
#include "radir/files/sha256.h"

namespace radir::data {
namespace {

namespace fs = std::filesystem;

bool is_file(const fs::path& path) {
  std::error_code error;
  return fs::is_regular_file(path, error);
}

/// Throws IoError unless the contents of the file at `path`, unpacked if it is
/// gzip, are those of `file`. Reads no more than those have, and one block.
void check_contents(const std::string& path, const DataFile& file) {
  const auto source = files::open_byte_source(path);
  files::Sha256 sum;
  std::int64_t bytes = 0;
  std::vector<char> block(64 * 1024);
  while (const std::size_t count = source->read(block.data(), block.size())) {
    bytes += static_cast<std::int64_t>(count);
    RADIR_CHECK(bytes <= file.bytes, IoError, "it has more than the ",
                file.bytes, " bytes of ", file.path);
    sum.add({block.data(), count});
  }
  RADIR_CHECK(bytes == file.bytes, IoError, "it has ", bytes,
              " bytes instead of the ", file.bytes, " of ", file.path);
  const std::string found = sum.hex();
  RADIR_CHECK(found == file.sha256, IoError, "its SHA-256 is ", found,
              " instead of ", file.sha256,
              "; it is not the file that was published");
}

/// Where a file is in the data folder: unpacked, which readers take first, or
/// as published; "" when it is in neither place.
std::string find_file(const fs::path& dir, const DataFile& file) {
  const fs::path published = dir / file.path;
  if (published.extension() == ".gz") {
    const fs::path unpacked = fs::path(published).replace_extension();
    if (is_file(unpacked)) return unpacked.string();
  }
  return is_file(published) ? published.string() : "";
}

DataSetCheck check_file(const fs::path& dir, const DataFile& file) {
  const std::string path = find_file(dir, file);
  if (path.empty()) {
    return {DataSetState::Incomplete,
            (dir / file.path).string() + " is missing"};
  }
  try {
    check_contents(path, file);
    return {DataSetState::Complete, ""};
  } catch (const IoError& error) {
    return {DataSetState::Damaged, path + ": " + error.what()};
  }
}

DataSetCheck check_text(const fs::path& path, const std::string& text) {
  if (!is_file(path)) {
    return {DataSetState::Incomplete, path.string() + " is missing"};
  }
  try {
    if (files::read_all(*files::open_byte_source(path.string()), text.size()) ==
        text) {
      return {DataSetState::Complete, ""};
    }
    return {DataSetState::Damaged,
            path.string() + ": is not the file that was published"};
  } catch (const IoError& error) {
    return {DataSetState::Damaged, path.string() + ": " + error.what()};
  }
}

/// What is wrong with the first file that is not right.
DataSetCheck check_files(const fs::path& dir, const DataSet& set) {
  for (const DataFile& file : set.files) {
    const DataSetCheck check = check_file(dir, file);
    if (check.state != DataSetState::Complete) return check;
  }
  if (set.recipe) {
    for (const NamedText& file : make_uci_files(*set.recipe)) {
      const DataSetCheck check =
          check_text(dir / set.folder / file.name, file.text);
      if (check.state != DataSetState::Complete) return check;
    }
  }
  return {DataSetState::Complete, ""};
}

void make_folder(const fs::path& path) {
  std::error_code error;
  fs::create_directories(path, error);
  RADIR_CHECK(!error, IoError, "cannot create the folder ", path.string(), ": ",
              error.message(), "; choose another --data-dir");
}

std::vector<std::string> addresses(const DataFile& file,
                                   const std::string& from) {
  if (from.empty()) return file.urls;
  return {from + (from.back() == '/' ? "" : "/") + file.path};
}

/// A gzip file is larger than its contents by some bytes at most.
std::int64_t most_bytes(const DataFile& file) {
  return file.bytes + file.bytes / 1000 + 1024;
}

void fetch_file(const fs::path& dir, const DataFile& file,
                const FetchOptions& options, std::int64_t before,
                std::int64_t total) {
  Download request;
  request.path = (dir / file.path).string();
  request.urls = addresses(file, options.from);
  request.most_bytes = most_bytes(file);
  request.verify = [&](const std::string& path) { check_contents(path, file); };
  if (options.progress) {
    request.progress = [&](std::int64_t done, std::int64_t all) {
      // A packed file has fewer bytes than it counts for.
      const double share =
          all > 0 ? static_cast<double>(done) / static_cast<double>(all) : 0;
      const double counted = share * static_cast<double>(file.bytes);
      return options.progress(before + static_cast<std::int64_t>(counted),
                              total, file.path);
    };
  }
  download(request);
}

}  // namespace

std::int64_t DataSet::bytes() const {
  std::int64_t sum = 0;
  for (const DataFile& file : files) sum += file.bytes;
  return sum;
}

const char* to_string(DataSetState state) {
  switch (state) {
    case DataSetState::Absent:
      return "absent";
    case DataSetState::Incomplete:
      return "incomplete";
    case DataSetState::Damaged:
      return "damaged";
    case DataSetState::Complete:
      break;
  }
  return "complete";
}

DataSetCheck check_data_set(const std::string& dir, const DataSet& set) {
  const bool is_absent = std::all_of(
      set.files.begin(), set.files.end(),
      [&](const DataFile& file) { return find_file(dir, file).empty(); });
  return is_absent ? DataSetCheck{} : check_files(dir, set);
}

void fetch_data_set(const std::string& dir, const DataSet& set,
                    const FetchOptions& options) {
  const fs::path folder = fs::path(dir) / set.folder;
  make_folder(folder);
  std::int64_t before = 0;
  for (const DataFile& file : set.files) {
    if (check_file(dir, file).state != DataSetState::Complete) {
      fetch_file(dir, file, options, before, set.bytes());
    }
    before += file.bytes;
  }
  if (set.recipe) {
    for (const NamedText& file : make_uci_files(*set.recipe)) {
      const fs::path path = folder / file.name;
      if (check_text(path, file.text).state != DataSetState::Complete) {
        files::write_file(path.string(), file.text);
      }
    }
  }
  const DataSetCheck check = check_files(dir, set);
  RADIR_CHECK(check.state == DataSetState::Complete, IoError, check.problem,
              "; remove that file and fetch the set again");
}

}  // namespace radir::data

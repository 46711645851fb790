#include "radir/data/idx.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <filesystem>

#include "radir/core/error.h"
#include "radir/files/atomic_file.h"
#include "radir/files/posix_file.h"
#include "radir/files/system_error.h"

namespace radir::data {
namespace {

namespace fs = std::filesystem;

// The mark of an IDX file is 0, 0, the type of its values, its dimensions.
constexpr std::uint32_t kUnsignedByte = 8;
constexpr std::uint64_t kMostImageBytes = std::uint64_t{1} << 32;
constexpr std::size_t kChunkBytes = std::size_t{1} << 20;

// Reads exactly `size` bytes unless the source ends before.
std::size_t read_fully(files::ByteSource& source, char* out, std::size_t size) {
  std::size_t done = 0;
  while (done < size) {
    const std::size_t count = source.read(out + done, size - done);
    if (count == 0) break;
    done += count;
  }
  return done;
}

std::uint32_t read_big_endian(files::ByteSource& source, const char* what) {
  std::array<char, 4> bytes;
  const std::size_t count = read_fully(source, bytes.data(), bytes.size());
  RADIR_CHECK(count == bytes.size(), IoError, source.name(),
              ": the file ends inside its header, where ", what,
              " should be; copy or download it again");
  std::uint32_t value = 0;
  for (const char byte : bytes) {
    value = value << 8 | static_cast<unsigned char>(byte);
  }
  return value;
}

// The sizes of the dimensions after the mark, which is checked.
template <std::size_t dimensions>
std::array<std::uint32_t, dimensions> read_header(files::ByteSource& source,
                                                  const char* content) {
  constexpr std::uint32_t expected = kUnsignedByte << 8 | dimensions;
  const std::uint32_t mark = read_big_endian(source, "the mark");
  RADIR_CHECK(mark == expected, IoError, source.name(), ": not an IDX file of ",
              content, ": it starts with the mark ", mark, " where ", expected,
              " is needed; are images and labels exchanged?");
  std::array<std::uint32_t, dimensions> sizes;
  std::uint64_t bytes = 1;
  for (std::size_t i = 0; i < dimensions; ++i) {
    sizes[i] = read_big_endian(source, "a size");
    RADIR_CHECK(sizes[i] > 0, IoError, source.name(), ": size ", i + 1,
                " in the header is 0; at least 1 is needed");
    // Both factors are below 2^32 + 1: the product does not overflow.
    bytes *= sizes[i];
    RADIR_CHECK(bytes <= kMostImageBytes, IoError, source.name(),
                ": the header promises more than the limit of ",
                kMostImageBytes, " bytes; the file is damaged or too large");
  }
  return sizes;
}

// The `size` bytes that follow the header, and nothing after them. Reads in
// chunks, so that a false size costs no memory.
std::vector<std::uint8_t> read_values(files::ByteSource& source,
                                      std::uint64_t size) {
  std::vector<std::uint8_t> values;
  while (values.size() < size) {
    const std::size_t done = values.size();
    const auto wanted = static_cast<std::size_t>(
        std::min<std::uint64_t>(kChunkBytes, size - done));
    values.resize(done + wanted);
    const std::size_t count = read_fully(
        source, reinterpret_cast<char*>(values.data() + done), wanted);
    RADIR_CHECK(count == wanted, IoError, source.name(),
                ": the file is truncated: its header promises ", size,
                " values, but there are ", done + count,
                "; copy or download it again");
  }
  char extra = 0;
  RADIR_CHECK(source.read(&extra, 1) == 0, IoError, source.name(),
              ": bytes follow the ", size,
              " values that the header promises; the file is damaged");
  return values;
}

void check_classes(int classes) {
  RADIR_CHECK(
      classes >= 1 && classes <= 256, ArgumentError,
      "IDX labels: the number of classes must be from 1 to 256, but is ",
      classes);
}

/// A file of a folder: "train" or "t10k", "images" or "labels".
struct Role {
  std::string part;
  std::string kind;

  /// As MNIST has it.
  std::string usual_name() const {
    return part + "-" + kind + (kind == "images" ? "-idx3" : "-idx1") +
           "-ubyte";
  }

  /// Whether a file of another name seems to be it.
  bool fits(const std::string& name) const {
    std::string lower = name;
    for (char& c : lower) {
      c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
    }
    const auto has = [&](const std::string& word) {
      return lower.find(word) != std::string::npos;
    };
    return (has(part) || (part == "t10k" && has("test"))) &&
           has(kind.substr(0, kind.size() - 1));
  }
};

/// None where the folder has no file of MNIST's name.
std::optional<std::string> find_usual(const fs::path& folder,
                                      const std::string& name) {
  std::string dotted = name;
  dotted.replace(dotted.find("-idx"), 1, ".");
  std::error_code error;
  for (const std::string& spelling :
       {name, name + ".gz", dotted, dotted + ".gz"}) {
    const fs::path path = folder / spelling;
    if (fs::is_regular_file(path, error)) return path.string();
  }
  return std::nullopt;
}

std::string find_file(const fs::path& folder, const Role& role) {
  if (const auto usual = find_usual(folder, role.usual_name())) return *usual;
  std::vector<std::string> found;
  for (const std::string& name : files::names_in_folder(folder.string())
                                     .value_or(std::vector<std::string>())) {
    std::error_code error;
    const fs::path path = folder / name;
    if (fs::is_regular_file(path, error) && role.fits(name)) {
      found.push_back(path.string());
    }
  }
  std::sort(found.begin(), found.end());
  RADIR_CHECK(!found.empty(), IoError, folder.string(), " holds no file ",
              role.usual_name(), " (nor ", role.usual_name(),
              ".gz, nor another whose name has \"",
              role.part == "train" ? "train" : "test", "\" and \"", role.kind,
              "\"); two files of images and two of labels are needed");
  RADIR_CHECK(found.size() == 1, IoError, folder.string(), ": both ", found[0],
              " and ", found[1], " may be the ", role.kind, " of ",
              role.part == "train" ? "the training" : "the test",
              "; name one of them ", role.usual_name());
  return found.front();
}

ImageSet read_part(const fs::path& folder, const std::string& part,
                   int classes) {
  const std::string images = find_file(folder, {part, "images"});
  const std::string labels = find_file(folder, {part, "labels"});
  ImageSet set = read_idx_images(images);
  set.labels = read_idx_labels(labels, classes);
  RADIR_CHECK(set.labels.size() == static_cast<std::size_t>(set.count), IoError,
              labels, " holds ", set.labels.size(), " labels, but ", images,
              " holds ", set.count,
              " images; the files do not belong together");
  return set;
}

/// One more than the largest label.
int count_classes(const ImageDataset& dataset) {
  int classes = 1;
  for (const ImageSet* set : {&dataset.train, &dataset.test}) {
    for (const std::uint8_t label : set->labels) {
      classes = std::max(classes, label + 1);
    }
  }
  return classes;
}

void append_big_endian(std::string& bytes, std::uint64_t value) {
  for (int shift = 24; shift >= 0; shift -= 8) {
    bytes += static_cast<char>(value >> shift & 0xFF);
  }
}

std::string header(const std::vector<std::int64_t>& sizes) {
  std::string bytes;
  append_big_endian(bytes, kUnsignedByte << 8 | sizes.size());
  for (const std::int64_t size : sizes) {
    append_big_endian(bytes, static_cast<std::uint64_t>(size));
  }
  return bytes;
}

void write_values(const fs::path& path, const std::string& head,
                  const std::vector<std::uint8_t>& values) {
  files::AtomicFile file(path.string());
  file.write(head);
  file.write({reinterpret_cast<const char*>(values.data()), values.size()});
  file.commit();
}

void write_part(const fs::path& folder, const std::string& part,
                const ImageSet& set) {
  const auto pixels =
      static_cast<std::size_t>(set.count * set.rows * set.columns);
  RADIR_CHECK(set.pixels.size() == pixels &&
                  set.labels.size() == static_cast<std::size_t>(set.count),
              ArgumentError, "write_idx_folder: ", set.count, " images of ",
              set.rows, " x ", set.columns, " need ", pixels, " pixels and ",
              set.count, " labels, but there are ", set.pixels.size(), " and ",
              set.labels.size());
  write_values(folder / (part + "-images-idx3-ubyte"),
               header({set.count, set.rows, set.columns}), set.pixels);
  write_values(folder / (part + "-labels-idx1-ubyte"), header({set.count}),
               set.labels);
}

}  // namespace

ImageSet read_idx_images(files::ByteSource& source) {
  const auto [count, rows, columns] = read_header<3>(source, "images");
  ImageSet set;
  set.count = count;
  set.rows = rows;
  set.columns = columns;
  set.pixels = read_values(source, std::uint64_t{count} * rows * columns);
  return set;
}

ImageSet read_idx_images(const std::string& path) {
  return read_idx_images(*files::open_byte_source(path));
}

std::vector<std::uint8_t> read_idx_labels(files::ByteSource& source,
                                          int classes) {
  check_classes(classes);
  const auto [count] = read_header<1>(source, "labels");
  std::vector<std::uint8_t> labels = read_values(source, count);
  for (std::size_t i = 0; i < labels.size(); ++i) {
    RADIR_CHECK(labels[i] < classes, IoError, source.name(), ": label ", i + 1,
                " of ", labels.size(), " is ", static_cast<int>(labels[i]),
                ", but with ", classes, " classes it must be from 0 to ",
                classes - 1);
  }
  return labels;
}

std::vector<std::uint8_t> read_idx_labels(const std::string& path,
                                          int classes) {
  return read_idx_labels(*files::open_byte_source(path), classes);
}

ImageDataset read_idx_folder(const std::string& folder,
                             std::optional<int> classes) {
  constexpr int kMostClasses = 256;
  const int limit = classes.value_or(kMostClasses);
  check_classes(limit);
  ImageDataset dataset;
  dataset.train = read_part(folder, "train", limit);
  dataset.test = read_part(folder, "t10k", limit);
  dataset.classes = classes ? *classes : count_classes(dataset);
  RADIR_CHECK(dataset.train.rows == dataset.test.rows &&
                  dataset.train.columns == dataset.test.columns,
              IoError, folder, ": the training images are ", dataset.train.rows,
              " x ", dataset.train.columns, " pixels, the test images ",
              dataset.test.rows, " x ", dataset.test.columns,
              "; they must have one size");
  return dataset;
}

void write_idx_folder(const std::string& folder, const ImageDataset& dataset) {
  write_part(folder, "train", dataset.train);
  write_part(folder, "t10k", dataset.test);
}

}  // namespace radir::data

#include "radir/workflows/compress.h"

#include <algorithm>
#include <cmath>
#include <initializer_list>
#include <limits>
#include <nlohmann/json.hpp>
#include <string_view>
#include <utility>

#include "c_api/guard.h"
#include "c_api/handles.h"
#include "c_api/progress.h"
#include "c_api/settings.h"
#include "radir/core/error.h"
#include "radir/core/thread_pool.h"
#include "radir/data/fingerprint.h"
#include "radir/data/images.h"
#include "radir/io/network_file.h"
#include "radir/io/onnx.h"
#include "radir/kernels/network.h"
#include "radir/network/plain_network.h"
#include "radir/network/spec.h"
#include "radir/workflows/compress_result.h"
#include "radir/workflows/compress_settings.h"

namespace radir::c_api {
namespace {

/// A network that was made small, and how.
struct NetworkObject {
  workflows::CompressResult result;
};

Handles<radir_network, NetworkObject>& networks() {
  static Handles<radir_network, NetworkObject> handles("network");
  return handles;
}

/// The product of counts, none of them negative. Throws ArgumentError where it
/// is more than memory can hold.
std::int64_t number_count(std::initializer_list<std::int64_t> counts) {
  constexpr std::int64_t kMost =
      std::numeric_limits<std::int64_t>::max() / sizeof(double);
  std::int64_t product = 1;
  for (std::int64_t count : counts) {
    RADIR_CHECK(count == 0 || product <= kMost / count, ArgumentError,
                "the images have more numbers than any memory can hold; check ",
                "their number and shape");
    product *= count;
  }
  return product;
}

data::ImageRows image_rows(const char* name, const network::Shape& shape,
                           std::int64_t classes, std::int64_t count,
                           const float* pixels, const std::int64_t* labels) {
  RADIR_CHECK(count > 0, ArgumentError, "there are ", count, " ", name,
              " images");
  check_pointer(pixels, name);
  check_pointer(labels, name);
  const std::int64_t size =
      number_count({count, shape.channels, shape.height, shape.width});
  data::ImageRows rows;
  rows.count = count;
  rows.shape = shape;
  rows.pixels.assign(pixels, pixels + size);
  rows.labels.assign(labels, labels + count);
  const bool finite =
      std::all_of(rows.pixels.begin(), rows.pixels.end(),
                  [](float value) { return std::isfinite(value); });
  RADIR_CHECK(finite, ArgumentError, "a pixel of the ", name,
              " images is not finite");
  for (std::int64_t label : rows.labels) {
    RADIR_CHECK(label >= 0 && label < classes, ArgumentError, "a label of the ",
                name, " images is ", label, ", but there are ", classes,
                " classes");
  }
  return rows;
}

data::ImageSplit split_of(const radir_images& images) {
  RADIR_CHECK(images.channels > 0 && images.height > 0 && images.width > 0 &&
                  images.classes > 1 &&
                  images.classes <= std::numeric_limits<int>::max(),
              ArgumentError, "images of the shape ", images.channels, "x",
              images.height, "x", images.width, " in ", images.classes,
              " classes are not possible");
  const network::Shape shape = {images.channels, images.height, images.width};
  data::ImageSplit split;
  split.train =
      image_rows("training", shape, images.classes, images.train_count,
                 images.train_pixels, images.train_labels);
  split.test = image_rows("test", shape, images.classes, images.test_count,
                          images.test_pixels, images.test_labels);
  split.classes = static_cast<int>(images.classes);
  split.name = "images";
  data::Fingerprint fingerprint;
  fingerprint.add(split.train.pixels);
  fingerprint.add(split.train.labels);
  fingerprint.add(split.test.pixels);
  fingerprint.add(split.test.labels);
  split.fingerprint = fingerprint.text();
  return split;
}

bool ends_with(const std::string& text, std::string_view end) {
  return text.size() >= end.size() &&
         text.compare(text.size() - end.size(), end.size(), end) == 0;
}

network::NetworkSpec network_of(const std::string& text, std::int64_t classes) {
  if (text == "lenet5") return network::lenet5(classes);
  if (text == "lenet300") return network::lenet300(classes);
  if (text.find('{') != std::string::npos) {
    return io::read_network_text("network", text);
  }
  return ends_with(text, ".onnx") ? io::read_onnx(text).spec
                                  : io::read_network_file(text);
}

workflows::CompressResult compress(const radir_images& given,
                                   const std::string& network,
                                   ImageSettings settings,
                                   radir_progress_callback callback,
                                   void* user) {
  const data::ImageSplit images = split_of(given);
  settings.compress.network = network_of(network, given.classes);
  settings.compress.network_name = "network";
  workflows::check(settings.compress);
  data::check_fits(settings.compress.network, images);
  ThreadPool pool(static_cast<int>(settings.threads));
  Progress progress("compress", callback, user);
  return workflows::compress(
      images, settings.compress,
      [&](double share, const std::string&) {
        progress.tell(share_progress(share));
        progress.check();
      },
      &pool);
}

}  // namespace

// The functions of the interface.
extern "C" {

radir_status radir_compress_settings(char* text, int64_t capacity,
                                     int64_t* length) {
  return guarded(
      [&] { copy_text(image_settings_json(), text, capacity, length); });
}

radir_status radir_compress(const radir_images* images, const char* network,
                            const char* settings,
                            radir_progress_callback callback, void* user,
                            radir_network* result) {
  return guarded([&] {
    check_pointer(images, "images");
    check_pointer(result, "result");
    auto object = std::make_shared<NetworkObject>();
    object->result =
        compress(*images, required_text(network, "network"),
                 settings_of<ImageSettings>(settings), callback, user);
    *result = networks().add(std::move(object));
  });
}

radir_status radir_network_free(radir_network network) {
  return guarded([&] { networks().remove(network); });
}

radir_status radir_network_describe(radir_network network, char* text,
                                    int64_t capacity, int64_t* length) {
  return guarded([&] {
    copy_text(workflows::to_json(networks().get(network)->result), text,
              capacity, length);
  });
}

radir_status radir_network_run(radir_network network, const float* pixels,
                               int64_t count, float* outputs) {
  return guarded([&] {
    const auto object = networks().get(network);
    RADIR_CHECK(count >= 0, ArgumentError, count, " images");
    if (count == 0) return;
    check_pointer(pixels, "pixels");
    check_pointer(outputs, "outputs");
    const auto& plain = object->result.plain;
    number_count({count, plain.spec.input.size()});
    const auto values = kernels::run_network(plain, pixels, count);
    std::copy(values.begin(), values.end(), outputs);
  });
}

radir_status radir_network_export_onnx(radir_network network,
                                       const char* path) {
  return guarded([&] {
    io::OnnxOptions options;
    options.input_note = "pixels as the network was trained on, from 0 to 1";
    options.output_note = "one logit per class";
    io::write_onnx(required_text(path, "path"),
                   networks().get(network)->result.plain, options);
  });
}

}  // extern "C"
}  // namespace radir::c_api

#include "radir/network/spec.h"

#include <initializer_list>

#include "radir/core/error.h"

namespace radir::network {
namespace {

/// Most features or weights of one layer, so that no product of sizes, whatever
/// a file says, can overflow.
constexpr std::int64_t kMostNumbers = std::int64_t{1} << 30;

bool in_range(std::int64_t size, std::int64_t least = 1) {
  return size >= least && size <= kMostNumbers;
}
bool in_range(const Pair& pair, std::int64_t least = 1) {
  return in_range(pair.h, least) && in_range(pair.w, least);
}

/// Whether sizes from 1 on have a product within the limit.
bool fit_together(std::initializer_list<std::int64_t> sizes) {
  std::int64_t room = kMostNumbers;
  for (std::int64_t size : sizes) room /= size;
  return room > 0;
}

std::string to_string(const Pair& pair) {
  return std::to_string(pair.h) + "x" + std::to_string(pair.w);
}

std::int64_t window_count(std::int64_t size, std::int64_t window,
                          std::int64_t stride, std::int64_t padding) {
  const std::int64_t room = size + 2 * padding - window;
  return room < 0 ? 0 : room / stride + 1;
}

struct Name {
  std::string operator()(const Dense& layer) const {
    return "dense " + std::to_string(layer.outputs);
  }
  std::string operator()(const Conv2d& layer) const {
    return "conv " + std::to_string(layer.outputs) + " " +
           to_string(layer.kernel);
  }
  std::string operator()(const MaxPool2d& layer) const {
    return "max-pool " + to_string(layer.kernel);
  }
  std::string operator()(Relu) const { return "relu"; }
  std::string operator()(Flatten) const { return "flatten"; }
  std::string operator()(const Select& layer) const {
    return "select " + std::to_string(layer.indices.size());
  }
};

/// The shape after a layer; `where` names it in messages.
struct ShapeAfter {
  const Shape& in;
  const std::string& where;

  Shape operator()(const Dense& layer) const {
    RADIR_CHECK(layer.outputs > 0, ArgumentError, where,
                " needs at least one output, but has ", layer.outputs);
    RADIR_CHECK(in.height == 1 && in.width == 1, ArgumentError, where,
                " takes a vector, but gets ", network::to_string(in),
                "; put a flatten layer before it");
    check_weights({layer.outputs, in.channels});
    return {layer.outputs, 1, 1};
  }

  Shape operator()(const Conv2d& layer) const {
    RADIR_CHECK(in_range(layer.outputs) && in_range(layer.kernel) &&
                    in_range(layer.stride) && in_range(layer.dilation) &&
                    in_range(layer.padding, 0),
                ArgumentError, where, ": outputs, kernel, stride and dilation ",
                "must be positive, padding at least 0, and none above 2^30");
    RADIR_CHECK(layer.groups > 0 && in.channels % layer.groups == 0 &&
                    layer.outputs % layer.groups == 0,
                ArgumentError, where, ": ", layer.groups, " groups do not ",
                "divide both ", in.channels, " input and ", layer.outputs,
                " output channels");
    check_weights({layer.outputs, in.channels / layer.groups, layer.kernel.h,
                   layer.kernel.w});
    return fitting(
        {layer.outputs,
         window_count(in.height, layer.dilation.h * (layer.kernel.h - 1) + 1,
                      layer.stride.h, layer.padding.h),
         window_count(in.width, layer.dilation.w * (layer.kernel.w - 1) + 1,
                      layer.stride.w, layer.padding.w)});
  }

  Shape operator()(const MaxPool2d& layer) const {
    RADIR_CHECK(in_range(layer.kernel) && in_range(layer.stride) &&
                    in_range(layer.padding, 0) &&
                    2 * layer.padding.h <= layer.kernel.h &&
                    2 * layer.padding.w <= layer.kernel.w,
                ArgumentError, where, ": kernel and stride must be from 1 to ",
                "2^30 and padding between 0 and half the kernel");
    return fitting({in.channels,
                    window_count(in.height, layer.kernel.h, layer.stride.h,
                                 layer.padding.h),
                    window_count(in.width, layer.kernel.w, layer.stride.w,
                                 layer.padding.w)});
  }

  Shape operator()(Relu) const { return in; }
  Shape operator()(Flatten) const { return {in.size(), 1, 1}; }

  Shape operator()(const Select& layer) const {
    RADIR_CHECK(!layer.indices.empty(), ArgumentError, where,
                " needs at least one index, but has none");
    std::int64_t last = -1;
    for (std::int64_t index : layer.indices) {
      RADIR_CHECK(index > last && index < in.size(), ArgumentError, where,
                  ": indices must increase and lie below ", in.size(),
                  ", the size of its input ", network::to_string(in), ", but ",
                  index, " follows ", last);
      last = index;
    }
    return {static_cast<std::int64_t>(layer.indices.size()), 1, 1};
  }

  Shape fitting(const Shape& out) const {
    RADIR_CHECK(out.height > 0 && out.width > 0, ArgumentError, where,
                ": its window is larger than its input ",
                network::to_string(in));
    RADIR_CHECK(fit_together({out.channels, out.height, out.width}),
                ArgumentError, where, ": its output ", network::to_string(out),
                " has more than 2^30 numbers");
    return out;
  }

  void check_weights(std::initializer_list<std::int64_t> sizes) const {
    RADIR_CHECK(fit_together(sizes), ArgumentError, where, " would have more ",
                "than 2^30 weights for its input ", network::to_string(in));
  }
};

/// The weights of a layer that reads examples of the shape `in`.
struct WeightOf {
  const Shape& in;

  std::optional<LayerWeight> operator()(const Dense& layer) const {
    return LayerWeight{{1, layer.outputs, in.size(), 1},
                       {layer.outputs, in.size()},
                       layer.bias ? layer.outputs : 0};
  }
  std::optional<LayerWeight> operator()(const Conv2d& layer) const {
    const std::int64_t inputs = in.channels / layer.groups;
    return LayerWeight{{layer.groups, layer.outputs / layer.groups, inputs,
                        layer.kernel.h * layer.kernel.w},
                       {layer.outputs, inputs, layer.kernel.h, layer.kernel.w},
                       layer.bias ? layer.outputs : 0};
  }
  std::optional<LayerWeight> operator()(const MaxPool2d&) const { return {}; }
  std::optional<LayerWeight> operator()(Relu) const { return {}; }
  std::optional<LayerWeight> operator()(Flatten) const { return {}; }
  std::optional<LayerWeight> operator()(const Select&) const { return {}; }
};

}  // namespace

bool operator==(const Shape& a, const Shape& b) {
  return a.channels == b.channels && a.height == b.height && a.width == b.width;
}

std::string to_string(const Shape& shape) {
  std::string text = std::to_string(shape.channels);
  if (shape.height == 1 && shape.width == 1) return text;
  return text + "x" + std::to_string(shape.height) + "x" +
         std::to_string(shape.width);
}

std::string to_string(const LayerSpec& layer) {
  return std::visit(Name{}, layer);
}

std::vector<Shape> layer_shapes(const Shape& input,
                                const std::vector<LayerSpec>& layers) {
  RADIR_CHECK(input.channels > 0 && input.height > 0 && input.width > 0,
              ArgumentError, "network: the input shape ", to_string(input),
              " has a side that is not positive");
  RADIR_CHECK(fit_together({input.channels, input.height, input.width}),
              ArgumentError, "network: the input shape ", to_string(input),
              " has more than 2^30 numbers");
  std::vector<Shape> shapes{input};
  for (std::size_t i = 0; i < layers.size(); ++i) {
    const std::string where =
        "layer " + std::to_string(i + 1) + " (" + to_string(layers[i]) + ")";
    shapes.push_back(std::visit(ShapeAfter{shapes.back(), where}, layers[i]));
  }
  return shapes;
}

std::optional<LayerWeight> layer_weight(const LayerSpec& layer,
                                        const Shape& input) {
  return std::visit(WeightOf{input}, layer);
}

NetworkSpec multilayer_perceptron(std::int64_t inputs,
                                  const std::vector<std::int64_t>& hidden,
                                  std::int64_t outputs) {
  NetworkSpec spec{{inputs, 1, 1}, {}};
  for (std::int64_t width : hidden) {
    spec.layers.push_back(Dense{width});
    spec.layers.push_back(Relu{});
  }
  spec.layers.push_back(Dense{outputs});
  return spec;
}

NetworkSpec lenet5(std::int64_t classes) {
  const MaxPool2d halve{{2, 2}, {2, 2}};
  return {{1, 28, 28},
          {Conv2d{20, {5, 5}}, halve, Conv2d{50, {5, 5}}, halve, Flatten{},
           Dense{500}, Relu{}, Dense{classes}}};
}

NetworkSpec lenet300(std::int64_t classes) {
  return multilayer_perceptron(784, {300, 100}, classes);
}

}  // namespace radir::network

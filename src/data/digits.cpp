#include <algorithm>
#include <array>
#include <cmath>
#include <vector>

#include "data/digit_glyphs.h"
#include "radir/core/error.h"
#include "radir/data/builtin_data.h"
#include "radir/kernels/philox.h"
#include "radir/kernels/random.h"

namespace radir::data {
namespace {

constexpr std::uint32_t kShapeStream = 0xD161;
constexpr std::uint32_t kNoiseStream = 0xD162;

constexpr int kSide = 28;                        // pixels of an image's edge
constexpr std::int64_t kMostImages = 5'000'000;  // 4 GB of pixels

// What one writer does to a glyph: a wave that bends it, then an affine map to
// pixels.
class Handwriting {
 public:
  explicit Handwriting(kernels::PhiloxEngine& random) {
    const double angle = 0.10 * random.normal();
    const double slant = 0.10 + 0.20 * random.normal();
    const double width = 14.0 + 2.0 * random.normal();
    const double height = 19.0 + 1.2 * random.normal();
    center_ = {14.0 + 1.0 * random.normal(), 14.0 + 1.0 * random.normal()};
    const double c = std::cos(angle);
    const double s = std::sin(angle);
    // Rotation times shear times scale.
    xx_ = c * width;
    xy_ = -(c * slant + s) * height;
    yx_ = s * width;
    yy_ = (c - s * slant) * height;
    for (Wave& wave : waves_) {
      wave.amplitude = {0.045 * random.normal(), 0.03 * random.normal()};
      wave.frequency = {4 * random.normal(), 4 * random.normal()};
      wave.phase = 6.283 * random.uniform();
    }
  }

  Point to_pixels(Point p) const {
    for (const Wave& wave : waves_) {
      const double swing = std::sin(wave.frequency.x * p.x +
                                    wave.frequency.y * p.y + wave.phase);
      p.x += wave.amplitude.x * swing;
      p.y += wave.amplitude.y * swing;
    }
    const double x = p.x - 0.5;
    const double y = p.y - 0.5;
    return {center_.x + xx_ * x + xy_ * y, center_.y + yx_ * x + yy_ * y};
  }

 private:
  struct Wave {
    Point amplitude;
    Point frequency;
    double phase;
  };

  Point center_;
  double xx_, xy_, yx_, yy_;
  std::array<Wave, 2> waves_;
};

// Ink on a page of kSide x kSide pixels: how much of each is covered.
class Page {
 public:
  // A straight segment of a stroke `radius` wide on each side. A pixel is
  // covered by as much of its width as lies within the radius.
  void draw(Point a, Point b, double radius) {
    const double reach = radius + 0.5;
    const int left = first_pixel(std::min(a.x, b.x) - reach);
    const int right = last_pixel(std::max(a.x, b.x) + reach);
    const int top = first_pixel(std::min(a.y, b.y) - reach);
    const int bottom = last_pixel(std::max(a.y, b.y) + reach);
    const Point d = {b.x - a.x, b.y - a.y};
    const double scale = 1 / std::max(d.x * d.x + d.y * d.y, 1e-12);
    for (int row = top; row <= bottom; ++row) {
      for (int column = left; column <= right; ++column) {
        const Point p = {column + 0.5 - a.x, row + 0.5 - a.y};
        const double along =
            std::clamp((p.x * d.x + p.y * d.y) * scale, 0.0, 1.0);
        const double dx = p.x - along * d.x;
        const double dy = p.y - along * d.y;
        const double inside = reach - std::sqrt(dx * dx + dy * dy);
        float& ink = ink_[static_cast<std::size_t>(row * kSide + column)];
        ink = std::max(ink, static_cast<float>(std::min(inside, 1.0)));
      }
    }
  }

  const std::array<float, kSide * kSide>& ink() const { return ink_; }

 private:
  // Pixels outside the page are cut off, far away ones before the conversion.
  static int first_pixel(double x) {
    return static_cast<int>(std::clamp<double>(x, 0, kSide));
  }
  static int last_pixel(double x) {
    return static_cast<int>(std::clamp<double>(x, -1, kSide - 1));
  }

  std::array<float, kSide * kSide> ink_{};
};

// Point at t in [0, 1] between b and c of a Catmull-Rom curve through a-b-c-d.
Point between(Point a, Point b, Point c, Point d, double t) {
  const double wa = 0.5 * t * (-1 + t * (2 - t));
  const double wb = 1 + 0.5 * t * t * (-5 + 3 * t);
  const double wc = 0.5 * t * (1 + t * (4 - 3 * t));
  const double wd = 0.5 * t * t * (t - 1);
  return {wa * a.x + wb * b.x + wc * c.x + wd * d.x,
          wa * a.y + wb * b.y + wc * c.y + wd * d.y};
}

// The stroke as a chain of short straight segments.
std::vector<Point> flatten(const Stroke& stroke,
                           const std::vector<Point>& points) {
  constexpr int kSegments = 5;
  const std::size_t last = points.size() - 1;
  std::vector<Point> chain = {points[0]};
  for (std::size_t i = 0; i < last; ++i) {
    const Point& b = points[i];
    const Point& c = points[i + 1];
    const bool smooth = stroke.kind == Stroke::Kind::Smooth;
    const Point& a = smooth && i > 0 ? points[i - 1] : b;
    const Point& d = smooth && i + 1 < last ? points[i + 2] : c;
    for (int segment = 1; segment <= kSegments; ++segment) {
      const double t = static_cast<double>(segment) / kSegments;
      chain.push_back(
          smooth ? between(a, b, c, d, t)
                 : Point{b.x + t * (c.x - b.x), b.y + t * (c.y - b.y)});
    }
  }
  return chain;
}

void draw_glyph(const Glyph& glyph, kernels::PhiloxEngine& random, Page& page) {
  const Handwriting writing(random);
  const double radius = 0.7 + 1.1 * random.uniform();
  for (const Stroke& stroke : glyph) {
    std::vector<Point> points = stroke.points;
    for (Point& point : points) {
      point.x += 0.035 * random.normal();
      point.y += 0.025 * random.normal();
    }
    const std::vector<Point> chain = flatten(stroke, points);
    Point from = writing.to_pixels(chain[0]);
    for (std::size_t i = 1; i < chain.size(); ++i) {
      const Point to = writing.to_pixels(chain[i]);
      page.draw(from, to, radius);
      from = to;
    }
  }
}

// Integer from 0 to count - 1.
int pick(kernels::PhiloxEngine& random, std::size_t count) {
  const int last = static_cast<int>(count) - 1;
  return std::min(
      last, static_cast<int>(static_cast<double>(count) * random.uniform()));
}

// Draws image `index` to 28 x 28 pixels and returns its label.
std::uint8_t draw_digit(std::uint64_t seed, std::int64_t index,
                        std::uint8_t* pixels) {
  kernels::PhiloxEngine random({seed, kShapeStream, 0},
                               static_cast<std::uint32_t>(index));
  const int label = pick(random, kDigitClasses);
  const std::vector<Glyph>& ways = digit_glyphs(label);
  const Glyph& glyph =
      ways[static_cast<std::size_t>(pick(random, ways.size()))];
  Page page;
  draw_glyph(glyph, random, page);

  const double brightness = 255 * (0.7 + 0.3 * random.uniform());
  std::array<float, kSide * kSide> noise;
  kernels::fill_normal({seed, kNoiseStream, static_cast<std::uint64_t>(index)},
                       0, kSide * kSide, noise.data());
  for (std::size_t i = 0; i < noise.size(); ++i) {
    const double grey = brightness * page.ink()[i] + 16 * noise[i];
    pixels[i] = static_cast<std::uint8_t>(std::clamp(grey, 0.0, 255.0) + 0.5);
  }
  return static_cast<std::uint8_t>(label);
}

}  // namespace

ImageSet make_digits(std::int64_t count, std::uint64_t seed,
                     std::int64_t first) {
  RADIR_CHECK(count >= 0 && count <= kMostImages && first >= 0 &&
                  first < kernels::kMaxRandomElements - count,
              ArgumentError, "make_digits: ", count, " images from number ",
              first, " on were asked for; at most ", kMostImages,
              " can be made at once, numbered from 0 to 2^32 - 1");
  ImageSet set;
  set.count = count;
  set.rows = kSide;
  set.columns = kSide;
  set.pixels.resize(static_cast<std::size_t>(count * kSide * kSide));
  set.labels.resize(static_cast<std::size_t>(count));
  for (std::int64_t i = 0; i < count; ++i) {
    set.labels[static_cast<std::size_t>(i)] =
        draw_digit(seed, first + i, set.pixels.data() + i * kSide * kSide);
  }
  return set;
}

ImageDataset make_digits_dataset(std::int64_t train_count,
                                 std::int64_t test_count, std::uint64_t seed) {
  return {make_digits(train_count, seed),
          make_digits(test_count, seed, train_count), kDigitClasses};
}

}  // namespace radir::data

#include "data/digit_glyphs.h"

#include <array>
#include <utility>

namespace radir::data {
namespace {

Stroke straight(std::vector<Point> points) {
  return {Stroke::Kind::Straight, std::move(points)};
}

Stroke smooth(std::vector<Point> points) {
  return {Stroke::Kind::Smooth, std::move(points)};
}

// clang-format off
std::vector<Glyph> zeros() {
  const Glyph zero = {
      smooth({{0.52, 0.00}, {0.20, 0.17}, {0.10, 0.50}, {0.20, 0.84}, {0.50, 1.00},
              {0.80, 0.84}, {0.90, 0.50}, {0.80, 0.17}, {0.48, 0.00}})};
  return {zero};
}

std::vector<Glyph> ones() {
  const Glyph one_bar = {straight({{0.50, 0.00}, {0.50, 0.50}, {0.50, 1.00}})};
  const Glyph one_with_flag = {
      straight({{0.28, 0.20}, {0.55, 0.00}, {0.55, 0.50}, {0.55, 1.00}})};
  const Glyph one_with_foot = {
      straight({{0.28, 0.20}, {0.52, 0.00}, {0.52, 1.00}}),
      straight({{0.22, 1.00}, {0.82, 1.00}})};
  return {one_bar, one_with_flag, one_with_foot};
}

std::vector<Glyph> twos() {
  const Glyph two_with_corner = {
      smooth({{0.12, 0.24}, {0.35, 0.02}, {0.72, 0.05}, {0.84, 0.30}, {0.58, 0.60},
              {0.10, 1.00}}),
      straight({{0.10, 1.00}, {0.92, 0.98}})};
  const Glyph two_with_loop = {
      smooth({{0.12, 0.20}, {0.40, 0.00}, {0.76, 0.10}, {0.78, 0.38}, {0.48, 0.74},
              {0.16, 0.96}, {0.10, 0.80}, {0.34, 0.76}, {0.62, 0.96}, {0.96, 0.92}})};
  return {two_with_corner, two_with_loop};
}

std::vector<Glyph> threes() {
  const Glyph three_round = {
      smooth({{0.14, 0.12}, {0.45, 0.00}, {0.80, 0.14}, {0.72, 0.38}, {0.38, 0.47}}),
      smooth({{0.38, 0.47}, {0.76, 0.52}, {0.90, 0.74}, {0.70, 0.95}, {0.40, 1.00},
              {0.08, 0.88}})};
  const Glyph three_flat = {
      straight({{0.12, 0.02}, {0.84, 0.02}, {0.42, 0.40}}),
      smooth({{0.42, 0.40}, {0.78, 0.48}, {0.88, 0.74}, {0.62, 0.98}, {0.10, 0.90}})};
  return {three_round, three_flat};
}

std::vector<Glyph> fours() {
  const Glyph four_open = {
      straight({{0.22, 0.02}, {0.10, 0.56}, {0.92, 0.56}}),
      straight({{0.74, 0.02}, {0.70, 0.52}, {0.66, 1.00}})};
  const Glyph four_closed = {
      straight({{0.66, 0.00}, {0.04, 0.66}, {0.96, 0.66}}),
      straight({{0.66, 0.00}, {0.66, 1.00}})};
  return {four_open, four_closed};
}

std::vector<Glyph> fives() {
  const Glyph five = {
      straight({{0.86, 0.02}, {0.28, 0.02}, {0.20, 0.44}}),
      smooth({{0.20, 0.44}, {0.54, 0.36}, {0.86, 0.54}, {0.84, 0.84}, {0.48, 1.00},
              {0.10, 0.90}})};
  return {five};
}

std::vector<Glyph> sixes() {
  const Glyph six = {
      smooth({{0.74, 0.00}, {0.40, 0.20}, {0.16, 0.56}, {0.22, 0.88}, {0.50, 1.00},
              {0.80, 0.88}, {0.84, 0.66}, {0.60, 0.50}, {0.34, 0.56}, {0.18, 0.74}})};
  return {six};
}

std::vector<Glyph> sevens() {
  const Glyph seven = {
      straight({{0.08, 0.04}, {0.90, 0.02}, {0.62, 0.50}, {0.42, 1.00}})};
  const Glyph seven_with_bar = {
      straight({{0.08, 0.04}, {0.90, 0.02}, {0.58, 0.50}, {0.38, 1.00}}),
      straight({{0.30, 0.50}, {0.84, 0.48}})};
  return {seven, seven_with_bar};
}

std::vector<Glyph> eights() {
  const Glyph eight = {
      smooth({{0.54, 0.46}, {0.24, 0.32}, {0.24, 0.10}, {0.50, 0.00}, {0.76, 0.10},
              {0.76, 0.30}, {0.48, 0.48}, {0.18, 0.68}, {0.18, 0.90}, {0.50, 1.00},
              {0.82, 0.90}, {0.82, 0.68}, {0.52, 0.46}})};
  return {eight};
}

std::vector<Glyph> nines() {
  const Glyph nine_straight = {
      smooth({{0.84, 0.22}, {0.60, 0.00}, {0.28, 0.08}, {0.16, 0.32}, {0.36, 0.52},
              {0.66, 0.46}, {0.84, 0.22}}),
      straight({{0.84, 0.22}, {0.80, 0.60}, {0.70, 1.00}})};
  const Glyph nine_with_hook = {
      smooth({{0.82, 0.24}, {0.58, 0.00}, {0.26, 0.08}, {0.16, 0.32}, {0.38, 0.52},
              {0.68, 0.44}, {0.82, 0.24}}),
      smooth({{0.82, 0.24}, {0.84, 0.60}, {0.70, 0.90}, {0.44, 1.00}, {0.18, 0.92}})};
  return {nine_straight, nine_with_hook};
}
// clang-format on

}  // namespace

const std::vector<Glyph>& digit_glyphs(int digit) {
  static const std::array<std::vector<Glyph>, kDigitClasses> all = {
      zeros(), ones(),  twos(),   threes(), fours(),
      fives(), sixes(), sevens(), eights(), nines()};
  return all.at(static_cast<std::size_t>(digit));
}

}  // namespace radir::data

#pragma once

#include <string>

namespace radir::data {

// What the preprocessing of a model says under "kind".
constexpr const char* kTableKind = "table";
constexpr const char* kImageKind = "images";

/// The kind of data a model was trained on; empty when its preprocessing does
/// not say.
std::string data_kind(const std::string& preprocessing);

}  // namespace radir::data

#pragma once

#include <string>
#include <variant>
#include <vector>

#include "radir/report/table.h"

namespace radir::report {

// Texts may hold _{subscripts} and ^{superscripts}.

struct Paragraph {
  std::string text;
};

/// One or more panels (each an <svg> element) over one caption.
struct Figure {
  std::vector<std::string> panels;
  std::string caption;
  bool small = false;  ///< up to three panels beside each other
};

/// A table over one caption.
struct TableBlock {
  Table table;
  std::string caption;
};

/// A link to a file beside the page, by its relative path.
struct Link {
  std::string text;
  std::string path;
};

using Block = std::variant<Paragraph, Figure, TableBlock, Link>;

struct Section {
  std::string title;
  std::vector<Block> blocks;
  bool folded = false;  ///< shown when the reader opens it
};

/// A report to read from top to bottom.
struct Page {
  std::string title;
  std::string headline = {};  ///< the result in one sentence; empty: none
  std::string lead;           ///< one or two sentences under the title
  std::vector<Section> sections;
  std::string footer;
};

/// The page as one HTML document that needs no other file and no network. It
/// follows the reader's light or dark preference, and prints.
std::string to_html(const Page& page);

}  // namespace radir::report

#include "radir/report/page.h"

#include <fmt/format.h>

#include "report/markup.h"

namespace radir::report {
namespace {

constexpr const char* kStyle = R"css(
:root {
  color-scheme: light dark;
  --ink: #1b1f24; --soft: #57606a; --paper: #ffffff; --panel: #f6f8fa;
  --line: #d8dee4;
  --radir-0: #2463c9; --radir-1: #c9501a; --radir-2: #15824f;
  --radir-3: #9333ab; --radir-4: #94700a; --radir-5: #c02a58;
  --radir-6: #0e7c88; --radir-7: #6b7280;
}
@media (prefers-color-scheme: dark) {
  :root {
    --ink: #e6e9ec; --soft: #9aa4ae; --paper: #14171a; --panel: #1c2126;
    --line: #323a42;
    --radir-0: #6ea2ff; --radir-1: #ff935c; --radir-2: #4ccb8c;
    --radir-3: #d58ae6; --radir-4: #dcb23f; --radir-5: #ff7fa5;
    --radir-6: #4cc4d1; --radir-7: #9ca3af;
  }
}
* { box-sizing: border-box; }
body {
  margin: 0; padding: 3rem 1.25rem 4rem; background: var(--paper);
  color: var(--ink); font: 16px/1.6 system-ui, -apple-system, "Segoe UI",
  Roboto, "Noto Sans", sans-serif;
}
main { max-width: 75rem; margin: 0 auto; }
h1 { font-size: 2rem; line-height: 1.2; margin: 0 0 .6rem; }
h2 { font-size: 1.3rem; margin: 3.2rem 0 .6rem; }
p { max-width: 60rem; margin: .6rem 0; }
.headline { font-size: 1.35rem; line-height: 1.45; margin: 1rem 0; }
.lead { font-size: 1.1rem; color: var(--soft); }
sub, sup { font-size: .72em; line-height: 0; }
figure { margin: 1.2rem 0 0; }
.panels {
  display: grid; gap: 1rem;
  grid-template-columns: repeat(auto-fit, minmax(min(100%, 30rem), 1fr));
}
.panels.small {
  grid-template-columns: repeat(auto-fit, minmax(min(100%, 22rem), 1fr));
}
.panels > svg, .scroll {
  width: 100%; height: auto; background: var(--panel);
  border: 1px solid var(--line); border-radius: 8px;
}
.panels.small > svg { max-width: 40rem; }
.panels > svg { padding: .6rem; }
.scroll { overflow-x: auto; padding: .4rem .8rem; }
figcaption { max-width: 60rem; margin-top: .7rem; color: var(--soft);
  font-size: .95rem; }
table { border-collapse: collapse; font-variant-numeric: tabular-nums;
  font-size: .95rem; width: 100%; }
th, td { padding: .35rem .8rem; text-align: left; white-space: nowrap; }
.long { white-space: normal; min-width: 9rem; max-width: 22rem;
  overflow-wrap: break-word; }
@media (max-width: 600px) {
  body { padding: 2rem .8rem 3rem; }
  th, td { padding: .3rem .4rem; font-size: .85rem; }
}
th { border-bottom: 1px solid var(--line); font-weight: 600; }
tr + tr td { border-top: 1px solid var(--line); }
.number { text-align: right; }
summary { margin: 3.2rem 0 .6rem; cursor: pointer; }
summary h2 { display: inline; }
h1, .headline, p, figcaption { overflow-wrap: anywhere; }
a { color: var(--radir-0); }
footer { margin-top: 4rem; padding-top: 1rem; color: var(--soft);
  border-top: 1px solid var(--line); font-size: .9rem; }
@media print { figure { break-inside: avoid; } body { padding: 0; } }
)css";

/// A captioned figure around `content`, itself HTML.
std::string figure_element(const char* content_class,
                           const std::string& content,
                           const std::string& caption) {
  std::string out = fmt::format("<figure>\n<div class=\"{}\">\n{}</div>\n",
                                content_class, content);
  if (!caption.empty()) {
    out += "<figcaption>" + html_text(caption) + "</figcaption>\n";
  }
  return out + "</figure>\n";
}

struct BlockToHtml {
  std::string operator()(const Paragraph& paragraph) const {
    return "<p>" + html_text(paragraph.text) + "</p>\n";
  }
  std::string operator()(const Figure& figure) const {
    std::string panels;
    for (const std::string& panel : figure.panels) panels += panel;
    return figure_element(figure.small ? "panels small" : "panels", panels,
                          figure.caption);
  }
  std::string operator()(const TableBlock& block) const {
    return figure_element("scroll", to_html(block.table), block.caption);
  }
  std::string operator()(const Link& link) const {
    return "<p><a href=\"" + escape(link.path) + "\">" + html_text(link.text) +
           "</a></p>\n";
  }
};

std::string to_html(const Section& section) {
  const std::string title = "<h2>" + html_text(section.title) + "</h2>";
  std::string out = section.folded
                        ? "<details>\n<summary>" + title + "</summary>\n"
                        : "<section>\n" + title + "\n";
  for (const Block& block : section.blocks) {
    out += std::visit(BlockToHtml{}, block);
  }
  return out + (section.folded ? "</details>\n" : "</section>\n");
}

}  // namespace

std::string to_html(const Page& page) {
  std::string out = fmt::format(
      "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n"
      "<meta charset=\"utf-8\">\n"
      "<meta name=\"viewport\" content=\"width=device-width, "
      "initial-scale=1\">\n<title>{}</title>\n<style>{}</style>\n</head>\n"
      "<body>\n<main>\n<h1>{}</h1>\n",
      escape(plain_text(page.title)), kStyle, html_text(page.title));
  if (!page.headline.empty()) {
    out += "<p class=\"headline\">" + html_text(page.headline) + "</p>\n";
  }
  if (!page.lead.empty()) {
    out += "<p class=\"lead\">" + html_text(page.lead) + "</p>\n";
  }
  for (const Section& section : page.sections) out += to_html(section);
  if (!page.footer.empty()) {
    out += "<footer>" + html_text(page.footer) + "</footer>\n";
  }
  return out + "</main>\n</body>\n</html>\n";
}

}  // namespace radir::report

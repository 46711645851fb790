#include "radir/report/page.h"

#include <gtest/gtest.h>

namespace radir::report {
namespace {

Page small_page() {
  Page page;
  page.title = "Bounds & <errors>";
  page.lead = "What I_{ν} is.";
  Section section{"First", {}};
  section.blocks.push_back(Paragraph{"1 < 2"});
  section.blocks.push_back(Figure{{"<svg>a</svg>", "<svg>b</svg>"}, "Two."});
  section.blocks.push_back(TableBlock{{{{"a", "A"}}, {{1.5}}}, "Numbers."});
  section.blocks.push_back(Link{"More & more", "a\"b.html"});
  page.sections.push_back(section);
  page.footer = "The end.";
  return page;
}

TEST(Page, HoldsEveryPartInOrder) {
  const std::string html = to_html(small_page());
  std::size_t at = 0;
  for (const char* part :
       {"<!DOCTYPE html>", "<title>Bounds &amp; &lt;errors&gt;</title>",
        "<h1>Bounds &amp; &lt;errors&gt;</h1>", "What I<sub>ν</sub> is.",
        "<h2>First</h2>", "<p>1 &lt; 2</p>", "<svg>a</svg>", "<svg>b</svg>",
        "<figcaption>Two.</figcaption>", "<td class=\"number\">1.5</td>",
        "<figcaption>Numbers.</figcaption>",
        "<a href=\"a&quot;b.html\">More &amp; more</a>", "The end.",
        "</html>"}) {
    const std::size_t found = html.find(part, at);
    ASSERT_NE(found, std::string::npos) << part;
    at = found;
  }
}

TEST(Page, FoldsSectionsAndShowsTheHeadlineFirst) {
  Page page = small_page();
  page.headline = "All is < well.";
  page.sections.front().folded = true;
  const std::string html = to_html(page);
  const std::size_t headline =
      html.find("<p class=\"headline\">All is &lt; well.</p>");
  ASSERT_NE(headline, std::string::npos);
  EXPECT_LT(headline, html.find("What I<sub>ν</sub> is."));
  EXPECT_NE(html.find("<details>\n<summary><h2>First</h2></summary>"),
            std::string::npos);
  EXPECT_NE(html.find("</details>"), std::string::npos);
  EXPECT_EQ(to_html(small_page()).find("<details"), std::string::npos);
}

TEST(Page, NeedsNothingFromElsewhere) {
  const std::string html = to_html(small_page());
  for (const char* part : {"<script", "<link", "@import", "url(", "src="}) {
    EXPECT_EQ(html.find(part), std::string::npos) << part;
  }
}

TEST(Page, FollowsTheReadersColourPreference) {
  EXPECT_NE(to_html(small_page()).find("prefers-color-scheme: dark"),
            std::string::npos);
}

}  // namespace
}  // namespace radir::report

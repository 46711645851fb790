#include "radir/posterior/options.h"

#include <string>

#include "radir/posterior/family.h"
#include "radir/posterior/radial_directional.h"

namespace radir::posterior {

const Choices<Grouping>& grouping_choices() {
  static const Choices<Grouping> choices = {{Grouping::Row, "row"},
                                            {Grouping::Column, "column"},
                                            {Grouping::Double, "double"}};
  return choices;
}

const char* to_string(Grouping grouping) {
  return choice_name(grouping_choices(), grouping);
}

Options::Options() : Options(RadialDirectionalOptions{}) {}

void Options::report_other_family(const Family& wanted) const {
  detail::throw_error<ArgumentError>(
      "posterior options: these are options of the family ", family().name(),
      ", not of ", wanted.name());
}

void check(const Options& options) {
  Options copy = options;
  SettingsCheck check(std::string(options.family().name()) + " posterior");
  options.family().visit_settings(check, copy);
  options.family().check(options);
}

}  // namespace radir::posterior

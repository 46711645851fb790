#include <mutex>
#include <string>

#include "radir/core/error.h"
#include "radir/posterior/dropout.h"
#include "radir/posterior/family.h"
#include "radir/posterior/gates.h"
#include "radir/posterior/gaussian.h"
#include "radir/posterior/group_lasso.h"
#include "radir/posterior/matrix_gaussian.h"
#include "radir/posterior/point.h"
#include "radir/posterior/radial_directional.h"

namespace radir::posterior {
namespace {

/// The families of this library: one line each.
std::vector<const Family*> built_in() {
  return {&family_of(RadialDirectionalOptions{}),
          &family_of(GaussianOptions{}),
          &family_of(PointOptions{}),
          &family_of(GroupLassoOptions{}),
          &family_of(MatrixGaussianOptions{}),
          &family_of(DropoutOptions{}),
          &family_of(GroupNormalJeffreysOptions{}),
          &family_of(GroupHorseshoeOptions{}),
          &family_of(HardConcreteOptions{}),
          &family_of(GeneralizedDropoutOptions{}),
          &family_of(StructuredPruningOptions{})};
}

struct Registry {
  std::mutex mutex;
  std::vector<const Family*> families = built_in();
};

Registry& registry() {
  static Registry instance;
  return instance;
}

const Family* find(const std::vector<const Family*>& families,
                   std::string_view name) {
  for (const Family* family : families) {
    if (name == family->name()) return family;
  }
  return nullptr;
}

}  // namespace

std::vector<const Family*> families() {
  Registry& all = registry();
  const std::lock_guard<std::mutex> lock(all.mutex);
  return all.families;
}

const Family& find_family(std::string_view name) {
  const std::vector<const Family*> known = families();
  if (const Family* family = find(known, name)) return *family;
  std::string names;
  for (const Family* family : known) {
    names += (names.empty() ? "" : ", ") + std::string(family->name());
  }
  detail::throw_error<UnsupportedError>("there is no posterior family \"", name,
                                        "\"; those known are ", names);
}

void register_family(const Family& family) {
  Registry& all = registry();
  const std::lock_guard<std::mutex> lock(all.mutex);
  const Family* const other = find(all.families, family.name());
  if (other == &family) return;
  RADIR_CHECK(other == nullptr, ArgumentError,
              "register_family: there is another family \"", family.name(),
              "\"");
  all.families.push_back(&family);
}

}  // namespace radir::posterior

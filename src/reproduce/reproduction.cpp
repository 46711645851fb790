#include "radir/reproduce/reproduction.h"

#include "radir/core/version.h"
#include "radir/files/atomic_file.h"
#include "radir/report/page.h"

namespace radir::reproduce {

std::string finish_reproduction(const io::RunFolder& folder,
                                Reproduction& result) {
  folder.remove_checkpoints();
  std::string page = folder.file(result.page_name);
  files::write_file(page, to_html(result.page));
  nlohmann::ordered_json document = {{"version", version()},
                                     {"run", folder.path()}};
  document.update(result.json);
  result.json = std::move(document);
  return page;
}

}  // namespace radir::reproduce

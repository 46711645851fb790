#include "radir/reproduce/uci.h"

namespace radir::reproduce {

// Sets in the order of data::uci_set_names(): Boston, Concrete, Energy, Kin8nm,
// Naval, Power, Protein, Wine, Yacht.

const std::vector<PublishedColumn>& published_uci() {
  static const std::vector<PublishedColumn> columns = {
      {"VI",
       "Graves 2011, as quoted by Oh, Adamczewski, Park 2019",
       {-2.90, -3.33, -2.39, 0.90, 3.37, -2.89, -2.99, -0.98, -3.43}},
      {"PBP",
       "Hernandez-Lobato, Adams 2015",
       {-2.57, -3.16, -2.04, 0.90, 3.73, -2.84, -2.97, -0.97, -1.63}},
      {"Dropout 2016",
       "Gal, Ghahramani 2016",
       {-2.46, -3.04, -1.99, 0.95, 3.80, -2.80, -2.89, -0.93, -1.55}},
      {"VMG",
       "Louizos, Welling 2016",
       {-2.46, -3.01, -1.06, 1.10, 2.46, -2.82, -2.84, -0.95, -1.30}},
      {"Dropout, converged",
       "repository of Gal, Ghahramani",
       {-2.40, -2.93, -1.21, 1.14, 4.45, -2.80, -2.87, -0.93, -1.25}},
      {"Deep ensembles",
       "Lakshminarayanan et al. 2017",
       {-2.41, -3.06, -1.38, 1.20, 5.63, -2.79, -2.83, -0.94, -1.18}},
      {"DVI",
       "Wu et al. 2019",
       {-2.41, -3.06, -1.01, 1.13, 6.29, -2.80, -2.85, -0.90, -0.47}},
      {"HS-BNN",
       "Ghosh et al., as quoted by google/uncertainty-baselines",
       {-2.54, -3.09, -2.66, 1.12, 5.52, -2.81, -2.89, -0.95, -2.33}},
      {"PBP-MV (2 hidden)",
       "Sun et al. 2017, as quoted by google/uncertainty-baselines",
       {-2.54, -3.04, -1.01, 1.28, 4.85, -2.78, -2.77, -0.97, -1.64}},
      {"Refined VI",
       "as quoted by google/uncertainty-baselines",
       {-2.94, -3.08, -0.75, 1.06, 6.33, -2.83, -2.92, -0.97, -1.68}}};
  return columns;
}

const PublishedColumn& published_uci_rdp() {
  static const PublishedColumn column = {
      "RDP, published",
      "Oh, Adamczewski, Park 2019, Table 1",
      {-2.60, -2.61, -1.18, 2.17, 3.05, -0.14, 1.38, -0.45, -2.36}};
  return column;
}

}  // namespace radir::reproduce

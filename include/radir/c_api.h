#pragma once

/* The C interface of Radir: libradir.so. For C and for languages that call C
 * (the Python package is written on it). It is the same code as the C++ library
 * and the program: the same seed gives the same numbers, bit for bit.
 *
 *   radir_table table;
 *   radir_model model;
 *   radir_table_create("houses", &table);
 *   radir_table_add_matrix(table, RADIR_FLOAT64, x, rows, 13, 13, 1, NULL);
 *   radir_table_add_numbers(table, "price", RADIR_FLOAT64, y, rows, 1);
 *   if (radir_model_fit(table, "price", "method=rdp", NULL, NULL, &model)) {
 *     puts(radir_last_error());
 *   }
 *
 * Rules
 * - Every function returns a radir_status, RADIR_OK or the kind of error;
 *   radir_last_error() says in words what is wrong and what to do. No C++
 *   exception leaves the library.
 * - Handles are numbers that are never used twice: one that was freed, of
 *   another kind or made up is an error, not a crash.
 * - The caller owns all buffers. Texts and bytes are written into a buffer of
 *   `capacity` bytes, `length` receives how many there are (without the zero
 *   that ends a text), and nothing is written where they do not fit. Ask with
 *   capacity 0 first.
 * - Functions may be called from several threads at once, also with the same
 *   handle. Calls with the same model or weight wait for each other.
 * - A process that was forked may use what its parent made, unless a thread of
 *   the parent was inside a call at that moment.
 */

#include <stdint.h>

// C has no other words for these things.
// NOLINTBEGIN(readability-identifier-naming, modernize-use-using)

#if defined(__GNUC__)
#define RADIR_API __attribute__((visibility("default")))
#else
#define RADIR_API
#endif

#ifdef __cplusplus
extern "C" {
#endif

/** What a function returns: how the call went. */
typedef enum radir_status {
  RADIR_OK = 0,
  RADIR_ARGUMENT_ERROR = 1,  /**< an option, shape or handle of no use */
  RADIR_DOMAIN_ERROR = 2,    /**< a number outside a function's domain */
  RADIR_NUMERICAL_ERROR = 3, /**< the training failed */
  RADIR_IO_ERROR = 4,        /**< a file, or a table that cannot be used */
  RADIR_UNSUPPORTED = 5,     /**< exists, but not in this combination */
  RADIR_OUT_OF_MEMORY = 6,
  RADIR_STOPPED = 7,       /**< a progress callback asked for it */
  RADIR_INTERNAL_ERROR = 8 /**< a mistake of ours; please report it */
} radir_status;

/** The type of the numbers of an array: one of the constants below. */
typedef int32_t radir_type;
enum { RADIR_FLOAT32 = 0, RADIR_FLOAT64 = 1 };

/** Columns of equal length. */
typedef struct radir_table_handle* radir_table;
/** A model fitted to a table. */
typedef struct radir_model_handle* radir_model;
/** The posterior and prior of one weight tensor. */
typedef struct radir_weight_handle* radir_weight;

/** "major.minor.patch". */
RADIR_API const char* radir_version(void);
/** The message of the last error in this thread; valid until its next call. */
RADIR_API const char* radir_last_error(void);

/* ---- Tables ---------------------------------------------------------- */

/** An empty table; `name` begins messages about it. */
RADIR_API radir_status radir_table_create(const char* name, radir_table* table);
/** A table from a file of text (plain or gzip), a folder in the UCI layout or
 * "builtin:robot-arm", as the program reads it. */
RADIR_API radir_status radir_table_read(const char* source, radir_table* table);
RADIR_API radir_status radir_table_free(radir_table table);
/** How many rows a table with columns has: the length of the buffers for its
 * predictions. No column can be added after it. */
RADIR_API radir_status radir_table_rows(radir_table table, int64_t* rows);
/** Adds a column of numbers, NaN where one is missing. Number i is values[i *
 * stride]. They are not copied: they must stay until the table is freed. A
 * table that has been used takes no more columns. */
RADIR_API radir_status radir_table_add_numbers(radir_table table,
                                               const char* name,
                                               radir_type type,
                                               const void* values,
                                               int64_t count, int64_t stride);
/** Adds the columns of a matrix, values[row * row_stride + column *
 * column_stride], likewise. Without names they are column_1, column_2, ... */
RADIR_API radir_status
radir_table_add_matrix(radir_table table, radir_type type, const void* values,
                       int64_t rows, int64_t columns, int64_t row_stride,
                       int64_t column_stride, const char* const* names);
/** Adds a column of categories: row i has categories[codes[i]], a text in
 * UTF-8, or none where the code is -1. Copied. */
RADIR_API radir_status radir_table_add_categories(
    radir_table table, const char* name, const char* const* categories,
    int64_t category_count, const int32_t* codes, int64_t count);
/** Adds a column of dates: days since 1970-01-01, with the time of day as their
 * fraction, NaN where one is missing. Copied. The network receives what it does
 * of a column of dates in a file: the number and, where the dates differ in
 * them, the positions in the year, the week and the day. */
RADIR_API radir_status radir_table_add_dates(radir_table table,
                                             const char* name,
                                             const double* days, int64_t count);

/* ---- Models ---------------------------------------------------------- */

/** How far a fit is. */
typedef struct radir_progress {
  int64_t tuning;  /**< 1 while candidates are compared, then 0 */
  int64_t done;    /**< candidates, or epochs of all networks */
  int64_t total;   /**< of these */
  int64_t network; /**< from 1 */
  int64_t epoch;   /**< of this network */
  double nll;      /**< its loss, nats per row */
  double kl;
} radir_progress;

/** Returns 0 to go on, anything else to stop. Called from any thread, one call
 * at a time, about fifty times a second at most. */
typedef int32_t (*radir_progress_callback)(const radir_progress* progress,
                                           void* user);

/** Every setting of radir_model_fit as a JSON array of objects: name, help,
 * type, default and, where it has them, choices or range. */
RADIR_API radir_status radir_fit_settings(char* text, int64_t capacity,
                                          int64_t* length);

/** Fits a model to all rows; a target of categories means classes. `settings`
 * is a JSON object or lines "name=value"; those that are not named keep the
 * defaults of `radir train`, except "missing", which is "refuse" here and
 * "indicator" there. NULL: all of them do. */
RADIR_API radir_status radir_model_fit(radir_table table, const char* target,
                                       const char* settings,
                                       radir_progress_callback callback,
                                       void* user, radir_model* model);
RADIR_API radir_status radir_model_free(radir_model model);

/** How a model predicts. All zero: as `radir predict` does. */
typedef struct radir_predict_options {
  int64_t samples; /**< draws of the weights per network; 0: 200 */
  uint64_t seed;   /**< of these draws */
  int64_t threads; /**< from 0 to 1024; 0: all processors */
} radir_predict_options;

/** Where predictions go, a number per row each; NULL where nobody wants it. A
 * row that was dropped for a missing value or that overflowed has NaN. */
typedef struct radir_prediction {
  /* Numeric target. */
  double* mean;
  double* sd;                  /**< of the next observation */
  double* epistemic_sd;        /**< due to the uncertain weights */
  double* aleatoric_sd;        /**< due to the noise of the data */
  const double* probabilities; /**< of the quantiles, above 0 and below 1 */
  int64_t probability_count;
  double* quantiles;    /**< [row][probability] */
  const double* values; /**< a number per row, of which the next three are */
  double* log_density;
  double* cdf;
  double* crps;
  /* Categorical target. */
  double* class_probabilities; /**< [row][class], classes as described */
  double* entropy;             /**< nats */
  double* mutual_information;  /**< its epistemic part */
} radir_prediction;

/** Predicts every row of a table that has the model's input columns. The draws
 * of the weights are kept for the next call with the same options. */
RADIR_API radir_status radir_model_predict(radir_model model, radir_table table,
                                           const radir_predict_options* options,
                                           const radir_prediction* prediction);

/** Predicts every row of a matrix, which is radir_table_add_matrix without
 * names, radir_model_predict and radir_table_free in one call: the quickest way
 * to predict a row of a model that was fitted to a matrix. */
RADIR_API radir_status radir_model_predict_matrix(
    radir_model model, radir_type type, const void* values, int64_t rows,
    int64_t columns, int64_t row_stride, int64_t column_stride,
    const radir_predict_options* options, const radir_prediction* prediction);

/** Scores of the predictions of a table that has the target too, as a JSON
 * object: log_likelihood, rmse, ... or log_likelihood, error, ... */
RADIR_API radir_status radir_model_evaluate(
    radir_model model, radir_table table, const radir_predict_options* options,
    char* text, int64_t capacity, int64_t* length);

/** What a model is, as a JSON object: "preprocessing" with the columns, their
 * scales and the classes, "networks", "training" with every setting, "metrics",
 * "architecture", "layers" and so on. */
RADIR_API radir_status radir_model_describe(radir_model model, char* text,
                                            int64_t capacity, int64_t* length);

/** How strongly each input column of the description enters the network: the
 * length of its weights in the first layer, over all networks. */
RADIR_API radir_status radir_model_importance(radir_model model, double* values,
                                              int64_t count);

/** The model without the units that it does not need. `options` as the settings
 * of a fit: threshold, max_flops, max_parameters. */
RADIR_API radir_status radir_model_prune(radir_model model, const char* options,
                                         radir_model* pruned);

/** Writes network `network` (from 1), with its mean weights, as ONNX. */
RADIR_API radir_status radir_model_export_onnx(radir_model model,
                                               const char* path,
                                               int64_t network);
/** A model file, which the program reads and writes too. */
RADIR_API radir_status radir_model_save(radir_model model, const char* path);
/** From a model file or a run's folder. */
RADIR_API radir_status radir_model_load(const char* path, radir_model* model);
/** The same file in memory. */
RADIR_API radir_status radir_model_to_bytes(radir_model model, void* bytes,
                                            int64_t capacity, int64_t* length);
RADIR_API radir_status radir_model_from_bytes(const void* bytes, int64_t length,
                                              radir_model* model);

/* ---- Image classifiers ------------------------------------------------- */

/** A small network that was made from a large one. */
typedef struct radir_network_handle* radir_network;

/** Images in memory, [count][channels][height][width], contiguous, with numbers
 * from 0 to 1, and their classes from 0. Copied. */
typedef struct radir_images {
  int64_t channels;
  int64_t height;
  int64_t width;
  int64_t classes;
  int64_t train_count;
  const float* train_pixels;
  const int64_t* train_labels;
  int64_t test_count;
  const float* test_pixels;
  const int64_t* test_labels;
} radir_images;

/** Every setting of radir_compress, as radir_fit_settings lists them. */
RADIR_API radir_status radir_compress_settings(char* text, int64_t capacity,
                                               int64_t* length);
/** Trains a network and makes it small, as `radir compress` does. `network` is
 * "lenet5", "lenet300", the text of a network in JSON, or a file of such or of
 * ONNX, of which the architecture is taken. The progress counts to a million
 * and has no losses. */
RADIR_API radir_status radir_compress(const radir_images* images,
                                      const char* network, const char* settings,
                                      radir_progress_callback callback,
                                      void* user, radir_network* result);
RADIR_API radir_status radir_network_free(radir_network network);
/** What was reached, as a JSON object: the figures of the network before and
 * after, and every removal. */
RADIR_API radir_status radir_network_describe(radir_network network, char* text,
                                              int64_t capacity,
                                              int64_t* length);
/** The outputs of the last layer, [count][classes], for `count` images. */
RADIR_API radir_status radir_network_run(radir_network network,
                                         const float* pixels, int64_t count,
                                         float* outputs);
RADIR_API radir_status radir_network_export_onnx(radir_network network,
                                                 const char* path);

/* ---- Benchmarks and reports --------------------------------------------- */

/** Numbers, as JSON, and a page, as HTML. */
typedef struct radir_document_handle* radir_document;

/** Computes a published table or figure again, as `radir reproduce` does:
 * `what` is "uci", "lenet5", "lenet300" or "figures". `settings` as of a fit:
 * the options of the command with underscores (data_dir, methods, steps, ...),
 * seed, threads and run, the folder of the results, where the same call resumes
 * after a stop; "figures" has none. The numbers are those that the command
 * prints with --json. The progress counts to a million. */
RADIR_API radir_status radir_reproduce(const char* what, const char* settings,
                                       radir_progress_callback callback,
                                       void* user, radir_document* document);
/** A page about the run in a folder, finished or not, as `radir report` writes
 * it: the numbers are "run", "state" and "missing". */
RADIR_API radir_status radir_report(const char* run, radir_document* document);
RADIR_API radir_status radir_document_free(radir_document document);
RADIR_API radir_status radir_document_json(radir_document document, char* text,
                                           int64_t capacity, int64_t* length);
/** One HTML document that needs no other file. */
RADIR_API radir_status radir_document_html(radir_document document, char* text,
                                           int64_t capacity, int64_t* length);

/* ---- Weights, for layers of other frameworks -------------------------- */

/** A weight tensor seen as [groups][out][in][kernel], contiguous. */
typedef struct radir_weight_shape {
  int64_t groups;
  int64_t out; /**< output channels per group */
  int64_t in;  /**< input channels per group */
  int64_t kernel;
} radir_weight_shape;

/** Names random numbers: the same three give the same ones. */
typedef struct radir_random_stream {
  uint64_t seed;
  uint64_t step; /**< below 2^48 */
  uint32_t stream;
} radir_random_stream;

/** Which weights stand for their distribution: one of the constants below. */
typedef int32_t radir_point;
enum { RADIR_MEAN = 0, RADIR_MEDIAN = 1, RADIR_MODE = 2 };

/** A posterior of a family ("radial-directional", "gaussian", ...; `radir
 * train --help` lists them) with options "name=value", comma-separated, or
 * NULL. Arrays of parameters, weights and gradients are of `type`. */
RADIR_API radir_status radir_weight_create(const char* family,
                                           const char* options, radir_type type,
                                           const radir_weight_shape* shape,
                                           radir_weight* weight);
/** The posterior that the bias of a layer with this weight has. */
RADIR_API radir_status radir_weight_create_bias(radir_weight weight,
                                                double prior_scale,
                                                radir_weight* bias);
RADIR_API radir_status radir_weight_free(radir_weight weight);
/** A JSON object: "description", "streams" (how many stream numbers a draw
 * takes) and "blocks", the arrays of parameters with name, size, weight_shaped,
 * trainable and is_scale. */
RADIR_API radir_status radir_weight_describe(radir_weight weight, char* text,
                                             int64_t capacity, int64_t* length);
/** Writes starting values. `parameters` has a pointer per block here and
 * below. */
RADIR_API radir_status
radir_weight_initialize(radir_weight weight, const radir_random_stream* stream,
                        void* const* parameters);
/** Draws the weight; `draw` receives a number for radir_weight_backward. */
RADIR_API radir_status radir_weight_draw(radir_weight weight,
                                         const void* const* parameters,
                                         const radir_random_stream* stream,
                                         void* values, int64_t* draw);
/** Adds to `gradients` (a pointer per block, NULL where not wanted) what comes
 * through a draw, given the gradient of its values. Where others were drawn
 * since, this one is drawn again. */
RADIR_API radir_status radir_weight_backward(radir_weight weight,
                                             const void* const* parameters,
                                             const radir_random_stream* stream,
                                             int64_t draw, const void* values,
                                             const void* value_gradient,
                                             void* const* gradients);
/** KL(posterior || prior) in nats. */
RADIR_API radir_status radir_weight_kl(radir_weight weight,
                                       const void* const* parameters,
                                       double* kl);
/** Adds `scale` times its gradient. */
RADIR_API radir_status radir_weight_kl_backward(radir_weight weight,
                                                const void* const* parameters,
                                                double scale,
                                                void* const* gradients);
/** E[W] and Var[W] of each weight; either may be NULL. */
RADIR_API radir_status radir_weight_moments(radir_weight weight,
                                            const void* const* parameters,
                                            void* mean, void* variance);
/** The weight of one deterministic pass. */
RADIR_API radir_status radir_weight_point(radir_weight weight,
                                          const void* const* parameters,
                                          radir_point point, void* values);

/* ---- von Mises-Fisher distributions on arrays -------------------------- */
/* Of dimension m >= 2 (a real number) and concentrations kappa >= 0. */

/** I_nu(z) / I_{nu-1}(z), nu >= 1/2. */
RADIR_API radir_status radir_bessel_ratio(double nu, const double* z,
                                          int64_t count, double* ratio);
/** log I_nu(z), nu >= 0. */
RADIR_API radir_status radir_log_bessel_i(double nu, const double* z,
                                          int64_t count, double* result);
/** log C_m(kappa); the log-density at cosine t is it plus kappa t. */
RADIR_API radir_status radir_vmf_log_normalizer(double m, const double* kappa,
                                                int64_t count, double* result);
/** A_m(kappa), the mean cosine to the mean direction. */
RADIR_API radir_status radir_vmf_mean_cosine(double m, const double* kappa,
                                             int64_t count, double* result);
/** The variance of that cosine. */
RADIR_API radir_status radir_vmf_cosine_variance(double m, const double* kappa,
                                                 int64_t count, double* result);
/** Differential entropy, nats. */
RADIR_API radir_status radir_vmf_entropy(double m, const double* kappa,
                                         int64_t count, double* result);
/** KL(vMF(mu, kappa) || vMF(mu', kappa')), given the cosine mu.mu'. */
RADIR_API radir_status radir_vmf_kl(double m, const double* kappa,
                                    const double* other_kappa,
                                    const double* cosine, int64_t count,
                                    double* result);
/** `rows` unit vectors around `mean_direction`, a unit vector. */
RADIR_API radir_status radir_vmf_sample(const radir_random_stream* stream,
                                        int64_t dimension,
                                        const double* mean_direction,
                                        double kappa, int64_t rows,
                                        double* vectors);

#ifdef __cplusplus
} /* extern "C" */
#endif
// NOLINTEND(readability-identifier-naming, modernize-use-using)

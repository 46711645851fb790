/* A table in memory, from C: fits a network, prints predictions with error
 * bars for three new rows, and keeps the model in a file. */

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "radir/c_api.h"

enum { Rows = 200, Columns = 2, NewRows = 3 };

static void check(radir_status status) {
  if (status == RADIR_OK) return;
  fprintf(stderr, "%s\n", radir_last_error());
  exit(1);
}

/* Called now and then; a number other than 0 would stop the fit. */
static int32_t show(const radir_progress* progress, void* user) {
  (void)user;
  fprintf(stderr, "\r%lld of %lld epochs", (long long)progress->done,
          (long long)progress->total);
  return 0;
}

int main(void) {
  /* y = sin(3 x1) + x2, with a little noise that depends on the row. */
  static double x[Rows][Columns];
  static double y[Rows];
  for (int i = 0; i < Rows; ++i) {
    x[i][0] = (i * 37 % Rows) / (double)Rows;
    x[i][1] = (i * 61 % Rows) / (double)Rows;
    y[i] = sin(3 * x[i][0]) + x[i][1] + 0.05 * (i % 3 - 1);
  }
  radir_table table;
  check(radir_table_create("waves", &table));
  check(radir_table_add_matrix(table, RADIR_FLOAT64, x, Rows, Columns, Columns,
                               1, NULL));
  check(radir_table_add_numbers(table, "y", RADIR_FLOAT64, y, Rows, 1));

  radir_model model;
  check(radir_model_fit(table, "y", "method=rdp\nsteps=3000\nseed=1", show,
                        NULL, &model));
  fprintf(stderr, "\n");

  const double new_x[NewRows][Columns] = {{0.1, 0.5}, {0.5, 0.5}, {5, 5}};
  radir_table new_rows;
  check(radir_table_create("new rows", &new_rows));
  check(radir_table_add_matrix(new_rows, RADIR_FLOAT64, new_x, NewRows, Columns,
                               Columns, 1, NULL));
  double mean[NewRows], sd[NewRows], interval[NewRows][2];
  const double probabilities[2] = {0.05, 0.95};
  radir_prediction prediction = {0};
  prediction.mean = mean;
  prediction.sd = sd;
  prediction.probabilities = probabilities;
  prediction.probability_count = 2;
  prediction.quantiles = &interval[0][0];
  check(radir_model_predict(model, new_rows, NULL, &prediction));
  for (int i = 0; i < NewRows; ++i) {
    printf("x = (%.1f, %.1f): y = %.2f +- %.2f, 90 %% in [%.2f, %.2f]\n",
           new_x[i][0], new_x[i][1], mean[i], sd[i], interval[i][0],
           interval[i][1]);
  }
  /* Far from the data the network knows that it does not know. */
  const int sensible = fabs(mean[0] - (sin(0.3) + 0.5)) < 0.3 && sd[2] > sd[0];

  check(radir_model_save(model, "waves.safetensors"));
  check(radir_model_free(model));
  check(radir_table_free(new_rows));
  check(radir_table_free(table));
  return sensible ? 0 : 1;
}

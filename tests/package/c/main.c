#include <radir/c_api.h>
#include <stdio.h>

int main(void) {
  const double kappa = 2;
  double mean = 0;
  if (radir_vmf_mean_cosine(3, &kappa, 1, &mean) != RADIR_OK) return 1;
  printf("radir %s: %.3f\n", radir_version(), mean);
  return mean > 0.537 && mean < 0.538 ? 0 : 1;
}

#include "radir/kernels/throughput.h"

#include "kernels/throughput_isa.h"
#include "radir/core/cpu.h"
#include "radir/core/error.h"

namespace radir::kernels {
namespace {

const ThroughputTable& table() {
#if defined(__x86_64__)
  return select_isa(isa_generic::throughput_table, isa_avx2::throughput_table,
                    isa_avx512::throughput_table);
#else
  return isa_generic::throughput_table;
#endif
}

}  // namespace

double run_multiply_adds(std::int64_t rounds) {
  float result = 0;
  return table().multiply_adds(rounds, &result) * static_cast<double>(rounds);
}

void multiply_matrices(std::int64_t size, const float* a, const float* b,
                       float* c) {
  RADIR_CHECK(size > 0 && size % 16 == 0, ArgumentError,
              "multiply_matrices: the size must be a positive multiple of 16, ",
              "but is ", size);
  MatrixProduct<float> product;
  product.rows = product.columns = product.depth = size;
  product.a = a;
  product.a_row = size;
  product.b = b;
  product.b_row = size;
  product.c = c;
  product.c_row = size;
  table().gemm->multiply(product);
}

}  // namespace radir::kernels

#pragma once

#include "radir/core/config.h"

namespace radir::math {
inline namespace RADIR_ISA {
namespace detail {

/// Nodes and weights of the Gauss-Legendre rule of 10, 16 or 24 points on
/// [0, 1], of which the lower half is stored: node[n-1-i] = 1 - node[i].
template <int kPoints>
struct GaussLegendre;

template <>
struct GaussLegendre<10> {
  RADIR_HOST_DEVICE static double node(int i) {
    static constexpr double kNode[] = {
        0.013046735741414139961, 0.067468316655507744634,
        0.16029521585048779688, 0.2833023029353764046, 0.42556283050918439456};
    return kNode[i];
  }
  RADIR_HOST_DEVICE static double weight(int i) {
    static constexpr double kWeight[] = {
        0.033335672154344068797, 0.074725674575290296573, 0.109543181257991022,
        0.13463335965499817755, 0.14776211235737643509};
    return kWeight[i];
  }
};

template <>
struct GaussLegendre<16> {
  RADIR_HOST_DEVICE static double node(int i) {
    static constexpr double kNode[] = {
        0.0052995325041750337019, 0.027712488463383711961,
        0.06718439880608412806,   0.12229779582249848305,
        0.19106187779867812578,   0.27099161117138630683,
        0.35919822461037054338,   0.45249374508118127991};
    return kNode[i];
  }
  RADIR_HOST_DEVICE static double weight(int i) {
    static constexpr double kWeight[] = {
        0.013576229705877047426, 0.031126761969323946431,
        0.047579255841246392405, 0.062314485627766936026,
        0.074797994408288366041, 0.084578259697501269095,
        0.091301707522461794433, 0.094725305227534248143};
    return kWeight[i];
  }
};

template <>
struct GaussLegendre<24> {
  RADIR_HOST_DEVICE static double node(int i) {
    static constexpr double kNode[] = {
        0.00240639000148931991,  0.012635722014345250901,
        0.030862723998633620738, 0.056792236497799482893,
        0.089999007013048539023, 0.12993790421072281788,
        0.17595317403151221537,  0.22728926430558023217,
        0.28310324618697743076,  0.34247866015191831281,
        0.40444056626319184542,  0.46797155356869718696};
    return kNode[i];
  }
  RADIR_HOST_DEVICE static double weight(int i) {
    static constexpr double kWeight[] = {
        0.0061706148999935997734, 0.014265694314466831591,
        0.022138719408709903084,  0.029649292457718390373,
        0.036673240705540152867,  0.043095080765976637959,
        0.048809326052056944135,  0.053722135057982817391,
        0.057752834026862800677,  0.060835236463901695602,
        0.062918728173414148061,  0.063969097673376078487};
    return kWeight[i];
  }
};

/// The integral of `function` over [0, 1].
template <int kPoints, typename T, typename Function>
RADIR_HOST_DEVICE inline T integrate(Function function) {
  T sum = 0;
  for (int i = 0; i < kPoints / 2; ++i) {
    const T node = static_cast<T>(GaussLegendre<kPoints>::node(i));
    const T weight = static_cast<T>(GaussLegendre<kPoints>::weight(i));
    sum += weight * (function(node) + function(1 - node));
  }
  return sum;
}

}  // namespace detail
}  // namespace RADIR_ISA
}  // namespace radir::math

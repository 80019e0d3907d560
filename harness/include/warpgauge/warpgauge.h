// The header for kernel authors: problems with inputs, outputs and a reference, the registration of
// families and their variants, and WARPGAUGE_CUDA to check calls with.
//
//   template <typename T>
//   struct Copy : warpgauge::Problem {                    // one problem at one size
//     warpgauge::Input<T> a;
//     warpgauge::Output<T> b;
//     explicit Copy(const warpgauge::Size& size) : a(*this, size.count()), b(*this, size.count())
//     {} void check(warpgauge::Comparison& c) const override { c.equal(b, a.host()); }
//   };
//
//   WARPGAUGE_FAMILY(copy) {
//     auto f32 = family.problem<Copy<float>>("f32", {{1 << 20}, {1000}});
//     f32.variant("plain", [](Copy<float>& p) { plain<<<grid, block>>>(p.b, p.a, p.a.count()); });
//   }
#pragma once

#include "warpgauge/buffers.h"
#include "warpgauge/check_cuda.h"
#include "warpgauge/comparison.h"
#include "warpgauge/problem.h"
#include "warpgauge/registration.h"

#pragma once
#include <ATen/core/Tensor.h>

/// The transpose of a square float tensor on the GPU, whose side is a multiple of 32.
at::Tensor transpose(const at::Tensor& in);

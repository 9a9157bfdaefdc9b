// What the host uses of CUDA's header of matrix functions: its types of elements.
#pragma once
#include "cuda_bf16.h"
#include "cuda_fp16.h"

// calls.cu with separate compilation: kernels share the functions.
#include "calls.cu"

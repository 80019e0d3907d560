// The emulated driver as a shared library, libcuda.so.1. It is linked with the emulated runtime,
// which defines the functions of both.

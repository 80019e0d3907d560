// One word more than the 64 KiB of constants that a module can have, or as many as WORDS says.
#ifndef WORDS
#define WORDS (16384 + 1)
#endif

__constant__ int table[WORDS];

__global__ void read(int* out, int i) { *out = table[i]; }

// One word more than the 32764 bytes of parameters that a kernel can have, or as many as WORDS
// says.
#ifndef WORDS
#define WORDS (32764 / 4 - 3 + 1)
#endif

struct Words {
  int of[WORDS];
};

__global__ void read(int* out, int i, Words words) { *out = words.of[i]; }

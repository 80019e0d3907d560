// Stacks with and without functions that call themselves, one of them with aligned arrays.
template <int kAligned>
struct alignas(kAligned) Words {
  int word[8];
};

template <int kAligned>
__device__ __noinline__ int deeper(const int* above, int n) {
  if (n == 0) return above[0];
  Words<kAligned> own;
  for (int i = 0; i < 8; ++i) own.word[i] = above[(i + n) % 8] + i;
  return deeper<kAligned>(own.word, n - 1) + own.word[n % 8];
}

__device__ __noinline__ int once(const int* above, int n) {
  int own[8];
  for (int i = 0; i < 8; ++i) own[i] = above[(i + n) % 8] + i;
  return own[n % 8];
}

extern "C" __global__ void recursive(int* out, int n) {
  Words<4> first;
  for (int i = 0; i < 8; ++i) first.word[i] = out[i];
  out[0] = deeper<4>(first.word, n);
}

extern "C" __global__ void aligned(int* out, int n) {
  Words<64> first;
  for (int i = 0; i < 8; ++i) first.word[i] = out[i];
  out[0] = deeper<64>(first.word, n);
}

extern "C" __global__ void calling(int* out, int n) {
  int first[8];
  for (int i = 0; i < 8; ++i) first[i] = out[i];
  out[0] = once(first, n);
}

// A loop over pairs of doubles, which ptxas loads by another form of LDG for sm_75: U.128.
extern "C" __global__ void pairs(double* out, const double2* __restrict__ table, int n) {
  double sum = 0;
#pragma unroll 1
  for (int i = 0; i < n; ++i) {
    const double2* p = table + (i * 7919 & 1 ? 4 : 0);
    const double2 a = p[0], b = p[1], c = p[2];
    const double x = i;
    sum += ((((a.x * x + a.y) * x + b.x) * x + b.y) * x + c.x) * x + c.y;
  }
  *out = sum;
}

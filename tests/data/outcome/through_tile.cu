__shared__ T tile[kTile][kPitch];
if (x + i < w && y + j < h) tile[j][i] = a[(y + j) * w + x + i];
__syncthreads();
	if (x + j < w && y + i < h) b[(x + j) * h + y + i] = tile[i][j];

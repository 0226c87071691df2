// For each mask: the powers of two that scale its features, the largest to 1, from the `exponents` by which they were
// divided; and the error of distances in single precision. One warp per mask.
extern "C" __global__ __launch_bounds__(128)
void scale_features(const int* __restrict__ selections, const int* __restrict__ sizes, int n_masks, int widest,
                    const int* __restrict__ exponents, float* __restrict__ scales, Error* __restrict__ errors)
{
    const int mask = blockIdx.x * 4 + threadIdx.x / 32, lane = threadIdx.x % 32;
    if (mask >= n_masks) return;
    selections += (long long)mask * widest;
    scales += (long long)mask * widest;
    int largest = -(1 << 20);
    for (int s = lane; s < sizes[mask]; s += 32) largest = max(largest, exponents[selections[s]]);
    for (int half = 16; half > 0; half /= 2) largest = max(largest, __shfl_xor_sync(ALL_LANES, largest, half));
    double size = METRIC == 2 ? 1.0 : 0.0;  // norm of a row of ones in this scale
    for (int s = lane; s < sizes[mask]; s += 32) {
        const double factor = ldexp(1.0, max(exponents[selections[s]] - largest, -200));
        scales[s] = (float)factor;
        if (METRIC != 2) size += METRIC == 1 ? factor * factor : factor;
    }
    for (int half = 16; half > 0; half /= 2) {
        const double other = __shfl_xor_sync(ALL_LANES, size, half);
        if (METRIC != 2) size += other;
    }
    if (lane > 0) return;
    const double floor = 1.1 * 3.0 * UNIT * (METRIC == 1 ? sqrt(size) : size) + 1e-30;
    const double growth = 1.1 * UNIT * (sizes[mask] + 4.0);
    errors[mask].floor = __double2float_ru(2.0 * floor * (1.0 + 8.0 * UNIT));
    errors[mask].growth = __double2float_ru((1.0 + 2.0 * growth) * (1.0 + 8.0 * UNIT));
}

// Sum over the threads of a block, for its first thread.
__device__ double block_sum(double value, double* scratch)
{
    for (int half = 16; half > 0; half /= 2) value += __shfl_down_sync(ALL_LANES, value, half);
    __syncthreads();
    if (threadIdx.x % 32 == 0) scratch[threadIdx.x / 32] = value;
    __syncthreads();
    double total = 0.0;
    if (threadIdx.x == 0)
        for (int w = 0; w < blockDim.x / 32; w++) total += scratch[w];
    return total;
}

// For each mask and sample: its selected features, scaled, in a row of 4 * `words`; its sort keys, the distances to pivots
// (Chebyshev: the value of one feature), whose differences bound distances from below; and its distance to the nearest
// point of the grid of levels.
extern "C" __global__ __launch_bounds__(256)
void arrange(const float* __restrict__ columns, int n, int n_padded, const int* __restrict__ selections,
             const float* __restrict__ scales, const int* __restrict__ sizes, int widest, int words,
             const int* __restrict__ pivots, const int* __restrict__ leads, float span, float step, float levels,
             float4* __restrict__ rows, float* __restrict__ keys, float* __restrict__ blurs, int* __restrict__ most_blur,
             int* __restrict__ most_key, double* __restrict__ moments)
{
    __shared__ double scratch[8];
    __shared__ float turned[256][17];
    const int mask = blockIdx.y, q = sizes[mask], sample = blockIdx.x * 256 + threadIdx.x;
    const int* selected = selections + (long long)mask * widest;
    const float* scale = scales + (long long)mask * widest;
    const bool inside = sample < n;
    const int at = inside ? sample : 0;
    float key[KEYS], blur = 0.0f;
    const float per_step = __fdiv_rn(1.0f, step);
    #pragma unroll
    for (int p = 0; p < KEYS; p++) key[p] = 0.0f;
    for (int first = 0; first < q; first += 16) {
        #pragma unroll
        for (int i = 0; i < 16; i++) {
            float value = 0.0f;
            if (first + i < q) {
                const float* column = columns + (long long)selected[first + i] * n_padded;
                const float factor = scale[first + i];
                value = column[at] * factor;
#if METRIC == 2
                if (first + i == leads[mask]) key[0] = value;
#else
                #pragma unroll
                for (int p = 0; p < KEYS; p++) key[p] = added(key[p], value, column[pivots[p]] * factor);
#endif
                const float level = level_of(value, span, per_step, levels);
                blur = added(blur, value, __fsub_rn(__fmul_rn(level, step), span));
            }
            turned[threadIdx.x][i] = value;
        }
        __syncthreads();
        // Four lanes write four words of a row.
        const int word = first / 4 + threadIdx.x % 4;
        for (int r = threadIdx.x / 4; r < 256; r += 64)
            if (blockIdx.x * 256 + r < n && word < words) {
                const float* from = &turned[r][threadIdx.x % 4 * 4];
                rows[((long long)mask * n + blockIdx.x * 256 + r) * words + word] = make_float4(from[0], from[1], from[2], from[3]);
            }
        __syncthreads();
    }
#if METRIC == 1
    blur = sqrtf(blur);
    for (int p = 0; p < KEYS; p++) key[p] = sqrtf(key[p]);
#endif
    // A generous allowance for rounding to the level, back, and in the sum.
    blur = blur * 1.001f + (METRIC == 2 ? 1.0f : (float)q) * 4.8e-7f;
    if (inside) {
        blurs[(long long)mask * n + sample] = blur;
        #pragma unroll
        for (int p = 0; p < KEYS; p++) keys[((long long)mask * n_padded + sample) * KEYS + p] = key[p];
    }
    float most = inside ? blur : 0.0f, farthest = 0.0f;
    #pragma unroll
    for (int p = 0; p < KEYS; p++) farthest = fmaxf(farthest, inside ? fabsf(key[p]) : 0.0f);
    for (int half = 16; half > 0; half /= 2) {
        most = fmaxf(most, __shfl_xor_sync(ALL_LANES, most, half));
        farthest = fmaxf(farthest, __shfl_xor_sync(ALL_LANES, farthest, half));
    }
    if (threadIdx.x % 32 == 0) {
        atomicMax(&most_blur[mask], __float_as_int(most));
        atomicMax(&most_key[mask], __float_as_int(farthest));
    }
    #pragma unroll
    for (int p = 0; p < KEYS; p++) {
        const double value = inside ? key[p] : 0.0;
        const double sum = block_sum(value, scratch), squares = block_sum(value * value, scratch);
        if (threadIdx.x == 0) {
            atomicAdd(&moments[(mask * KEYS + p) * 2], sum);
            atomicAdd(&moments[(mask * KEYS + p) * 2 + 1], squares);
        }
    }
}

// The key of largest variance: sorting by it gives the shortest windows.
__device__ int widest_key(const double* moments, int n)
{
    int best = 0;
    double spread = -1.0;
    for (int p = 0; p < KEYS; p++) {
        double mean = moments[2 * p] / n, variance = moments[2 * p + 1] / n - mean * mean;
        if (variance > spread) { spread = variance; best = p; }
    }
    return best;
}

// For each mask: sort the samples by key in the shared memory of one block.
extern "C" __global__ __launch_bounds__(1024)
void sort_samples(const float* __restrict__ keys, const double* __restrict__ moments, int n, int n_padded, int n_sorted,
                 int* __restrict__ order, float* __restrict__ sorted_keys)
{
    extern __shared__ float sort_memory[];
    float* key = sort_memory;
    int* sample = (int*)(sort_memory + n_sorted);
    const int mask = blockIdx.x;
    keys += (long long)mask * n_padded * KEYS + widest_key(moments + mask * KEYS * 2, n);
    for (int i = threadIdx.x; i < n_sorted; i += blockDim.x) {
        key[i] = i < n ? keys[i * KEYS] : INFINITY;
        sample[i] = i;
    }
    for (int size = 2; size <= n_sorted; size *= 2)
        for (int stride = size / 2; stride > 0; stride /= 2) {
            __syncthreads();
            for (int t = threadIdx.x; t < n_sorted / 2; t += blockDim.x) {
                int i = 2 * t - (t & (stride - 1)), j = i + stride;
                bool ascending = (i & size) == 0;
                float one = key[i], other = key[j];
                if ((one > other) == ascending && one != other) {
                    key[i] = other; key[j] = one;
                    int e = sample[i]; sample[i] = sample[j]; sample[j] = e;
                }
            }
        }
    __syncthreads();
    for (int i = threadIdx.x; i < n_padded; i += blockDim.x) {
        order[(long long)mask * n_padded + i] = i < n ? sample[i] : -1;
        sorted_keys[(long long)mask * n_padded + i] = i < n ? key[i] : INFINITY;
    }
}

// The sort keys, if there are too many samples for shared memory.
extern "C" __global__ __launch_bounds__(256)
void choose_keys(const float* __restrict__ keys, const double* __restrict__ moments, int n, int n_padded,
                 float* __restrict__ chosen)
{
    const int mask = blockIdx.y, i = blockIdx.x * 256 + threadIdx.x;
    if (i >= n_padded) return;
    keys += (long long)mask * n_padded * KEYS + widest_key(moments + mask * KEYS * 2, n);
    chosen[(long long)mask * n_padded + i] = i < n ? keys[i * KEYS] : INFINITY;
}

// The positions of the samples of the folds from low up to high, ascending. One block per mask.
extern "C" __global__ __launch_bounds__(1024)
void list_places(const int* __restrict__ order, int n, int n_padded, const int* __restrict__ folds, int low,
                 int high, int* __restrict__ places)
{
    __shared__ int before[1025];
    order += (long long)blockIdx.x * n_padded;
    const int run = (n + blockDim.x - 1) / blockDim.x, first = threadIdx.x * run, last = min(n, first + run);
    int count = 0;
    for (int i = first; i < last; i++) count += folds[order[i]] >= low && folds[order[i]] < high;
    before[threadIdx.x + 1] = count;
    if (threadIdx.x == 0) before[0] = 0;
    __syncthreads();
    if (threadIdx.x == 0)
        for (int t = 0; t < blockDim.x; t++) before[t + 1] += before[t];
    __syncthreads();
    int at = before[threadIdx.x];
    for (int i = first; i < last; i++)
        if (folds[order[i]] >= low && folds[order[i]] < high) places[(long long)blockIdx.x * n + at++] = i;
}

// Samples of other folds near each sample by all features: guesses of its neighbors under any mask. One block per sample;
// each thread keeps the two nearest it has seen.
extern "C" __global__ __launch_bounds__(128)
void guess(const float* __restrict__ columns, int n, int n_padded, int n_features, const float* __restrict__ scales,
           const int* __restrict__ folds, int* __restrict__ guesses)
{
    __shared__ unsigned long long nearest[256];
    const int sample = blockIdx.x;
    const unsigned long long none = ~0ull;
    unsigned long long first = none, second = none;
    for (int other = threadIdx.x; other < n; other += 128) {
        if (folds[other] == folds[sample]) continue;
        float total = 0.0f;
        for (int f = 0; f < n_features; f++) {
            const float* column = columns + (long long)f * n_padded;
            total = added(total, column[sample] * scales[f], column[other] * scales[f]);
        }
        const unsigned long long found = (unsigned long long)__float_as_uint(total) << 32 | (unsigned)other;
        if (found < first) { second = first; first = found; }
        else if (found < second) second = found;
    }
    nearest[2 * threadIdx.x] = first;
    nearest[2 * threadIdx.x + 1] = second;
    __syncthreads();
    if (threadIdx.x >= 32) return;
    for (int g = 0; g < GUESSES; g++) {
        unsigned long long best = none;
        for (int s = threadIdx.x; s < 256; s += 32) best = min(best, nearest[s]);
        for (int half = 16; half > 0; half /= 2) best = min(best, __shfl_xor_sync(ALL_LANES, best, half));
        for (int s = threadIdx.x; s < 256; s += 32)
            if (nearest[s] == best) nearest[s] = none;
        __syncwarp();
        if (threadIdx.x == 0) guesses[(long long)sample * GUESSES + g] = best == none ? -1 : (int)(best & 0xffffffffu);
    }
}


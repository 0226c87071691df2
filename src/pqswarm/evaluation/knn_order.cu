// Kernels of _knn_cuda.py; K, METRIC (0 Manhattan, 1 Euclidean, 2 Chebyshev) and LIST are given when they are compiled.
#define INFINITY __int_as_float(0x7f800000)
#define SIDE 128               // events in a tile, both ways
#define CHUNK 16               // features in a tile
#define HALF_TILE (SIDE * (SIDE / 2 + 1))
#define THREADS 256
#define PIVOTS 4
#define FAR 1e18f             // coordinate of events that only fill a tile
#define UNIT 5.9604644775390625e-8

__device__ __forceinline__ float added(float total, float a, float b)
{
    float d = a - b;
#if METRIC == 0
    return total + fabsf(d);
#elif METRIC == 1
    return fmaf(d, d, total);
#else
    return fmaxf(total, fabsf(d));
#endif
}

// The largest single-precision distance that may be as small as `distance` in truth (squares if Euclidean).
__device__ __forceinline__ float with_error(double distance, double floor_, double growth)
{
#if METRIC == 1
    double root = sqrt(distance);
    root += 2.0 * (floor_ + growth * root);
    return __double2float_ru(root * root * (1.0 + 8.0 * UNIT));
#else
    return __double2float_ru((distance + 2.0 * (floor_ + growth * distance)) * (1.0 + 8.0 * UNIT));
#endif
}

// Distance in double precision, term by term, as the processor does it.
__device__ double exactly(const double* a, const double* b, const int* selected, int q)
{
    double total = 0.0;
    for (int f = 0; f < q; f++) {
        double d = fabs(__dsub_rn(a[selected[f]], b[selected[f]]));
#if METRIC == 0
        total = __dadd_rn(total, d);
#elif METRIC == 1
        total = __dadd_rn(total, __dmul_rn(d, d));
#else
        total = fmax(total, d);
#endif
    }
    return total;
}

__device__ __forceinline__ void insert(double d, int event, double* distances, int* chosen)
{
    if (d > distances[K - 1] || (d == distances[K - 1] && event > chosen[K - 1])) return;
    int a = K - 1;
    while (a > 0 && (d < distances[a - 1] || (d == distances[a - 1] && event < chosen[a - 1]))) {
        distances[a] = distances[a - 1];
        chosen[a] = chosen[a - 1];
        a--;
    }
    distances[a] = d;
    chosen[a] = event;
}

// The label that most of the chosen events have, the smallest of those.
__device__ int vote(const int* chosen, const int* labels)
{
    int winner = -1, most = 0;
    for (int a = 0; a < K; a++) {
        int label = labels[chosen[a]], votes = 0;
        for (int b = 0; b < K; b++) votes += labels[chosen[b]] == label;
        if (votes > most || (votes == most && label < winner)) { most = votes; winner = label; }
    }
    return winner;
}

// Keep the K smallest, ascending.
__device__ __forceinline__ void keep_smallest(float d, float* best)
{
    #pragma unroll
    for (int a = 0; a < K; a++) {
        float kept = best[a];
        bool smaller = d < kept;
        best[a] = smaller ? d : kept;
        d = smaller ? kept : d;
    }
}

// Where element j (0 to 7) of a thread's share lies in a tile: two runs of four, so that loads are of four at once.
__device__ __forceinline__ int place_of(int group, int j)
{
    return (j < 4 ? 0 : 60) + 4 * group + j;
}

// Sum over the threads of a block; all of them get it.
__device__ double block_sum(double value, double* scratch)
{
    for (int half = 16; half > 0; half /= 2) value += __shfl_down_sync(0xffffffff, value, half);
    __syncthreads();
    if (threadIdx.x % 32 == 0) scratch[threadIdx.x / 32] = value;
    __syncthreads();
    double total = 0.0;
    for (int w = 0; w < blockDim.x / 32; w++) total += scratch[w];
    return total;
}

// The key of an event by which events are sorted: its distance to a pivot, or under the Chebyshev distance one feature.
// Differences of keys bound distances from below.
__device__ float key_of(const float* columns, const int* selected, const float* scale, int q, int n_padded, int place,
                        int choice, const int* pivots)
{
#if METRIC == 2
    return columns[(long long)selected[choice] * n_padded + place] * scale[choice];
#else
    float total = 0.0f;
    for (int f = 0; f < q; f++) {
        const float* column = columns + (long long)selected[f] * n_padded;
        total = added(total, column[place] * scale[f], column[pivots[choice]] * scale[f]);
    }
#if METRIC == 1
    return sqrtf(total);
#else
    return total;
#endif
#endif
}

// For each subset: sort the events by the key that varies most, and list those to be tested, in that order.
extern "C" __global__ __launch_bounds__(1024)
void sort_events(const float* __restrict__ columns, const int* __restrict__ event_at, int n, int n_padded, int n_sorted,
                 const int* __restrict__ pivots, const int* __restrict__ selections, const float* __restrict__ scales,
                 const int* __restrict__ sizes, int widest, const int* __restrict__ folds, int tested_fold,
                 int* __restrict__ order, float* __restrict__ keys, int* __restrict__ rows, int* __restrict__ n_rows)
{
    extern __shared__ float sort_memory[];
    float* key = sort_memory;
    int* place = (int*)(sort_memory + n_sorted);
    __shared__ double scratch[32];
    __shared__ int before[1025];
    const int mask = blockIdx.x, q = sizes[mask];
    const int* selected = selections + (long long)mask * widest;
    const float* scale = scales + (long long)mask * widest;
    order += (long long)mask * n_padded;
    keys += (long long)mask * n_padded;
    rows += (long long)mask * n;

    if (n_sorted > 0) {
        int choice = 0;
        double widest_spread = -1.0;
        const int choices = METRIC == 2 ? q : PIVOTS;
        for (int c = 0; c < choices; c++) {
            double sum = 0.0, squares = 0.0;
            for (int i = threadIdx.x; i < n; i += blockDim.x) {
                double value = key_of(columns, selected, scale, q, n_padded, i, c, pivots);
                sum += value;
                squares += value * value;
            }
            sum = block_sum(sum, scratch) / n;
            squares = block_sum(squares, scratch) / n;
            if (squares - sum * sum > widest_spread) { widest_spread = squares - sum * sum; choice = c; }
        }
        for (int i = threadIdx.x; i < n_sorted; i += blockDim.x) {
            key[i] = i < n ? key_of(columns, selected, scale, q, n_padded, i, choice, pivots) : INFINITY;
            place[i] = i;
        }
        for (int size = 2; size <= n_sorted; size *= 2)
            for (int stride = size / 2; stride > 0; stride /= 2) {
                __syncthreads();
                for (int t = threadIdx.x; t < n_sorted / 2; t += blockDim.x) {
                    int i = 2 * t - (t & (stride - 1)), j = i + stride;
                    bool ascending = (i & size) == 0;
                    if ((key[i] > key[j]) == ascending && key[i] != key[j]) {
                        float k = key[i]; key[i] = key[j]; key[j] = k;
                        int e = place[i]; place[i] = place[j]; place[j] = e;
                    }
                }
            }
        __syncthreads();
    }
    for (int i = threadIdx.x; i < n_padded; i += blockDim.x) {
        order[i] = n_sorted > 0 && i < n ? place[i] : i;
        keys[i] = n_sorted > 0 && i < n ? key[i] : (n_sorted > 0 ? INFINITY : 0.0f);
    }
    __syncthreads();

    // Events to be tested keep their order: count them in runs, add the counts up, write.
    const int run = (n + blockDim.x - 1) / blockDim.x, first = threadIdx.x * run, last = min(n, first + run);
    int count = 0;
    for (int i = first; i < last; i++) count += tested_fold < 0 || folds[event_at[order[i]]] == tested_fold;
    before[threadIdx.x + 1] = count;
    if (threadIdx.x == 0) before[0] = 0;
    __syncthreads();
    if (threadIdx.x == 0)
        for (int t = 0; t < blockDim.x; t++) before[t + 1] += before[t];
    __syncthreads();
    int at = before[threadIdx.x];
    for (int i = first; i < last; i++)
        if (tested_fold < 0 || folds[event_at[order[i]]] == tested_fold) rows[at++] = i;
    if (threadIdx.x == 0) n_rows[mask] = before[blockDim.x];
}

// The selected features of each subset, scaled, with the events in their order.
extern "C" __global__
void gather(const float* __restrict__ columns, int n, int n_padded, const int* __restrict__ selections,
            const float* __restrict__ scales, const int* __restrict__ sizes, int widest, const int* __restrict__ order,
            float* __restrict__ sorted)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x, mask = blockIdx.y;
    if (i >= n_padded) return;
    int from = order[(long long)mask * n_padded + i];
    for (int f = 0; f < sizes[mask]; f++) {
        long long at = (long long)mask * widest + f;
        sorted[at * n_padded + i] = i < n ? columns[(long long)selections[at] * n_padded + from] * scales[at] : FAR;
    }
}


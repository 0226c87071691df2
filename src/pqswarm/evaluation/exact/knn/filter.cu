// Search limits of a sample.
struct Reach {
    float around;               // key difference beyond which there are no neighbors
    float near;                 // single-precision distance (squared if Euclidean) beyond which there are no neighbors
    int levels;                 // the same distance (squared) on the grid of levels
    unsigned short first, last; // tiles that hold its neighbors
};

// For each mask and place: the row of its sample as 8-bit levels, four per word; and its search limits, from the distances
// to its guesses. Four lanes per place.
extern "C" __global__ __launch_bounds__(256)
void limit(const float4* __restrict__ rows, int n, int n_padded, const int* __restrict__ sizes, int words,
           const int* __restrict__ order, const float* __restrict__ keys, const float* __restrict__ blurs,
           const int* __restrict__ most_blur, const int* __restrict__ most_key, const Error* __restrict__ errors, float span, float step, float levels,
           const int* __restrict__ guesses, const int* __restrict__ folds, int low, int high, const float* __restrict__ all_keys,
           unsigned* __restrict__ packed, Place* __restrict__ placed, float* __restrict__ placed_keys,
           Reach* __restrict__ reaches)
{
    const int mask = blockIdx.y, lane = threadIdx.x % 4, place = blockIdx.x * 64 + threadIdx.x / 4;
    const int q = sizes[mask], own_words = (q + 3) / 4, n_tiles = n_padded / SIDE;
    order += (long long)mask * n_padded;
    keys += (long long)mask * n_padded;
    rows += (long long)mask * n * words;
    const int sample = order[place];
    const float per_step = __fdiv_rn(1.0f, step);
    const float4* own = rows + (long long)max(sample, 0) * words;
    for (int w = lane; w < own_words; w += 4) {
        const float4 value = own[w];
        const unsigned level = (unsigned)level_of(value.x, span, per_step, levels) |
                               (unsigned)level_of(value.y, span, per_step, levels) << 8 |
                               (unsigned)level_of(value.z, span, per_step, levels) << 16 |
                               (unsigned)level_of(value.w, span, per_step, levels) << 24;
        packed[((long long)mask * words + w) * n_padded + place] = sample >= 0 ? level : 0u;
    }
    const long long at = (long long)mask * n_padded + place;
    if (lane == 0) placed[at] = sample >= 0 ? Place{sample, folds[sample]} : Place{-1, -1};
    if (lane < KEYS) placed_keys[at * KEYS + lane] = all_keys[((long long)mask * n_padded + max(sample, 0)) * KEYS + lane];
    // All lanes continue, since they cooperate; unused results are not written.
    float best[K];
    #pragma unroll
    for (int a = 0; a < K; a++) best[a] = INFINITY;
    for (int g = 0; g < GUESSES; g += 2) {
        const int2 other = *(const int2*)(guesses + (long long)max(sample, 0) * GUESSES + g);
        const float4 *one = rows + (long long)max(other.x, 0) * words, *two = rows + (long long)max(other.y, 0) * words;
        float to_one = 0.0f, to_two = 0.0f;
        for (int w = lane; w < own_words; w += 4) {
            to_one = added(to_one, own[w], one[w]);
            to_two = added(to_two, own[w], two[w]);
        }
        to_one = joined(to_one, ALL_LANES);
        to_two = joined(to_two, ALL_LANES);
        keep_smallest(other.x >= 0 ? to_one : INFINITY, best);
        keep_smallest(other.y >= 0 ? to_two : INFINITY, best);
    }
    if (sample < 0 || lane > 0 || folds[sample] < low || folds[sample] >= high) return;
    const Error error = errors[mask];
    const bool known = best[K - 1] < INFINITY;
    Reach reach;
    reach.near = known ? error.limit(best[K - 1]) : INFINITY;
    reach.around = INFINITY;
    reach.levels = 1 << 30;
    reach.first = 0;
    reach.last = (unsigned short)(n_tiles - 1);
    if (known) {
        const double farthest = __int_as_float(most_key[mask]);
        const double far = METRIC == 1 ? sqrt((double)reach.near) * (1.0 + 4.0 * UNIT) : (double)reach.near;
        const double key_error = error.floor + (error.growth - 1.0) * farthest;
        reach.around = __double2float_ru((far + key_error) * (1.0 + 4.0 * UNIT));
        const float low = __fsub_rd(keys[place], reach.around), high = __fadd_ru(keys[place], reach.around);
        int first = 0, last = n_tiles - 1, from = 0;
        while (first < last) {  // first tile that does not end below `low`
            int middle = (first + last) / 2;
            if (keys[min(middle * SIDE + SIDE - 1, n - 1)] < low) first = middle + 1;
            else last = middle;
        }
        from = first;
        last = n_tiles - 1;
        while (first < last) {  // last tile that does not start above `high`
            int middle = (first + last + 1) / 2;
            if (keys[middle * SIDE] > high) last = middle - 1;
            else first = middle;
        }
        reach.first = (unsigned short)from;
        reach.last = (unsigned short)first;
        // Grid distances exceed the true ones by at most both blurs.
        double grid = (far + error.floor + blurs[(long long)mask * n + sample] + __int_as_float(most_blur[mask])) / step;
        grid = (METRIC == 1 ? grid * grid : grid) * (1.0 + 1e-5) + 1e-3;
        reach.levels = (int)fmin(grid, 1073741824.0);
    }
    reaches[at] = reach;
}

#define GROUP 512

// Order the rows (places of tested samples) of each run of 512 by window width, so that rows filtered together need the
// same tiles. `places` is null if all samples are tested.
extern "C" __global__ __launch_bounds__(GROUP)
void group_rows(const Reach* __restrict__ reaches, const int* __restrict__ places, int n_rows, int n, int n_padded,
                int* __restrict__ grouped)
{
    __shared__ int widths[GROUP];
    const int mask = blockIdx.y, first = blockIdx.x * GROUP, here = min(GROUP, n_rows - first), thread = threadIdx.x;
    int place = 0, width = 0;
    if (thread < here) {
        place = places != nullptr ? places[(long long)mask * n + first + thread] : first + thread;
        const Reach reach = reaches[(long long)mask * n_padded + place];
        width = (reach.last - reach.first) * GROUP + thread;
        widths[thread] = width;
    }
    __syncthreads();
    if (thread >= here) return;
    int rank = 0;
    for (int other = 0; other < here; other++) rank += widths[other] < width;
    grouped[(long long)mask * n + first + rank] = place;
}

#if METRIC == 0
__device__ __forceinline__ unsigned on_grid(unsigned a, unsigned b, unsigned total)
{
    unsigned sum;
    asm("vabsdiff4.u32.u32.u32.add %0, %1, %2, %3;" : "=r"(sum) : "r"(a), "r"(b), "r"(total));
    return sum;
}
#elif METRIC == 1
__device__ __forceinline__ unsigned on_grid(unsigned a, unsigned b, unsigned total)
{
    const unsigned d = __vabsdiffu4(a, b);
    return __dp4a(d, d, total);
}
#else
__device__ __forceinline__ unsigned on_grid(unsigned a, unsigned b, unsigned total)
{
    return __vmaxu4(__vabsdiffu4(a, b), total);
}
#endif

#define CHUNK 16   // words of a tile in shared memory at a time

// Possible neighbors: one bit per pair of a row (a tested sample) and a place, in the tiles that can hold neighbors. A
// block processes 128 rows tile by tile; each thread holds 8 x 8 pairs in registers; a warp skips tiles that none of its
// 16 rows needs. In `bits`, byte b of a tile holds places 4 b ... 4 b + 3 and those 64 further on.
extern "C" __global__ __launch_bounds__(256, 2)
void filter(const unsigned* __restrict__ packed, int n_padded, const int* __restrict__ sizes, int words,
            const Reach* __restrict__ reaches, const int* __restrict__ places, int n_rows, int n, int first_row, int slab,
            unsigned char* __restrict__ bits)
{
    __shared__ __align__(16) unsigned one[CHUNK][SIDE], other[CHUNK][SIDE];
    __shared__ int row_place[SIDE], first_tile, last_tile;
    const int mask = blockIdx.y, thread = threadIdx.x, lane = thread % 32, n_tiles = n_padded / SIDE;
    const int column_group = thread % 16, row_group = thread / 16;
    const int block_row = first_row + blockIdx.x * SIDE, rows_here = min(SIDE, n_rows - block_row);
    const int own_words = (sizes[mask] + 3) / 4, n_chunks = (own_words + CHUNK - 1) / CHUNK;
    packed += (long long)mask * words * n_padded;
    reaches += (long long)mask * n_padded;
    if (thread == 0) { first_tile = n_tiles; last_tile = -1; }
    if (thread < SIDE) {
        const int row = block_row + min(thread, rows_here - 1);
        row_place[thread] = places[(long long)mask * n + row];
    }
    __syncthreads();

    // The 16 rows of a warp are adjacent, and so are the 8 of a thread.
    const int warp_row = thread / 32 * 16;
    int warp_first = n_tiles, warp_last = -1;
    if (warp_row + lane % 16 < rows_here) {
        const Reach reach = reaches[row_place[warp_row + lane % 16]];
        warp_first = reach.first;
        warp_last = reach.last;
    }
    for (int half = 8; half > 0; half /= 2) {
        warp_first = min(warp_first, __shfl_xor_sync(ALL_LANES, warp_first, half));
        warp_last = max(warp_last, __shfl_xor_sync(ALL_LANES, warp_last, half));
    }
    if (lane == 0) { atomicMin(&first_tile, warp_first); atomicMax(&last_tile, warp_last); }
    unsigned start[8];  // initial sums, so that those within the limit end below zero
    #pragma unroll
    for (int i = 0; i < 8; i++) {
        const int row = row_group * 8 + i;
        start[i] = row < rows_here ? -(unsigned)(reaches[row_place[row]].levels + 1) : 0u;
    }
    unsigned char* own_bits = bits + (((long long)mask * slab + blockIdx.x * SIDE + row_group * 8) * n_tiles) * 16 + column_group;
    __syncthreads();

    for (int tile = first_tile, begun = 0; tile <= last_tile; tile++) {
        unsigned total[8][8];
        #pragma unroll
        for (int i = 0; i < 8; i++)
            #pragma unroll
            for (int j = 0; j < 8; j++) total[i][j] = METRIC == 2 ? 0u : start[i];
        const bool needed = warp_first <= tile && tile <= warp_last;
        for (int chunk = 0; chunk < n_chunks; chunk++) {
            const int width = min(CHUNK, own_words - chunk * CHUNK);
            const unsigned* from = packed + (long long)chunk * CHUNK * n_padded;
            if (begun) __syncthreads();
            for (int i = thread; i < SIDE * width; i += 256) {
                if (!begun || n_chunks > 1) one[i / SIDE][i % SIDE] = from[(long long)(i / SIDE) * n_padded + row_place[i % SIDE]];
                other[i / SIDE][i % SIDE] = from[(long long)(i / SIDE) * n_padded + tile * SIDE + i % SIDE];
            }
            begun = 1;
            __syncthreads();
            if (!needed) continue;
            #pragma unroll 2
            for (int w = 0; w < width; w++) {
                unsigned a[8], b[8];
                *(uint4*)a = *(const uint4*)&one[w][row_group * 8];
                *(uint4*)(a + 4) = *(const uint4*)&one[w][row_group * 8 + 4];
                *(uint4*)b = *(const uint4*)&other[w][column_group * 4];
                *(uint4*)(b + 4) = *(const uint4*)&other[w][64 + column_group * 4];
                #pragma unroll
                for (int i = 0; i < 8; i++)
                    #pragma unroll
                    for (int j = 0; j < 8; j++) total[i][j] = on_grid(a[i], b[j], total[i][j]);
            }
        }
        if (!needed) continue;
        #pragma unroll
        for (int i = 0; i < 8; i++) {
            unsigned passed = 0;
            #pragma unroll
            for (int j = 7; j >= 0; j--) {
#if METRIC == 2
                const unsigned t = total[i][j];
                const unsigned most = max(max(t & 255u, t >> 8 & 255u), max(t >> 16 & 255u, t >> 24));
                passed = __funnelshift_l(most + start[i], passed, 1);
#else
                passed = __funnelshift_l(total[i][j], passed, 1);
#endif
            }
            if (row_group * 8 + i < rows_here) own_bits[((long long)i * n_tiles + tile) * 16] = (unsigned char)passed;
        }
    }
}


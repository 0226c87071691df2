#define WARPS 8
#define LIST 128   // near events that a warp remembers

// The smallest of all lanes' values, which are not negative.
__device__ __forceinline__ float warp_min(float value)
{
#if __CUDA_ARCH__ >= 800
    return __uint_as_float(__reduce_min_sync(ALL_LANES, __float_as_uint(value)));
#else
    for (int half = 16; half > 0; half /= 2) value = fminf(value, __shfl_xor_sync(ALL_LANES, value, half));
    return value;
#endif
}

// The K-th smallest of what lanes have, V values each.
template <int V> __device__ float kth_smallest(float (&own)[V], int lane)
{
    float smallest = INFINITY;
    for (int a = 0; a < K; a++) {
        float least = own[0];
        #pragma unroll
        for (int i = 1; i < V; i++) least = fminf(least, own[i]);
        smallest = warp_min(least);
        if (lane == __ffs(__ballot_sync(ALL_LANES, least == smallest)) - 1) {
            bool taken = false;
            #pragma unroll
            for (int i = 0; i < V; i++)
                if (!taken && own[i] == smallest) { own[i] = INFINITY; taken = true; }
        }
    }
    return smallest;
}

// Keep what rounding cannot tell from the K nearest, in place; returns how many that are. There are at least K.
__device__ __noinline__ int keep_near(float* near, int* found, int count, const Error& error, int lane)
{
    float limit;
    if (count <= 32) {
        float own[1] = {lane < count ? near[lane] : INFINITY};
        limit = error.limit(kth_smallest(own, lane));
    } else {
        float own[LIST / 32];
        #pragma unroll
        for (int i = 0; i < LIST / 32; i++) own[i] = i * 32 + lane < count ? near[i * 32 + lane] : INFINITY;
        limit = error.limit(kth_smallest(own, lane));
    }
    int kept = 0;
    for (int first = 0; first < count; first += 32) {
        const int s = first + lane, event = s < count ? found[s] : -1;
        const float d = s < count ? near[s] : INFINITY;
        const bool stays = s < count && d <= limit;
        const unsigned all = __ballot_sync(ALL_LANES, stays);
        if (stays) {
            const int at = kept + __popc(all & ((1u << lane) - 1));
            near[at] = d;
            found[at] = event;
        }
        kept += __popc(all);
        __syncwarp();
    }
    return kept;
}

// The K nearest of those that a lane has seen, in double precision, ties to the lower event.
struct Nearest {
    double distance[K];
    int event[K];

    __device__ __forceinline__ Nearest()
    {
        #pragma unroll
        for (int a = 0; a < K; a++) { distance[a] = INFINITY; event[a] = 0x7fffffff; }
    }

    __device__ __forceinline__ void take(double d, int e)
    {
        #pragma unroll
        for (int a = 0; a < K; a++)
            if (d < distance[a] || (d == distance[a] && e < event[a])) {
                double kept = distance[a]; distance[a] = d; d = kept;
                int other = event[a]; event[a] = e; e = other;
            }
    }

    // The nearest of all lanes, which is taken away from the lane that has it.
    __device__ __forceinline__ int pop(double& d)
    {
        d = distance[0];
        int e = event[0];
        for (int half = 16; half > 0; half /= 2) {
            double other = __shfl_xor_sync(ALL_LANES, d, half);
            int other_event = __shfl_xor_sync(ALL_LANES, e, half);
            if (other < d || (other == d && other_event < e)) { d = other; e = other_event; }
        }
        if (event[0] == e) {
            #pragma unroll
            for (int a = 0; a + 1 < K; a++) { distance[a] = distance[a + 1]; event[a] = event[a + 1]; }
            distance[K - 1] = INFINITY;
            event[K - 1] = 0x7fffffff;
        }
        return e;
    }
};

// The K nearest that were compared in double precision so far, by a warp.
struct Best {
    double distance[K];
    int event[K];
};

// Compare `count` events with one in double precision, and keep the K nearest in `best`, with those that are in it already
// if it is not empty.
__device__ __noinline__ void compare(const double* data, int n_features, int event, const int* found, int count,
                                     const int* selected, int q, Best* best, bool empty, int lane)
{
    Nearest nearest;
    if (!empty && lane < K) nearest.take(best->distance[lane], best->event[lane]);
    for (int s = lane; s < count; s += 32) {
        const double* other = data + (long long)found[s] * n_features;
        nearest.take(exactly(data + (long long)event * n_features, other, selected, q), found[s]);
    }
    __syncwarp();
    for (int a = 0; a < K; a++) {
        double d;
        const int chosen = nearest.pop(d);
        if (lane == 0) { best->distance[a] = d; best->event[a] = chosen; }
    }
    __syncwarp();
}

// The label that most of the lanes have that are set in `voters`, the smallest of those.
__device__ __forceinline__ int vote(int label, unsigned voters, int lane)
{
    int votes = 0;
    for (unsigned rest = voters; rest; rest &= rest - 1) votes += __shfl_sync(ALL_LANES, label, __ffs(rest) - 1) == label;
    int best = voters >> lane & 1 ? votes << 16 | (0xffff - label) : 0;
#if __CUDA_ARCH__ >= 800
    best = __reduce_max_sync(ALL_LANES, best);
#else
    for (int half = 16; half > 0; half /= 2) best = max(best, __shfl_xor_sync(ALL_LANES, best, half));
#endif
    return 0xffff - (best & 0xffff);
}

// The neighbours of each row among those that passed the filter, its vote, and the errors of each fold. A warp for each
// row. Who is too far by its keys is dropped. Distances of the others in single precision are kept in a short list; if it
// holds more than K that rounding cannot tell apart (ties), double precision decides.
extern "C" __global__ __launch_bounds__(32 * WARPS, K <= 5 ? 4 : 2)
void decide(const float4* __restrict__ rows, const double* __restrict__ data, int n_features, int n, int n_padded,
            const int* __restrict__ selections, const int* __restrict__ sizes, int widest, int words,
            const Error* __restrict__ errors, const Place* __restrict__ placed, const float* __restrict__ keys,
            const Reach* __restrict__ reaches, const int* __restrict__ places, int n_rows, int first_row, int slab,
            const unsigned* __restrict__ bits, const int* __restrict__ labels, int n_folds, int* __restrict__ counts,
            short* __restrict__ predicted)
{
    __shared__ unsigned short all_listed[WARPS][1024];
    __shared__ int all_waiting[WARPS][64], all_found[WARPS][LIST];
    __shared__ float all_near[WARPS][LIST];
    __shared__ Best bests[WARPS];
    const int mask = blockIdx.y, warp = threadIdx.x / 32, lane = threadIdx.x % 32, n_tiles = n_padded / SIDE;
    const int slab_row = blockIdx.x * WARPS + warp, row = first_row + slab_row;
    if (row >= n_rows) return;
    unsigned short* listed = all_listed[warp];
    int *waiting = all_waiting[warp], *found = all_found[warp];
    float* near = all_near[warp];
    const long long mask_place = (long long)mask * n_padded;
    placed += mask_place;
    keys += mask_place * KEYS;
    rows += (long long)mask * n * words;
    const int place = places[(long long)mask * n + row], q = sizes[mask], own_words = (q + 3) / 4;
    const int event = placed[place].event, own_fold = placed[place].fold;
    const int* selected = selections + (long long)mask * widest;
    const Reach reach = reaches[mask_place + place];
    const Error error = errors[mask];
    const float4* own = rows + (long long)event * words;
    const int n_words = (reach.last - reach.first + 1) * 4;
    const unsigned* own_bits = bits + (((long long)mask * slab + slab_row) * n_tiles + reach.first) * 4;
#if KEYS == 4
    const float4 own_keys = ((const float4*)keys)[place];
#endif
    int n_waiting = 0, n_found = 0;
    bool empty = true;  // whether none was compared in double precision yet
    // Find the distances of those that wait, at most 32: four at a time for each four lanes, so that memory has enough
    // to do.
    auto measure = [&]() {
        int other[4];
        float d[4];
        #pragma unroll
        for (int i = 0; i < 4; i++) {
            other[i] = lane / 4 + 8 * i < n_waiting ? waiting[lane / 4 + 8 * i] : -1;
            d[i] = 0.0f;
        }
        for (int w = lane % 4; w < own_words; w += 4) {
            const float4 mine = own[w];
            #pragma unroll
            for (int i = 0; i < 4; i++)
                if (8 * i < n_waiting) d[i] = added(d[i], mine, rows[(long long)(other[i] >= 0 ? other[i] : event) * words + w]);
        }
        #pragma unroll
        for (int i = 0; i < 4; i++) {
            if (8 * i >= n_waiting) break;
            d[i] = joined(d[i]);
            const bool stays = lane % 4 == 0 && other[i] >= 0 && d[i] <= reach.near;
            const unsigned all = __ballot_sync(ALL_LANES, stays);
            if (stays) {
                const int slot = n_found + __popc(all & ((1u << lane) - 1));
                near[slot] = d[i];
                found[slot] = other[i];
            }
            n_found += __popc(all);
        }
        __syncwarp();
        if (n_found > LIST - 32) {
            n_found = keep_near(near, found, n_found, error, lane);
            if (n_found > LIST - 32) {
                compare(data, n_features, event, found, n_found, selected, q, &bests[warp], empty, lane);
                empty = false;
                n_found = 0;
            }
        }
    };

    for (int first = 0; first < n_words; first += 32) {
        // List the bits that are set in 32 words.
        unsigned word = first + lane < n_words ? own_bits[first + lane] : 0u;
        const int set = __popc(word);
        int after = set;
        #pragma unroll
        for (int step = 1; step < 32; step *= 2) {
            const int below = __shfl_up_sync(ALL_LANES, after, step);
            if (lane >= step) after += below;
        }
        const int total = __shfl_sync(ALL_LANES, after, 31);
        for (int at = after - set; word; word &= word - 1) listed[at++] = (unsigned short)(lane * 32 + __ffs(word) - 1);
        __syncwarp();
        for (int begin = 0; begin < total; begin += 32) {
            bool stays = begin + lane < total;
            int other = -1;
            if (stays) {
                const int bit = listed[begin + lane] + first * 32;
                const int column = (reach.first + bit / SIDE) * SIDE + bit % SIDE / 8 * 4 + bit % 4 + (bit & 4) * 16;
                const Place there = placed[column];
                other = there.event;
                stays = other >= 0 && there.fold != own_fold;
#if KEYS == 4
                const float4 k = ((const float4*)keys)[column];
                const float apart = fmaxf(fmaxf(fabsf(k.x - own_keys.x), fabsf(k.y - own_keys.y)),
                                          fmaxf(fabsf(k.z - own_keys.z), fabsf(k.w - own_keys.w)));
                stays &= apart <= reach.around;
#endif
            }
            const unsigned all = __ballot_sync(ALL_LANES, stays);
            if (stays) waiting[n_waiting + __popc(all & ((1u << lane) - 1))] = other;
            n_waiting += __popc(all);
            __syncwarp();
            if (n_waiting >= 32) {
                const int later = lane + 32 < n_waiting ? waiting[lane + 32] : -1, left = n_waiting - 32;
                n_waiting = 32;
                measure();
                if (lane < left) waiting[lane] = later;
                n_waiting = left;
                __syncwarp();
            }
        }
    }
    if (n_waiting) measure();
    // As a rule a few are left, one for each lane, and K of them are nearer than all others.
    float own_near[1] = {lane < n_found ? near[lane] : INFINITY};
    const int own_found = lane < n_found ? found[lane] : event;
    const float limit = n_found <= 32 ? error.limit(kth_smallest(own_near, lane)) : INFINITY;
    unsigned voters = __ballot_sync(ALL_LANES, lane < n_found && near[lane] <= limit);
    int voter = own_found;
    if (!empty || n_found > 32 || __popc(voters) > K) {
        if (n_found > K) n_found = keep_near(near, found, n_found, error, lane);
        compare(data, n_features, event, found, n_found, selected, q, &bests[warp], empty, lane);
        voters = (1u << K) - 1;
        voter = bests[warp].event[min(lane, K - 1)];
    }
    const int winner = vote(labels[voter], voters, lane);
    if (lane == 0) {
        if (winner != labels[event]) atomicAdd(&counts[mask * n_folds + own_fold], 1);
        if (predicted != nullptr) predicted[(long long)mask * n + event] = (short)winner;
    }
}

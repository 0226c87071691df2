#define LANES 32                            // per row
#define ROWS (256 / LANES)                  // per block
#define LIST 128                            // near samples stored per row

// The lanes that share a row, and their communication.
struct Team {
    int lane;           // of this thread in the team
    int shift;          // the first lane of the team in the warp
    unsigned lanes;     // mask of all lanes

    __device__ __forceinline__ Team()
    {
        lane = threadIdx.x % LANES;
        shift = threadIdx.x % 32 - lane;
        lanes = ALL_LANES >> (32 - LANES) << shift;
    }
    __device__ __forceinline__ unsigned ballot(bool yes) const { return (__ballot_sync(lanes, yes) & lanes) >> shift; }
    __device__ __forceinline__ int before(unsigned votes) const { return __popc(votes & ((1u << lane) - 1)); }
    __device__ __forceinline__ void sync() const { __syncwarp(lanes); }
    __device__ __forceinline__ int from(int value, int other) const { return __shfl_sync(lanes, value, other, LANES); }
    __device__ __forceinline__ float min(float value) const
    {
        for (int half = LANES / 2; half > 0; half /= 2) value = fminf(value, __shfl_xor_sync(lanes, value, half, LANES));
        return value;
    }
    __device__ __forceinline__ int max(int value) const
    {
        for (int half = LANES / 2; half > 0; half /= 2) value = ::max(value, __shfl_xor_sync(lanes, value, half, LANES));
        return value;
    }
    __device__ __forceinline__ int sum_up_to(int value) const
    {
        for (int step = 1; step < LANES; step *= 2) {
            const int below = __shfl_up_sync(lanes, value, step, LANES);
            if (lane >= step) value += below;
        }
        return value;
    }
};

// Keep, in place, the samples that rounding cannot separate from the K nearest; return their number, at least K.
__device__ __noinline__ int keep_near(float* near, int* found, int count, const Error& error, const Team team)
{
    float own[LIST / LANES], smallest = INFINITY;
    #pragma unroll
    for (int i = 0; i < LIST / LANES; i++) own[i] = i * LANES + team.lane < count ? near[i * LANES + team.lane] : INFINITY;
    for (int a = 0; a < K; a++) {
        float lowest = own[0];
        #pragma unroll
        for (int i = 1; i < LIST / LANES; i++) lowest = fminf(lowest, own[i]);
        smallest = team.min(lowest);
        if (team.lane == __ffs(team.ballot(lowest == smallest)) - 1) {
            bool taken = false;
            #pragma unroll
            for (int i = 0; i < LIST / LANES; i++)
                if (!taken && own[i] == smallest) { own[i] = INFINITY; taken = true; }
        }
    }
    const float limit = error.limit(smallest);
    int kept = 0;
    for (int first = 0; first < count; first += LANES) {
        const int s = first + team.lane, sample = s < count ? found[s] : -1;
        const float d = s < count ? near[s] : INFINITY;
        const bool stays = s < count && d <= limit;
        const unsigned all = team.ballot(stays);
        if (stays) {
            near[kept + team.before(all)] = d;
            found[kept + team.before(all)] = sample;
        }
        kept += __popc(all);
        team.sync();
    }
    return kept;
}

// The K nearest samples seen by a lane, in double precision, with ties to the lower sample.
struct Nearest {
    double distance[K];
    int sample[K];

    __device__ __forceinline__ Nearest()
    {
        #pragma unroll
        for (int a = 0; a < K; a++) { distance[a] = INFINITY; sample[a] = 0x7fffffff; }
    }

    __device__ __forceinline__ void take(double d, int e)
    {
        #pragma unroll
        for (int a = 0; a < K; a++)
            if (d < distance[a] || (d == distance[a] && e < sample[a])) {
                double kept = distance[a]; distance[a] = d; d = kept;
                int other = sample[a]; sample[a] = e; e = other;
            }
    }

    // The nearest of all lanes is removed from its lane.
    __device__ __forceinline__ int pop(double& d, const Team& team)
    {
        d = distance[0];
        int e = sample[0];
        for (int half = LANES / 2; half > 0; half /= 2) {
            double other = __shfl_xor_sync(team.lanes, d, half, LANES);
            int other_sample = __shfl_xor_sync(team.lanes, e, half, LANES);
            if (other < d || (other == d && other_sample < e)) { d = other; e = other_sample; }
        }
        if (sample[0] == e) {
            #pragma unroll
            for (int a = 0; a + 1 < K; a++) { distance[a] = distance[a + 1]; sample[a] = sample[a + 1]; }
            distance[K - 1] = INFINITY;
            sample[K - 1] = 0x7fffffff;
        }
        return e;
    }
};

// The K nearest samples of a row compared in double precision so far.
struct Best {
    double distance[K];
    int sample[K];
};

// Compare `count` samples with one in double precision, and keep the K nearest in `best`, together with its entries if it
// is not empty.
__device__ __noinline__ void compare(const double* data, int n_features, int sample, const int* found, int count,
                                     const int* selected, int q, Best* best, bool empty, const Team team)
{
    Nearest nearest;
    for (int a = team.lane; !empty && a < K; a += LANES) nearest.take(best->distance[a], best->sample[a]);
    for (int s = team.lane; s < count; s += LANES) {
        const double* other = data + (long long)found[s] * n_features;
        nearest.take(exactly(data + (long long)sample * n_features, other, selected, q), found[s]);
    }
    team.sync();
    for (int a = 0; a < K; a++) {
        double d;
        const int chosen = nearest.pop(d, team);
        if (team.lane == 0) { best->distance[a] = d; best->sample[a] = chosen; }
    }
    team.sync();
}

// The most frequent label of the K chosen samples; of equal votes the smallest.
__device__ __forceinline__ int vote(const int* chosen, const int* labels, const Team& team)
{
    int best = 0;
    for (int first = 0; first < K; first += LANES) {
        const int own = first + team.lane, label = own < K ? labels[chosen[own]] : -1;
        int votes = 0;
        for (int a = 0; a < K; a++) votes += labels[chosen[a]] == label;
        best = max(best, own < K ? votes << 16 | (0xffff - label) : 0);
    }
    return 0xffff - (team.max(best) & 0xffff);
}

// The neighbors of each row among the samples that passed the filter, its vote, and the errors of each fold. One team of
// lanes per row. Samples too far by their keys are dropped. Single-precision distances of the others are kept in a short
// list; if rounding cannot separate more than K of them (ties), double precision decides.
extern "C" __global__ __launch_bounds__(256, K <= 5 ? 4 : 2)
void decide(const float4* __restrict__ rows, const double* __restrict__ data, int n_features, int n, int n_padded,
            const int* __restrict__ selections, const int* __restrict__ sizes, int widest, int words,
            const Error* __restrict__ errors, const Place* __restrict__ placed, const float* __restrict__ keys,
            const Reach* __restrict__ reaches, const int* __restrict__ places, int n_rows, int first_row, int slab,
            const unsigned* __restrict__ bits, const int* __restrict__ labels, int n_folds, int* __restrict__ counts,
            short* __restrict__ predicted)
{
    __shared__ unsigned short all_listed[ROWS][32 * LANES];
    __shared__ int all_waiting[ROWS][2 * LANES], all_found[ROWS][LIST];
    __shared__ float all_near[ROWS][LIST];
    __shared__ Best bests[ROWS];
    const Team team;
    const int mask = blockIdx.y, at_row = threadIdx.x / LANES, n_tiles = n_padded / SIDE;
    const int slab_row = blockIdx.x * ROWS + at_row, row = first_row + slab_row;
    if (row >= n_rows) return;
    unsigned short* listed = all_listed[at_row];
    int *waiting = all_waiting[at_row], *found = all_found[at_row];
    float* near = all_near[at_row];
    const long long mask_place = (long long)mask * n_padded;
    placed += mask_place;
    keys += mask_place * KEYS;
    rows += (long long)mask * n * words;
    const int place = places[(long long)mask * n + row], q = sizes[mask], own_words = (q + 3) / 4;
    const int sample = placed[place].sample, own_fold = placed[place].fold;
    const int* selected = selections + (long long)mask * widest;
    const Reach reach = reaches[mask_place + place];
    const Error error = errors[mask];
    const float4* own = rows + (long long)sample * words;
    const int n_words = (reach.last - reach.first + 1) * 4;
    const unsigned* own_bits = bits + (((long long)mask * slab + slab_row) * n_tiles + reach.first) * 4;
#if KEYS == 4
    const float4 own_keys = ((const float4*)keys)[place];
#endif
    int n_waiting = 0, n_found = 0;
    bool empty = true;  // nothing compared in double precision yet

    // Distances of the first LANES waiting samples: four at a time per four lanes, to keep memory busy.
    auto measure = [&]() {
        int other[4];
        float d[4];
        #pragma unroll
        for (int i = 0; i < 4; i++) {
            const int at = team.lane / 4 + LANES / 4 * i;
            other[i] = at < n_waiting ? waiting[at] : -1;
            d[i] = 0.0f;
        }
        for (int w = team.lane % 4; w < own_words; w += 4) {
            const float4 mine = own[w];
            #pragma unroll
            for (int i = 0; i < 4; i++)
                if (other[i] >= 0) d[i] = added(d[i], mine, rows[(long long)other[i] * words + w]);
        }
        #pragma unroll
        for (int i = 0; i < 4; i++) {
            d[i] = joined(d[i], team.lanes);
            const bool stays = team.lane % 4 == 0 && other[i] >= 0 && d[i] <= reach.near;
            const unsigned all = team.ballot(stays);
            if (stays) {
                near[n_found + team.before(all)] = d[i];
                found[n_found + team.before(all)] = other[i];
            }
            n_found += __popc(all);
        }
        team.sync();
        if (n_found > LIST - LANES) {
            n_found = keep_near(near, found, n_found, error, team);
            if (n_found > LIST - LANES) {
                compare(data, n_features, sample, found, n_found, selected, q, &bests[at_row], empty, team);
                empty = false;
                n_found = 0;
            }
        }
    };

    for (int first = 0; first < n_words; first += LANES) {
        // List the set bits of the next words, one word per lane.
        unsigned word = first + team.lane < n_words ? own_bits[first + team.lane] : 0u;
        if (!team.ballot(word != 0)) continue;
        const int set = __popc(word), after = team.sum_up_to(set), total = team.from(after, LANES - 1);
        for (int at = after - set; word; word &= word - 1) listed[at++] = (unsigned short)(team.lane * 32 + __ffs(word) - 1);
        team.sync();
        for (int start = 0; start < total; start += LANES) {
            bool stays = start + team.lane < total;
            int other = -1;
            if (stays) {
                const int bit = listed[start + team.lane] + first * 32;
                const int column = (reach.first + bit / SIDE) * SIDE + bit % SIDE / 8 * 4 + bit % 4 + (bit & 4) * 16;
                const Place there = placed[column];
                other = there.sample;
                stays = other >= 0 && there.fold != own_fold;
#if KEYS == 4
                const float4 k = ((const float4*)keys)[column];
                const float apart = fmaxf(fmaxf(fabsf(k.x - own_keys.x), fabsf(k.y - own_keys.y)),
                                          fmaxf(fabsf(k.z - own_keys.z), fabsf(k.w - own_keys.w)));
                stays &= apart <= reach.around;
#endif
            }
            const unsigned all = team.ballot(stays);
            if (stays) waiting[n_waiting + team.before(all)] = other;
            n_waiting += __popc(all);
            team.sync();
            if (n_waiting >= LANES) {
                measure();
                n_waiting -= LANES;
                const int later = waiting[LANES + team.lane];
                team.sync();
                waiting[team.lane] = later;
                team.sync();
            }
        }
    }
    if (n_waiting) measure();
    if (n_found > K) n_found = keep_near(near, found, n_found, error, team);
    const int* chosen = found;
    if (!empty || n_found > K) {
        compare(data, n_features, sample, found, n_found, selected, q, &bests[at_row], empty, team);
        chosen = bests[at_row].sample;
    }
    const int winner = vote(chosen, labels, team);
    if (team.lane == 0) {
        if (winner != labels[sample]) atomicAdd(&counts[mask * n_folds + own_fold], 1);
        if (predicted != nullptr) predicted[(long long)mask * n + sample] = (short)winner;
    }
}

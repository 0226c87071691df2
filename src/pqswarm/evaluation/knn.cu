extern "C" __global__ __launch_bounds__(THREADS, 2)
void neighbours(const float* __restrict__ sorted, const double* __restrict__ data, const int* __restrict__ event_at,
                const int* __restrict__ order, const float* __restrict__ keys, const int* __restrict__ row_lists,
                const int* __restrict__ n_rows, int n_padded, int n_features, const int* __restrict__ selections,
                const int* __restrict__ sizes, int widest, const double* __restrict__ floors,
                const int* __restrict__ folds, const int* __restrict__ labels, int n, int n_folds,
                int* __restrict__ counts, short* __restrict__ predicted, int* __restrict__ overflowed,
                int* __restrict__ n_overflowed)
{
    extern __shared__ float memory[];
    float* tiles = memory;                  // two buffers of CHUNK x (rows, columns)
    float* half_tile = memory;              // SIDE x (SIDE / 2 + 1), while no tile is in use
    float* near = memory + HALF_TILE;       // SIDE x LIST
    int* found = (int*)(near + SIDE * LIST);
    __shared__ float limits[SIDE];
    __shared__ int filled[SIDE], row_event[SIDE], row_fold[SIDE], column_event[SIDE], column_fold[SIDE];
    __shared__ int wanted[SIDE], reaches[2];

    const int mask = blockIdx.y, thread = threadIdx.x, lane = thread % SIDE, parity = thread / SIDE;
    const int first_row = blockIdx.x * SIDE, rows_here = min(SIDE, n_rows[mask] - first_row);
    if (rows_here <= 0) return;
    const int q = sizes[mask], n_tiles = n_padded / SIDE;
    const int* rows = row_lists + (long long)mask * n + first_row;
    const float* own_columns = sorted + (long long)mask * widest * n_padded;
    order += (long long)mask * n_padded;
    keys += (long long)mask * n_padded;
    const double floor_ = floors[mask], growth = 1.1 * UNIT * (q + 4.0);
    const int column_group = thread % 16, row_group = thread / 16;

    const float low = keys[rows[0]], high = keys[rows[rows_here - 1]];
    const double key_error = 2.0 * (floor_ + growth * fmax(fabs((double)keys[0]), fabs((double)keys[n - 1])));
    int tile = rows[rows_here / 2] / SIDE, left = tile - 1, right = tile + 1;

    if (thread < SIDE) {
        bool inside = thread < rows_here;
        row_event[thread] = inside ? event_at[order[rows[thread]]] : -1;
        row_fold[thread] = inside ? folds[row_event[thread]] : -1;
        filled[thread] = wanted[thread] = 0;
        limits[thread] = -1.0f;
    }
    if (thread < 2) reaches[thread] = 0;
    const int row_place = rows[min(lane, rows_here - 1)];
    const int n_chunks = (q + CHUNK - 1) / CHUNK;
    float next_rows[CHUNK / 2], next_columns[CHUNK / 2], total[8][8];

    // The next tile, the nearer of both sides, or -1 if all that is left is too far by its keys.
    auto next_tile = [&](double reach) {
        float to_left = left >= 0 ? low - keys[left * SIDE + SIDE - 1] : INFINITY;
        float to_right = right < n_tiles ? keys[right * SIDE] - high : INFINITY;
        if (left < 0 && right >= n_tiles) return -1;
        bool go_left = left >= 0 && (right >= n_tiles || to_left <= to_right);
        if ((double)(go_left ? to_left : to_right) > reach + key_error) return -1;
        return go_left ? left-- : right++;
    };
    // Fetch the values of a chunk into registers; each thread takes every other feature of one row and one column.
    auto fetch = [&](int at_tile, int chunk) {
        #pragma unroll
        for (int i = 0; i < CHUNK / 2; i++) {
            int f = chunk * CHUNK + parity + 2 * i;
            next_rows[i] = next_columns[i] = 0.0f;
            if (f < q) {
                const float* column = own_columns + (long long)f * n_padded;
                next_rows[i] = column[row_place];
                next_columns[i] = column[at_tile * SIDE + lane];
            }
        }
    };
    auto put = [&](int buffer) {
        float* to = tiles + buffer * (CHUNK * 2 * SIDE);
        #pragma unroll
        for (int i = 0; i < CHUNK / 2; i++) {
            to[(parity + 2 * i) * 2 * SIDE + lane] = next_rows[i];
            to[(parity + 2 * i) * 2 * SIDE + SIDE + lane] = next_columns[i];
        }
    };

    int buffer = 0, following = -1;
    double reach = INFINITY;
    fetch(tile, 0);
    put(0);
    __syncthreads();
    for (int number = 0; tile >= 0; number++) {
        following = next_tile(reach);
        if (thread < SIDE) {
            int at = tile * SIDE + thread;
            column_event[thread] = at < n ? event_at[order[at]] : -1;
            column_fold[thread] = at < n ? folds[column_event[thread]] : -1;
        }
        #pragma unroll
        for (int i = 0; i < 8; i++)
            #pragma unroll
            for (int j = 0; j < 8; j++) total[i][j] = 0.0f;
        for (int chunk = 0; chunk < n_chunks; chunk++) {
            const bool more = chunk + 1 < n_chunks || following >= 0;
            if (more) fetch(chunk + 1 < n_chunks ? tile : following, chunk + 1 < n_chunks ? chunk + 1 : 0);
            const float* now = tiles + buffer * (CHUNK * 2 * SIDE);
            const int width = min(CHUNK, q - chunk * CHUNK);
            #pragma unroll 2
            for (int f = 0; f < width; f++) {
                const float* own = now + f * 2 * SIDE;
                float4 a = *(const float4*)(own + 4 * row_group), b = *(const float4*)(own + 64 + 4 * row_group);
                float4 c = *(const float4*)(own + SIDE + 4 * column_group);
                float4 d = *(const float4*)(own + SIDE + 64 + 4 * column_group);
                float one[8] = {a.x, a.y, a.z, a.w, b.x, b.y, b.z, b.w};
                float other[8] = {c.x, c.y, c.z, c.w, d.x, d.y, d.z, d.w};
                #pragma unroll
                for (int i = 0; i < 8; i++)
                    #pragma unroll
                    for (int j = 0; j < 8; j++) total[i][j] = added(total[i][j], one[i], other[j]);
            }
            if (chunk + 1 < n_chunks) {
                buffer ^= 1;
                put(buffer);
                __syncthreads();
            }
        }
        __syncthreads();

        if (number == 0) {
            // How far the K-th neighbour can be at most: learnt from the first tile, one half after the other.
            float best[K];
            #pragma unroll
            for (int a = 0; a < K; a++) best[a] = INFINITY;
            for (int half = 0; half < 2; half++) {
                if (half) __syncthreads();
                #pragma unroll
                for (int i = 0; i < 8; i++)
                    #pragma unroll
                    for (int j = 0; j < 4; j++)
                        half_tile[place_of(row_group, i) * (SIDE / 2 + 1) + 4 * column_group + j] =
                            half ? total[i][j + 4] : total[i][j];
                __syncthreads();
                if (thread < SIDE)
                    for (int c = 0; c < SIDE / 2; c++) {
                        float d = half_tile[thread * (SIDE / 2 + 1) + c];
                        int at = half * (SIDE / 2) + c;
                        if (d < best[K - 1] && column_event[at] >= 0 && column_fold[at] != row_fold[thread])
                            keep_smallest(d, best);
                    }
            }
            if (thread < rows_here)
                limits[thread] = best[K - 1] < INFINITY ? with_error(best[K - 1], floor_, growth) : INFINITY;
            __syncthreads();
        }
        // Does any list become too long? Then the tile is taken in eight rounds, and limits shrink in between.
        #pragma unroll
        for (int i = 0; i < 8; i++) {
            int r = place_of(row_group, i), passing = 0;
            float limit = limits[r];
            #pragma unroll
            for (int j = 0; j < 8; j++) passing += total[i][j] <= limit;
            if (passing) atomicAdd(&wanted[r], passing);
        }
        __syncthreads();
        const bool crowded = __syncthreads_or(thread < SIDE && wanted[thread] > LIST);
        for (int round = 0; round < (crowded ? 8 : 1); round++) {
            #pragma unroll
            for (int i = 0; i < 8; i++) {
                int r = place_of(row_group, i);
                if (wanted[r] == filled[r]) continue;
                float limit = limits[r];
                #pragma unroll
                for (int j = 0; j < 8; j++) {
                    if (!(total[i][j] <= limit) || (crowded && j != round)) continue;
                    int c = place_of(column_group, j);
                    if (column_event[c] < 0 || column_fold[c] == row_fold[r]) continue;
                    int slot = atomicAdd(&filled[r], 1);
                    if (slot < LIST) { near[r * LIST + slot] = total[i][j]; found[r * LIST + slot] = column_event[c]; }
                }
            }
            __syncthreads();
            if (thread < SIDE && limits[thread] >= 0.0f) {
                int count = filled[thread];
                if (count > LIST) {
                    limits[thread] = -1.0f;
                } else if (count > K) {
                    float best[K];
                    float* own = near + thread * LIST;
                    int* events = found + thread * LIST;
                    #pragma unroll
                    for (int a = 0; a < K; a++) best[a] = INFINITY;
                    for (int s = 0; s < count; s++)
                        if (own[s] < best[K - 1]) keep_smallest(own[s], best);
                    float limit = fminf(limits[thread], with_error(best[K - 1], floor_, growth));
                    int kept = 0;
                    for (int s = 0; s < count; s++)
                        if (own[s] <= limit) { own[kept] = own[s]; events[kept] = events[s]; kept++; }
                    filled[thread] = kept;
                    limits[thread] = limit;
                }
            }
            if (crowded) __syncthreads();
        }
        // How far the farthest limit reaches.
        if (thread < SIDE) {
            if (limits[thread] >= 0.0f) atomicMax(&reaches[number & 1], __float_as_int(limits[thread]));
            wanted[thread] = min(filled[thread], LIST);
        }
        if (following >= 0) {
            buffer ^= 1;
            put(buffer);
        }
        if (thread == 0) reaches[(number + 1) & 1] = 0;
        __syncthreads();
        reach = __int_as_float(reaches[number & 1]);
#if METRIC == 1
        reach = sqrt(reach) * (1.0 + 4.0 * UNIT);
#endif
        tile = following;
        __syncthreads();
    }

    if (thread < rows_here) {
        const int event = row_event[thread], count = filled[thread];
        if (limits[thread] < 0.0f || count > LIST || count < K) {
            overflowed[atomicAdd(n_overflowed, 1)] = mask * n + event;
            return;
        }
        int chosen[K];
        const int* events = found + thread * LIST;
        if (count == K) {
            for (int a = 0; a < K; a++) chosen[a] = events[a];
        } else {
            const int* selected = selections + (long long)mask * widest;
            double distances[K];
            for (int a = 0; a < K; a++) { distances[a] = INFINITY; chosen[a] = 0x7fffffff; }
            for (int s = 0; s < count; s++)
                insert(exactly(data + (long long)event * n_features, data + (long long)events[s] * n_features, selected, q),
                       events[s], distances, chosen);
        }
        int winner = vote(chosen, labels);
        if (winner != labels[event]) atomicAdd(&counts[mask * n_folds + folds[event]], 1);
        if (predicted != nullptr) predicted[(long long)mask * n + event] = (short)winner;
    }
}

extern "C" __global__ __launch_bounds__(128)
void brute_force(const double* __restrict__ data, int n_features, const int* __restrict__ selections,
                 const int* __restrict__ sizes, int widest, const int* __restrict__ folds,
                 const int* __restrict__ labels, int n, int n_folds, int* __restrict__ counts,
                 short* __restrict__ predicted, const int* __restrict__ overflowed, const int* __restrict__ n_overflowed)
{
    __shared__ double all_distances[128 * K];
    __shared__ int all_chosen[128 * K];
    for (int item = blockIdx.x; item < *n_overflowed; item += gridDim.x) {
        int mask = overflowed[item] / n, event = overflowed[item] % n;
        const int* selected = selections + (long long)mask * widest;
        double distances[K];
        int chosen[K];
        for (int a = 0; a < K; a++) { distances[a] = INFINITY; chosen[a] = 0x7fffffff; }
        for (int other = threadIdx.x; other < n; other += 128) {
            if (folds[other] == folds[event]) continue;
            double d = exactly(data + (long long)event * n_features, data + (long long)other * n_features, selected, sizes[mask]);
            insert(d, other, distances, chosen);
        }
        for (int a = 0; a < K; a++) {
            all_distances[threadIdx.x * K + a] = distances[a];
            all_chosen[threadIdx.x * K + a] = chosen[a];
        }
        __syncthreads();
        for (int half = 64; half > 0; half /= 2) {
            if (threadIdx.x < half)
                for (int a = 0; a < K; a++) {
                    int other = (threadIdx.x + half) * K + a;
                    insert(all_distances[other], all_chosen[other], all_distances + threadIdx.x * K, all_chosen + threadIdx.x * K);
                }
            __syncthreads();
        }
        if (threadIdx.x == 0) {
            int winner = vote(all_chosen, labels);
            if (winner != labels[event]) atomicAdd(&counts[mask * n_folds + folds[event]], 1);
            if (predicted != nullptr) predicted[(long long)mask * n + event] = (short)winner;
        }
        __syncthreads();
    }
}

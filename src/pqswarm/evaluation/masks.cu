// List the selected features of each mask, ascending, and count them. One warp per mask.
extern "C" __global__ __launch_bounds__(128)
void pack_masks(const bool* __restrict__ masks, int n_masks, int n_features, int widest, int* __restrict__ selections,
                int* __restrict__ sizes)
{
    const int mask = blockIdx.x * 4 + threadIdx.x / 32, lane = threadIdx.x % 32;
    if (mask >= n_masks) return;
    masks += (long long)mask * n_features;
    selections += (long long)mask * widest;
    int count = 0;
    for (int first = 0; first < n_features; first += 32) {
        const bool chosen = first + lane < n_features && masks[first + lane];
        const unsigned all = __ballot_sync(0xffffffffu, chosen);
        if (chosen) selections[count + __popc(all & ((1u << lane) - 1))] = first + lane;
        count += __popc(all);
    }
    if (lane == 0) sizes[mask] = count;
}


// Kernels of cuda.py for normal densities. Samples are ordered by fold. CLASSES, and FEATURES, the number of features whose
// means and weights are in shared memory at a time, are defined at compile time.
#define INFINITY __int_as_float(0x7f800000)

// For each subset, fold and class: the constant of the score and its largest intermediate magnitude, infinite if the
// subset has no variance for smoothing, so that all samples are in doubt.
extern "C" __global__
void constants(const double* __restrict__ variances, const double* __restrict__ spread, double var_smoothing,
               const double* __restrict__ log_priors, const int* __restrict__ selections, const int* __restrict__ sizes,
               int widest, int n_masks, int n_folds, int n_features, int n_classes, double* __restrict__ constant,
               double* __restrict__ weights, double* __restrict__ largest)
{
    const int item = blockIdx.x * blockDim.x + threadIdx.x;
    if (item >= n_masks * n_folds * n_classes) return;
    const int c = item % n_classes, fold = item / n_classes % n_folds, mask = item / n_classes / n_folds;
    const int* selected = selections + (long long)mask * widest;
    double total = log_priors[fold * n_classes + c], size = 0.0, widest_spread = 0.0;
    for (int s = 0; s < sizes[mask]; s++) widest_spread = fmax(widest_spread, spread[fold * n_features + selected[s]]);
    const double added = var_smoothing * widest_spread;  // fraction of the largest variance of a selected feature
    if (total > -INFINITY)
        for (int s = 0; s < sizes[mask]; s++) {
            const double variance = variances[((long long)fold * n_features + selected[s]) * n_classes + c] + added;
            total -= 0.5 * log(2.0 * 3.14159265358979323846 * variance);
            size = fmax(size, fabs(total));
            weights[(((long long)mask * n_folds + fold) * widest + s) * n_classes + c] = 0.5 / variance;
        }
    constant[item] = total;
    largest[item] = added > 0.0 ? size : INFINITY;
}

// For each subset and sample: the class of the largest score; the errors of each fold; and a list of doubtful samples, with
// another class close, which are not counted. One block per subset and fold.
extern "C" __global__ __launch_bounds__(128)
void winners(const double* __restrict__ columns, const int* __restrict__ starts, const int* __restrict__ labels,
             const double* __restrict__ means, const double* __restrict__ constant, const double* __restrict__ weights,
             const double* __restrict__ largest, const int* __restrict__ selections, const int* __restrict__ sizes,
             int widest, int n, int n_folds, int n_features, int* __restrict__ counts, short* __restrict__ winner_of,
             long long* __restrict__ doubtful, int* __restrict__ n_doubtful)
{
    __shared__ double mean[FEATURES][CLASSES], weight[FEATURES][CLASSES];
    const int fold = blockIdx.x, mask = blockIdx.y, q = sizes[mask];
    const int* selected = selections + (long long)mask * widest;
    const long long base = (long long)mask * n_folds + fold;
    int wrong = 0;
    for (int first = starts[fold]; first < starts[fold + 1]; first += blockDim.x) {
        const int sample = first + threadIdx.x;
        const bool inside = sample < starts[fold + 1];
        double sums[CLASSES];
        #pragma unroll
        for (int c = 0; c < CLASSES; c++) sums[c] = 0.0;
        for (int begin = 0; begin < q; begin += FEATURES) {
            const int here = min(FEATURES, q - begin);
            __syncthreads();
            for (int i = threadIdx.x; i < here * CLASSES; i += blockDim.x) {
                const int s = i / CLASSES, c = i % CLASSES;
                mean[s][c] = means[((long long)fold * n_features + selected[begin + s]) * CLASSES + c];
                weight[s][c] = weights[(base * widest + begin + s) * CLASSES + c];
            }
            __syncthreads();
            for (int s = 0; inside && s < here; s++) {
                const double x = columns[(long long)selected[begin + s] * n + sample];
                #pragma unroll
                for (int c = 0; c < CLASSES; c++) {
                    const double d = x - mean[s][c];
                    sums[c] += d * d * weight[s][c];
                }
            }
        }
        if (!inside) continue;
        double best = -INFINITY, second = -INFINITY, size = 0.0;
        int winner = 0;
        #pragma unroll
        for (int c = 0; c < CLASSES; c++) {
            const double begun = constant[base * CLASSES + c], score = begun > -INFINITY ? begun - sums[c] : begun;
            size = fmax(size, largest[base * CLASSES + c]);
            if (score > best) { second = best; best = score; winner = c; }
            else if (score > second) second = score;
        }
        if (winner_of != nullptr) winner_of[(long long)mask * n + sample] = (short)winner;
        // Half the margin of the CPU would suffice; the same one is simpler.
        if (!(best - second > 1e-9 * (fabs(best) + size + 1.0)))
            doubtful[atomicAdd(n_doubtful, 1)] = (long long)mask * n + sample;
        else
            wrong += winner != labels[sample];
    }
    if (wrong) atomicAdd(&counts[base], wrong);
}

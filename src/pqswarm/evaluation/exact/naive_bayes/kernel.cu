// Kernels of cuda.py for kernel densities; MAX_CLASSES is defined at compile time.
#define INFINITY __int_as_float(0x7f800000)
#define UNIT 5.9604644775390625e-8
#define SAFETY 1.1
#define CLIPPED -1e29f
#define EQUAL 1e-12

// The class of the largest score of each sample; samples that rounding leaves in doubt are listed.
extern "C" __global__
void decide(const float* __restrict__ scores, const int* __restrict__ sizes, double highest, int n, int n_classes,
            int n_masks, const int* __restrict__ folds, const int* __restrict__ labels, int n_folds,
            int* __restrict__ counts, short* __restrict__ predicted, int* __restrict__ doubtful, int* __restrict__ n_doubtful)
{
    long long item = (long long)blockIdx.x * blockDim.x + threadIdx.x;
    if (item >= (long long)n_masks * n) return;
    int mask = item / n, sample = item % n;
    double size = sizes[mask] + 1.0;  // the prior is also a term
    double relative = SAFETY * UNIT * (size + 3.0);
    double fixed = relative * 2.0 * size * highest;
    const float* own = scores + item * n_classes;
    float best = own[0], second = -INFINITY;
    int winner = 0;
    for (int c = 1; c < n_classes; c++) {
        float score = own[c];
        bool better = score > best;
        second = fmaxf(second, better ? best : score);
        if (better) { best = score; winner = c; }
    }
    bool doubt = second == -INFINITY ? best == -INFINITY
        : !((double)best - (double)second > 2.0 * fixed + relative * (fabs((double)best) + fabs((double)second)) && best > CLIPPED);
    if (doubt) {
        doubtful[atomicAdd(n_doubtful, 1)] = (int)item;
        return;
    }
    if (winner != labels[sample]) atomicAdd(&counts[mask * n_folds + folds[sample]], 1);
    if (predicted != nullptr) predicted[item] = (short)winner;
}

// The same in double precision, the first of equals, for doubtful samples. The table holds n_all samples, of which n are
// tested.
extern "C" __global__
void decide_exactly(const double* __restrict__ table, const double* __restrict__ priors,
                    const bool* __restrict__ masks, int n_features, int n_all, int n, int n_classes, const int* __restrict__ folds,
                    const int* __restrict__ labels, int n_folds, int* __restrict__ counts, short* __restrict__ predicted,
                    const int* __restrict__ doubtful, const int* __restrict__ n_doubtful)
{
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < *n_doubtful; i += gridDim.x * blockDim.x) {
        int mask = doubtful[i] / n, sample = doubtful[i] % n;
        const bool* selected = masks + (long long)mask * n_features;
        double best = -INFINITY, size = 0.0, totals[MAX_CLASSES];
        for (int c = 0; c < n_classes; c++) {
            double total = priors[(long long)sample * n_classes + c], absolute = fabs(total);
            if (total > -INFINITY)
                for (int f = 0; f < n_features; f++) {
                    if (!selected[f]) continue;
                    double term = table[((long long)f * n_all + sample) * n_classes + c];
                    total = __dadd_rn(total, term);
                    absolute = __dadd_rn(absolute, fabs(term));
                }
            totals[c] = total;
            if (total > best) { best = total; size = absolute; }
        }
        double least = __dsub_rn(best, __dmul_rn(EQUAL, __dadd_rn(1.0, size)));
        int winner = 0;
        for (int c = 0; c < n_classes; c++)
            if (totals[c] >= least) { winner = c; break; }
        if (winner != labels[sample]) atomicAdd(&counts[mask * n_folds + folds[sample]], 1);
        if (predicted != nullptr) predicted[doubtful[i]] = (short)winner;
    }
}

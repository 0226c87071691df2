// Kernels of _nb_cuda.py for normal densities.
#define INFINITY __int_as_float(0x7f800000)
// For each subset, fold and class: the constant of the score and the largest size it had on the way.
extern "C" __global__
void constants(const double* __restrict__ variances, const double* __restrict__ smoothing,
               const double* __restrict__ log_priors, const int* __restrict__ selections, const int* __restrict__ sizes,
               int widest, int n_masks, int n_folds, int n_features, int n_classes, double* __restrict__ constant,
               double* __restrict__ weights, double* __restrict__ largest)
{
    int item = blockIdx.x * blockDim.x + threadIdx.x;
    if (item >= n_masks * n_folds * n_classes) return;
    int c = item % n_classes, fold = item / n_classes % n_folds, mask = item / n_classes / n_folds;
    double total = log_priors[fold * n_classes + c], size = 0.0;
    double added = smoothing[mask * n_folds + fold];
    if (total > -INFINITY)
        for (int s = 0; s < sizes[mask]; s++) {
            int f = selections[(long long)mask * widest + s];
            double variance = variances[((long long)fold * n_features + f) * n_classes + c] + added;
            total -= 0.5 * log(2.0 * 3.14159265358979323846 * variance);
            size = fmax(size, fabs(total));
            weights[(((long long)mask * n_folds + fold) * widest + s) * n_classes + c] = 0.5 / variance;
        }
    constant[item] = total;
    largest[item] = size;
}

extern "C" __global__
void winners(const double* __restrict__ columns, const int* __restrict__ fold_of, const double* __restrict__ means,
             const double* __restrict__ constant, const double* __restrict__ weights, const double* __restrict__ largest,
             const int* __restrict__ selections, const int* __restrict__ sizes, int widest, int n_masks, int n, int n_folds,
             int n_features, int n_classes, short* __restrict__ winner_of, bool* __restrict__ doubtful)
{
    long long item = (long long)blockIdx.x * blockDim.x + threadIdx.x;
    if (item >= (long long)n_masks * n) return;
    int mask = item / n, event = item % n, fold = fold_of[event];
    const int* selected = selections + (long long)mask * widest;
    double best = -INFINITY, second = -INFINITY, size = 0.0;
    int winner = 0;
    for (int c = 0; c < n_classes; c++) {
        long long base = ((long long)mask * n_folds + fold) * n_classes + c;
        double score = constant[base];
        size = fmax(size, largest[base]);
        if (score > -INFINITY) {
            double sum = 0.0;
            for (int s = 0; s < sizes[mask]; s++) {
                int f = selected[s];
                double d = columns[(long long)f * n + event] - means[((long long)fold * n_features + f) * n_classes + c];
                sum += d * d * weights[(((long long)mask * n_folds + fold) * widest + s) * n_classes + c];
            }
            score -= sum;
        }
        if (score > best) { second = best; best = score; winner = c; }
        else if (score > second) second = score;
    }
    winner_of[item] = (short)winner;
    // Half the processor's margin of doubt would do; the same one is simpler.
    doubtful[item] = !(best - second > 1e-9 * (fabs(best) + size + 1.0));
}

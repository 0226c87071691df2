// The common part of the kernels of cuda.py. K, METRIC (0 Manhattan, 1 Euclidean, 2 Chebyshev) and GUESSES are defined at
// compile time. Samples have the numbers of the evaluator; places are positions in the order of their keys.
#define INFINITY __int_as_float(0x7f800000)
#define ALL_LANES 0xffffffffu
#define SIDE 128                            // places in a tile
#if METRIC == 2
#define KEYS 1                              // sort keys, of which the best is used
#else
#define KEYS 4
#endif
#define UNIT 5.9604644775390625e-8          // rounding unit of single precision

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

__device__ __forceinline__ float added(float total, float4 a, float4 b)
{
    return added(added(added(added(total, a.x, b.x), a.y, b.y), a.z, b.z), a.w, b.w);
}

// Sum over four of the lanes in `lanes`.
__device__ __forceinline__ float joined(float total, unsigned lanes)
{
#if METRIC == 2
    total = fmaxf(total, __shfl_xor_sync(lanes, total, 1));
    return fmaxf(total, __shfl_xor_sync(lanes, total, 2));
#else
    total += __shfl_xor_sync(lanes, total, 1);
    return total + __shfl_xor_sync(lanes, total, 2);
#endif
}

// Error of a distance d in single precision: at most floor + growth * d.
struct __align__(8) Error {
    float floor, growth;  // twice the floor, and one plus twice the growth, rounded up

    // The largest single-precision distance that may truly be as small as `distance` (squares if Euclidean).
    __device__ __forceinline__ float limit(float distance) const
    {
#if METRIC == 1
        const float root = __fmaf_ru(__fsqrt_ru(distance), growth, floor);
        return __fmul_ru(root, root);
#else
        return __fmaf_ru(distance, growth, floor);
#endif
    }
};

// A sample in the order of the keys: its number, its fold, and its keys.
struct __align__(8) Place {
    int sample, fold;  // -1 after the last sample
};

// Distance in double precision, term by term, as on the CPU.
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

// Keep the K smallest, ascending.
__device__ __forceinline__ void keep_smallest(float d, float* best)
{
    #pragma unroll
    for (int a = 0; a < K; a++) {
        float kept = best[a];
        best[a] = fminf(d, kept);
        d = fmaxf(d, kept);
    }
}

// Quantise a coordinate from -span to span as an integer from 0 to `levels`.
__device__ __forceinline__ float level_of(float x, float span, float per_step, float levels)
{
    return fminf(fmaxf(rintf(__fmul_rn(__fadd_rn(x, span), per_step)), 0.0f), levels);
}


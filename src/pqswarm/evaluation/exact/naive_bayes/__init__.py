"""Naive Bayes, Gaussian, kernel and discrete: evaluators, CPU and CUDA kernels."""

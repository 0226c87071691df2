"""Naive Bayes, Gaussian, kernel and discrete: definitions, evaluators, CPU and CUDA kernels."""

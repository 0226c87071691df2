"""Linear models (LDA, linear and ridge regression): evaluators and kernels."""

"""Linear models (LDA, linear and ridge regression): definitions, evaluators and kernels."""

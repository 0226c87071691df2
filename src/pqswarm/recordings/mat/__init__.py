"""MATLAB files (``.mat``)."""

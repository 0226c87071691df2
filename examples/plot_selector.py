"""
SwarmSelector on your own data
==============================

:class:`pqswarm.SwarmSelector` is a scikit-learn feature selector. Here it selects features of the breast-cancer data
for Gaussian naive Bayes and is compared with scikit-learn's own sequential selector in time and score.
"""

import time

import matplotlib.pyplot as plt
from sklearn.datasets import load_breast_cancer
from sklearn.feature_selection import SequentialFeatureSelector
from sklearn.model_selection import StratifiedKFold, cross_val_score, train_test_split
from sklearn.naive_bayes import GaussianNB

from pqswarm import SwarmSelector

X, y = load_breast_cancer(return_X_y=True)
X_train, X_test, y_train, y_test = train_test_split(X, y, test_size=0.4, stratify=y, random_state=0)
model = GaussianNB()
folds = StratifiedKFold(5, shuffle=True, random_state=0)

# %%
# The swarm evaluates 1500 subsets and determines the number of features itself. The sequential selector is given that
# number and evaluates up to 30 subsets for each.

SwarmSelector(model, cv=folds, max_evaluations=30, random_state=0).fit(X_train, y_train)  # loads the compiled code
began = time.perf_counter()
swarm = SwarmSelector(model, cv=folds, max_evaluations=1500, random_state=0).fit(X_train, y_train)
swarm_time = time.perf_counter() - began

began = time.perf_counter()
steps = SequentialFeatureSelector(model, n_features_to_select=swarm.n_features_, cv=folds).fit(X_train, y_train)
steps_time = time.perf_counter() - began

# %%
# The cross-validation score was optimized; the test samples were held out.

rows = []
for name, chosen, seconds in (
    ("all features", [True] * X.shape[1], 0.0),
    ("SequentialFeatureSelector", steps.get_support(), steps_time),
    ("SwarmSelector", swarm.get_support(), swarm_time),
):
    inner = cross_val_score(model, X_train[:, chosen], y_train, cv=folds).mean()
    outer = model.fit(X_train[:, chosen], y_train).score(X_test[:, chosen], y_test)
    rows.append((name, sum(chosen), seconds, inner, outer))
    print(f"{name:26} {sum(chosen):3} features {seconds:6.2f} s   folds {inner:.3f}   test {outer:.3f}")
print("evaluated by", swarm.evaluator_name_)

_, (left, right) = plt.subplots(1, 2, figsize=(9, 2.8), layout="constrained", sharey=True)
names = [row[0] for row in rows]
left.barh(names, [row[2] for row in rows], color="#9aa5b1")
left.set(xlabel="selection time [s]")
right.plot([row[3] for row in rows], names, "o", label="cross-validation (optimized)", color="#0b6fd6")
right.plot([row[4] for row in rows], names, "D", label="test samples", color="#d24b00")
right.set(xlabel="accuracy")
right.margins(y=0.2)
right.legend(frameon=False, fontsize=8)
plt.show()

# %%
# The course of the search:

figure = swarm.plot_history()

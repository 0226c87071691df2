"""Slow, obvious twins of the searches: plain loops over lists and sets, written from the pseudo code."""

import numpy as np


def sffs(error, n, d, overshoot=0):
    """Sequential forward floating search; returns the best subset of size d as a sorted list, and its error."""
    current, record = frozenset(), {}
    while len(current) < min(d + overshoot, n):
        candidates = [(error(current | {f}), f) for f in range(n) if f not in current]
        best = min(candidates)
        current = current | {best[1]}
        if len(current) not in record or best[0] < record[len(current)][0]:
            record[len(current)] = (best[0], current)
        while len(current) >= 2:
            best = min((error(current - {f}), f) for f in sorted(current))
            smaller = current - {best[1]}
            if len(smaller) in record and not best[0] < record[len(smaller)][0]:
                break
            record[len(smaller)] = (best[0], smaller)
            current = smaller
    return sorted(record[d][1]), record[d][0]


def sfs(error, n, d):
    """Sequential forward search; returns the error of its subset of size d."""
    current = frozenset()
    while len(current) < d:
        best = min((error(current | {f}), f) for f in range(n) if f not in current)
        current = current | {best[1]}
    return error(current)


class UPSO2D:
    """2D-UPSO with loops over particles, dimensions and features; draws in the same order as the fast one."""

    def __init__(self, n, rng, ps=30, w=1.0, c1=2.0, c2=2.0, u=0.9, rg=30):
        self.n, self.rng, self.ps = n, rng, ps
        self.w, self.c1, self.c2, self.u, self.rg = w, c1, c2, u, rg
        x = rng.random((ps, n)) < 0.5
        while not x.any(axis=1).all():
            empty = ~x.any(axis=1)
            x[empty] = rng.random((int(empty.sum()), n)) < 0.5
        self.x = x.tolist()
        self.v = rng.random((ps, 2, n)).tolist()
        self.count = [0] * ps
        self.f = None

    def learn_from(self, a, x):
        size = sum(a)
        return [
            [1 if j + 1 == size else 0 for j in range(self.n)],
            [int(p and not q) for p, q in zip(a, x, strict=True)],
        ]

    def move(self):
        ps, n = self.ps, self.n
        stale = [i for i in range(ps) if self.count[i] >= self.rg]
        if stale:
            fresh = self.rng.random((len(stale), 2, n)).tolist()
            for i, v in zip(stale, fresh, strict=True):
                self.v[i], self.count[i] = v, 0
        r1, r2 = self.rng.random((ps, 2, n)), self.rng.random((ps, 2, n))
        for i in range(ps):
            around = sorted({(i - 1) % ps, i, (i + 1) % ps})
            neighbour = min(around, key=lambda k: self.pbest_f[k])
            cog = self.learn_from(self.pbest[i], self.x[i])
            soc1 = self.learn_from(self.gbest, self.x[i])
            soc2 = self.learn_from(self.pbest[neighbour], self.x[i])
            own = self.learn_from(self.x[i], [False] * n)
            for row in range(2):
                for j in range(n):
                    glob = self.w * self.v[i][row][j] + self.c1 * r1[i, row, j] * cog[row][j]
                    local = glob + self.c2 * r2[i, row, j] * soc2[row][j] + self.delta[i] * own[row][j]
                    glob += self.c2 * r2[i, row, j] * soc1[row][j] + self.delta[i] * own[row][j]
                    self.v[i][row][j] = self.u * glob + (1 - self.u) * local
        spins = self.rng.random(ps)
        for i in range(ps):
            rho, sigma = self.v[i]
            total = sum(rho)
            size, running = None, 0.0
            for j in range(n):
                running += rho[j]
                if size is None and running >= spins[i] * total:
                    size = j + 1
            if total <= 0:
                size = int(np.argmax(rho)) + 1
            ranked = sorted(range(n), key=lambda j: (-sigma[j], j))
            self.x[i] = [j in ranked[:size] for j in range(n)]

    def see(self, errors):
        errors = list(errors)
        if self.f is None:
            self.pbest, self.pbest_f = [list(x) for x in self.x], list(errors)
            self.gbest_f = min(errors)
            self.gbest = list(self.x[errors.index(self.gbest_f)])
            self.delta = [0.0] * self.ps
        else:
            worst = max(errors)
            weight = [1 - e / worst if worst > 0 else 0.0 for e in errors]
            self.delta = [d if e < old else -d for d, e, old in zip(weight, errors, self.f, strict=True)]
            for i, e in enumerate(errors):
                if e < self.pbest_f[i]:
                    self.pbest[i], self.pbest_f[i] = list(self.x[i]), e
                else:
                    self.count[i] += 1
            for i in range(self.ps):
                if self.pbest_f[i] < self.gbest_f:
                    self.gbest, self.gbest_f = list(self.pbest[i]), self.pbest_f[i]
        self.f = errors

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


def draw_subsets(rng, count, n):
    """Subsets with half of the features each, drawn again where they are empty."""
    x = rng.random((count, n)) < 0.5
    while not x.any(axis=1).all():
        empty = ~x.any(axis=1)
        x[empty] = rng.random((int(empty.sum()), n)) < 0.5
    return x.tolist()


class UPSO2D:
    """2D-UPSO with loops over particles, dimensions and features; draws in the same order as the fast one.

    With `pairs`, r1 and r2 are one pair of numbers for each particle; with `separate`, drawn again for the local
    velocity. With `old`, max(F) is that of the swarm before.
    """

    def __init__(self, n, rng, ps=30, w=1.0, c1=2.0, c2=2.0, u=0.9, rg=30, pairs=False, separate=False, old=False):
        self.n, self.rng, self.ps, self.pairs, self.separate, self.old = n, rng, ps, pairs, separate, old
        self.w, self.c1, self.c2, self.u, self.rg = w, c1, c2, u, rg
        self.x = draw_subsets(rng, ps, n)
        self.v = rng.random((ps, 2, n)).tolist()
        self.count = [0] * ps
        self.f = None

    def learn_from(self, a, x):
        size = sum(a)
        return [
            [1 if j + 1 == size else 0 for j in range(self.n)],
            [int(p and not q) for p, q in zip(a, x, strict=True)],
        ]

    def draw_pair(self):
        if self.pairs:
            return [[[[r] * self.n] * 2 for r in self.rng.random(self.ps)] for _ in range(2)]
        return [self.rng.random((self.ps, 2, self.n)) for _ in range(2)]

    def move(self):
        ps, n = self.ps, self.n
        stale = [i for i in range(ps) if self.count[i] >= self.rg]
        if stale:
            fresh = self.rng.random((len(stale), 2, n)).tolist()
            for i, v in zip(stale, fresh, strict=True):
                self.v[i], self.count[i] = v, 0
        r1, r2 = self.draw_pair()
        s1, s2 = self.draw_pair() if self.separate else (r1, r2)
        for i in range(ps):
            around = sorted({(i - 1) % ps, i, (i + 1) % ps})
            neighbor = min(around, key=lambda k: self.pbest_f[k])
            cog = self.learn_from(self.pbest[i], self.x[i])
            soc1 = self.learn_from(self.gbest, self.x[i])
            soc2 = self.learn_from(self.pbest[neighbor], self.x[i])
            own = self.learn_from(self.x[i], [False] * n)
            for row in range(2):
                for j in range(n):
                    kept = self.w * self.v[i][row][j] + self.delta[i] * own[row][j]
                    glob = kept + self.c1 * r1[i][row][j] * cog[row][j] + self.c2 * r2[i][row][j] * soc1[row][j]
                    local = kept + self.c1 * s1[i][row][j] * cog[row][j] + self.c2 * s2[i][row][j] * soc2[row][j]
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
            worst = max(self.f if self.old else errors)
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


class BPSO:
    """BPSO with loops over particles and features; draws in the same order as the fast one.

    With `pairs`, r1 and r2 are one pair of numbers for each particle. `catfish` says where the three worst particles go
    after three iterations without a better global best, "extreme" or "random"; with `chaos` the inertia follows the
    logistic map from there.
    """

    def __init__(self, n, rng, pairs=False, catfish=None, chaos=None, ps=30, w=1.0, c1=2.0, c2=2.0, limit=6.0):
        self.n, self.rng, self.ps, self.pairs, self.catfish = n, rng, ps, pairs, catfish
        self.c1, self.c2, self.limit = c1, c2, limit
        self.w, self.chaotic = (w, False) if chaos is None else (chaos, True)
        self.x = draw_subsets(rng, ps, n)
        self.v = [[0.0] * n for _ in range(ps)]
        self.idle = 0
        self.f = None

    def move(self):
        ps, n = self.ps, self.n
        if self.pairs:
            r1, r2 = ([[r] * n for r in self.rng.random(ps)] for _ in range(2))
        else:
            r1, r2 = self.rng.random((ps, n)), self.rng.random((ps, n))
        before = [list(v) for v in self.v]
        for i in range(ps):
            for j in range(n):
                v = self.w * self.v[i][j] + self.c1 * r1[i][j] * (self.pbest[i][j] - self.x[i][j])
                v += self.c2 * r2[i][j] * (self.gbest[j] - self.x[i][j])
                self.v[i][j] = min(max(v, -self.limit), self.limit)
        u = self.rng.random((ps, n))
        self.x = [[bool(u[i][j] < 1 / (1 + np.exp(-self.v[i][j]))) for j in range(n)] for i in range(ps)]
        if self.chaotic:
            self.w = 4 * self.w * (1 - self.w)
        if self.catfish and self.idle >= 3:
            self.idle = 0
            worst = sorted(range(ps), key=lambda i: (-self.f[i], i))[: ps // 10]
            coins = [[bool(r < 0.5)] * n for r in self.rng.random(len(worst))] if self.catfish == "extreme" else None
            for i, x in zip(worst, coins or draw_subsets(self.rng, len(worst), n), strict=True):
                self.x[i], self.v[i] = x, before[i]

    def see(self, errors):
        self.f = list(errors)
        if not hasattr(self, "pbest"):
            self.pbest, self.pbest_f = [list(x) for x in self.x], list(errors)
            self.gbest_f = float("inf")
        for i, e in enumerate(errors):
            if e < self.pbest_f[i]:
                self.pbest[i], self.pbest_f[i] = list(self.x[i]), e
        self.idle += 1
        for i in range(self.ps):
            if self.pbest_f[i] < self.gbest_f:
                self.gbest, self.gbest_f, self.idle = list(self.pbest[i]), self.pbest_f[i], 0

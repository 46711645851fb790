#!/usr/bin/env python3
"""Exact sampling of a one-layer network under several priors, on a GPU.

An experiment behind the choice of the prior of `--method hmc`: all splits of a
UCI set, or several simulated data sets, times several chains in one batch.
Needs JAX. Prints a line per data set and prior: test log-likelihood, RMSE,
coverage of the 90 % interval, R-hat of the predictions.
"""

import argparse
import functools
import json
import math
import os
import time

import jax
import jax.numpy as jnp
import numpy as np

jax.config.update("jax_default_matmul_precision", "highest")
HIDDEN = 50


def uci(folder, name, splits):
    base = os.path.join(folder, name)
    data = np.loadtxt(os.path.join(base, "data.txt"))
    features = np.loadtxt(os.path.join(base, "index_features.txt")).astype(int)
    target = int(np.loadtxt(os.path.join(base, "index_target.txt")))
    out = []
    for k in range(splits):
        train = np.loadtxt(os.path.join(base, f"index_train_{k}.txt")).astype(int)
        test = np.loadtxt(os.path.join(base, f"index_test_{k}.txt")).astype(int)
        out.append((data[train][:, features], data[train, target],
                    data[test][:, features], data[test, target]))
    return out


def friedman(inputs, rows, sets, test=1000):
    out = []
    for k in range(sets):
        rng = np.random.default_rng(1000 + k)
        x = rng.uniform(size=(rows + test, inputs))
        y = (10 * np.sin(np.pi * x[:, 0] * x[:, 1]) + 20 * (x[:, 2] - 0.5) ** 2
             + 10 * x[:, 3] + 5 * x[:, 4] + rng.normal(size=rows + test))
        out.append((x[:rows], y[:rows], x[rows:], y[rows:]))
    return out


def standardise(sets):
    xs, ys, xt, yt, scales = [], [], [], [], []
    for x, y, u, v in sets:
        m, s = x.mean(0), x.std(0)
        s = np.where(s > 0, s, 1)
        ym, ysd = y.mean(), y.std()
        xs.append((x - m) / s)
        ys.append((y - ym) / ysd)
        xt.append((u - m) / s)
        yt.append((v - ym) / ysd)
        scales.append(ysd)
    f = lambda a: jnp.asarray(np.stack(a), jnp.float32)
    return f(xs), f(ys), f(xt), f(yt), np.array(scales)


def log_half_cauchy(x):
    """Of exp(x), with the Jacobian."""
    return x - jax.nn.softplus(2 * x)


def unit(z, axis):
    return z / jnp.sqrt(jnp.sum(z * z, axis=axis, keepdims=True) + 1e-12)


def layout(prior, d):
    shapes = {"z1": (HIDDEN, d), "b1": (HIDDEN,), "z2": (HIDDEN,), "b2": (1,),
              "g1": (1,), "g2": (1,)}
    if prior in ("column", "both", "double", "columnboth"):
        shapes["c"] = (d,)
    if prior in ("row", "both", "double"):
        shapes["r"] = (HIDDEN,)
    if prior == "double":
        shapes["z1b"] = (HIDDEN, d)
    if prior in ("rowout",):
        shapes["r"] = (HIDDEN,)
    return shapes


def unpack(theta, shapes):
    out, at = {}, 0
    for k, s in shapes.items():
        n = int(np.prod(s))
        out[k] = theta[at:at + n].reshape(s)
        at += n
    return out


def weights(p, prior, d):
    """Weights and log prior."""
    lp = -0.5 * (jnp.sum(p["z1"] ** 2) + jnp.sum(p["b1"] ** 2) + jnp.sum(p["z2"] ** 2)
                 + jnp.sum(p["b2"] ** 2))
    g1, g2 = jnp.exp(p["g1"][0]), jnp.exp(p["g2"][0])
    lp += -0.5 * p["g2"][0] ** 2
    w2 = g2 * p["z2"] / math.sqrt(HIDDEN)
    if prior == "gaussian":
        lp += -0.5 * p["g1"][0] ** 2
        w1 = g1 * p["z1"] / math.sqrt(d)
    elif prior == "column":
        lp += log_half_cauchy(p["g1"][0]) + jnp.sum(log_half_cauchy(p["c"]))
        w1 = g1 * jnp.exp(p["c"])[None, :] * unit(p["z1"], 0) * math.sqrt(HIDDEN / d)
    elif prior == "row":
        lp += log_half_cauchy(p["g1"][0]) + jnp.sum(log_half_cauchy(p["r"]))
        w1 = g1 * jnp.exp(p["r"])[:, None] * unit(p["z1"], 1)
    elif prior == "both":  # one direction per row, radii of rows and columns
        lp += (log_half_cauchy(p["g1"][0]) + jnp.sum(log_half_cauchy(p["c"]))
               + jnp.sum(log_half_cauchy(p["r"])))
        w1 = g1 * jnp.exp(p["c"])[None, :] * jnp.exp(p["r"])[:, None] * p["z1"] / math.sqrt(d)
    elif prior == "double":
        lp += (log_half_cauchy(p["g1"][0]) + jnp.sum(log_half_cauchy(p["c"]))
               + jnp.sum(log_half_cauchy(p["r"])) - 0.5 * jnp.sum(p["z1b"] ** 2))
        w1 = (g1 * jnp.exp(p["c"])[None, :] * unit(p["z1"], 0) * math.sqrt(HIDDEN)
              * jnp.exp(p["r"])[:, None] * unit(p["z1b"], 1))
    elif prior == "columnboth":  # columns, and the units' radii at the output
        lp += log_half_cauchy(p["g1"][0]) + jnp.sum(log_half_cauchy(p["c"]))
        w1 = g1 * jnp.exp(p["c"])[None, :] * unit(p["z1"], 0) * math.sqrt(HIDDEN / d)
    return w1, p["b1"], w2, p["b2"][0], lp


def outputs(theta, x, prior, shapes):
    w1, b1, w2, b2, _ = weights(unpack(theta, shapes), prior, x.shape[1])
    return jax.nn.relu(x @ w1.T + b1) @ w2 + b2


def potential(theta, x, y, prior, shapes):
    w1, b1, w2, b2, lp = weights(unpack(theta, shapes), prior, x.shape[1])
    f = jax.nn.relu(x @ w1.T + b1) @ w2 + b2
    sse = jnp.sum((y - f) ** 2)
    return (1 + 0.5 * y.shape[0]) * jnp.log(0.01 + 0.5 * sse) - lp, sse


def sample(x, y, prior, chains, warmup, draws, keep, leapfrogs, seed):
    """x [s, n, d]. Returns kept positions [keep, s, chains, p] and their sse."""
    s, n, d = x.shape
    shapes = layout(prior, d)
    size = sum(int(np.prod(v)) for v in shapes.values())
    value = jax.value_and_grad(functools.partial(potential, prior=prior, shapes=shapes),
                               has_aux=True)
    grads = jax.vmap(jax.vmap(value, (0, None, None)), (0, 0, 0))
    key = jax.random.PRNGKey(seed)
    theta = jax.random.normal(key, (s, chains, size)) * 0.5
    (u, sse), g = grads(theta, x, y)
    windows = jnp.array([warmup // 8, warmup // 4, warmup // 2, (3 * warmup) // 4])

    def step(carry, i):
        theta, u, sse, g, key, logeps, hbar, logbar, count, inv, wn, wm, wv, acc = carry
        key, k1, k2, k3 = jax.random.split(key, 4)
        p = jax.random.normal(k1, theta.shape) / jnp.sqrt(inv)
        eps = jnp.exp(jnp.where(i < warmup, logeps, logbar))[..., None]
        eps = eps * jax.random.uniform(k3, (), minval=0.8, maxval=1.2)
        h0 = u + 0.5 * jnp.sum(p * p * inv, -1)

        def leap(_, c):
            t, p, g, u, e = c
            p = p - 0.5 * eps * g
            t = t + eps * inv * p
            (u, e), g = grads(t, x, y)
            p = p - 0.5 * eps * g
            return t, p, g, u, e

        t1, p1, g1, u1, e1 = jax.lax.fori_loop(0, leapfrogs, leap, (theta, p, g, u, sse))
        h1 = u1 + 0.5 * jnp.sum(p1 * p1 * inv, -1)
        a = jnp.where(jnp.isfinite(h1), jnp.exp(jnp.minimum(0.0, h0 - h1)), 0.0)
        ok = jax.random.uniform(k2, a.shape) < a
        theta = jnp.where(ok[..., None], t1, theta)
        g = jnp.where(ok[..., None], g1, g)
        u = jnp.where(ok, u1, u)
        sse = jnp.where(ok, e1, sse)
        # dual averaging
        count = count + 1
        hbar = hbar + (0.8 - a - hbar) / (count + 10)
        le = jnp.where(i < warmup, math.log(0.05) - jnp.sqrt(count) / 0.05 * hbar, logeps)
        eta = count ** -0.75
        logbar = jnp.where(i < warmup, eta * le + (1 - eta) * logbar, logbar)
        # variances
        wn = wn + 1
        delta = theta - wm
        wm = wm + delta / wn
        wv = wv + delta * (theta - wm)
        hit = jnp.any(i == windows)
        first = i == windows[0]
        new = (wv / wn) * (wn / (wn + 5)) + 1e-3 * 5 / (wn + 5)
        inv = jnp.where(hit & ~first, new, inv)
        wn = jnp.where(hit, 0.0, wn)
        wv = jnp.where(hit, 0.0, wv)
        wm = jnp.where(hit, theta, wm)
        count = jnp.where(hit, 0.0, count)
        hbar = jnp.where(hit, 0.0, hbar)
        acc = acc + jnp.where(i < warmup, 0.0, a)
        return (theta, u, sse, g, key, le, hbar, logbar, count, inv, wn, wm, wv, acc), None

    zero = jnp.zeros((s, chains))
    carry = (theta, u, sse, g, jax.random.PRNGKey(seed + 1), zero + math.log(0.005), zero,
             zero + math.log(0.005), jnp.zeros(()), jnp.ones_like(theta) , jnp.zeros(()),
             theta, jnp.zeros_like(theta), zero)

    @jax.jit
    def many(carry, start, count):
        def body(i, c):
            return step(c, start + i)[0]
        return jax.lax.fori_loop(0, count, body, carry)

    carry = many(carry, 0, warmup)
    kept, errors = [], []
    thin = draws // keep
    for k in range(keep):
        carry = many(carry, warmup + k * thin, thin)
        kept.append(carry[0])
        errors.append(carry[2])
    accept = float(jnp.mean(carry[-1]) / draws)
    return jnp.stack(kept), jnp.stack(errors), accept, shapes, carry


def fit_start(theta, x, y, prior, shapes, steps, rate=0.01):
    """Adam on the likelihood alone, the scales left where they are."""
    mask = jnp.concatenate([jnp.full(int(np.prod(v)), 0.0 if k in ("g1", "g2", "c", "r") else 1.0)
                            for k, v in shapes.items()])

    def loss(t, x, y):
        w1, b1, w2, b2, _ = weights(unpack(t, shapes), prior, x.shape[1])
        f = jax.nn.relu(x @ w1.T + b1) @ w2 + b2
        return 0.5 * y.shape[0] * jnp.log(0.01 + jnp.sum((y - f) ** 2))

    grad = jax.vmap(jax.vmap(jax.grad(loss), (0, None, None)), (0, 0, 0))

    def body(i, c):
        t, m, v = c
        g = grad(t, x, y) * mask
        m = 0.9 * m + 0.1 * g
        v = 0.99 * v + 0.01 * g * g
        scale = rate * (1 - i / steps)
        return t - scale * m / (jnp.sqrt(v) + 1e-8), m, v

    zero = jnp.zeros_like(theta)
    return jax.jit(lambda t: jax.lax.fori_loop(0, steps, body, (t, zero, zero))[0])(theta)


def sample_dense(x, y, prior, chains, warmup, draws, keep, leapfrogs, seed, dense=True, adam=0):
    """The same with the mass E[g g^T], the posterior mean of the Hessian, shared by the
    chains of a data set and estimated from the gradients of the warm-up."""
    s, n, d = x.shape
    shapes = layout(prior, d)
    size = sum(int(np.prod(v)) for v in shapes.values())
    value = jax.value_and_grad(functools.partial(potential, prior=prior, shapes=shapes),
                               has_aux=True)
    grads = jax.vmap(jax.vmap(value, (0, None, None)), (0, 0, 0))
    theta = jax.random.normal(jax.random.PRNGKey(seed), (s, chains, size)) * 0.5
    if adam:
        theta = fit_start(theta, x, y, prior, shapes, adam)
    (u, sse), g = grads(theta, x, y)

    def move(inv, v):
        return jnp.einsum("sij,scj->sci", inv, v) if dense else inv[:, None, :] * v

    def leaps(theta, p, g, u, sse, inv, eps, count, total):
        def leap(_, c):
            t, p, g, u, e, total = c
            p = p - 0.5 * eps * g
            t = t + eps * move(inv, p)
            (u, e), g = grads(t, x, y)
            p = p - 0.5 * eps * g
            if total is not None:
                ok = jnp.where(jnp.isfinite(g), g, 0.0)
                total = total + (jnp.einsum("sci,scj->sij", ok, ok) if dense
                                 else jnp.sum(ok * ok, 1))
            return t, p, g, u, e, total
        return jax.lax.fori_loop(0, count, leap, (theta, p, g, u, sse, total))

    def iterate(carry, root, inv, adapt, total, length):
        theta, u, sse, g, key, logeps, hbar, logbar, count, acc = carry
        key, k1, k2, k3 = jax.random.split(key, 4)
        xi = jax.random.normal(k1, theta.shape)
        p = jnp.einsum("sij,scj->sci", root, xi) if dense else root[:, None, :] * xi
        eps = jnp.exp(logeps if adapt else logbar)[..., None]
        eps = eps * jax.random.uniform(k3, (), minval=0.8, maxval=1.2)
        h0 = u + 0.5 * jnp.sum(p * move(inv, p), -1)
        t1, p1, g1, u1, e1, total = leaps(theta, p, g, u, sse, inv, eps, length, total)
        h1 = u1 + 0.5 * jnp.sum(p1 * move(inv, p1), -1)
        a = jnp.where(jnp.isfinite(h1), jnp.exp(jnp.minimum(0.0, h0 - h1)), 0.0)
        ok = jax.random.uniform(k2, a.shape) < a
        theta = jnp.where(ok[..., None], t1, theta)
        g = jnp.where(ok[..., None], g1, g)
        u, sse = jnp.where(ok, u1, u), jnp.where(ok, e1, sse)
        if adapt:
            count = count + 1
            hbar = hbar + (0.8 - a - hbar) / (count + 10)
            logeps = math.log(0.05) - jnp.sqrt(count) / 0.05 * hbar
            eta = count ** -0.75
            logbar = eta * logeps + (1 - eta) * logbar
        return (theta, u, sse, g, key, logeps, hbar, logbar, count, acc + a), total

    @functools.partial(jax.jit, static_argnames=("adapt", "collect", "length"))
    def many(carry, root, inv, count, adapt, collect, length):
        zero = jnp.zeros((s, size, size) if dense else (s, size)) if collect else None
        return jax.lax.fori_loop(
            0, count, lambda i, c: iterate(c[0], root, inv, adapt, c[1], length), (carry, zero))

    zero = jnp.zeros((s, chains))
    key = jax.random.PRNGKey(seed + 1)
    start = lambda eps: (zero + math.log(eps), zero, zero + math.log(eps), jnp.zeros(()), zero)
    carry = (theta, u, sse, g, key) + start(0.005)
    eye = jnp.broadcast_to(jnp.eye(size), (s, size, size)) if dense else jnp.ones((s, size))
    root = inv = eye
    stages = [(warmup // 4, False)] + [(warmup // 4, True)] * 3
    for count, collect in stages:
        carry, total = many(carry, root, inv, count, True, collect, leapfrogs)
        if collect:
            mass = total / (count * leapfrogs * chains) + (eye if dense else 1.0)
            if dense:
                root = jnp.linalg.cholesky(mass)
                inv = jax.vmap(jnp.linalg.inv)(mass)
                inv = 0.5 * (inv + jnp.swapaxes(inv, 1, 2))
            else:
                root, inv = jnp.sqrt(mass), 1 / mass
            carry = carry[:5] + start(0.05)
    carry, _ = many(carry, root, inv, warmup // 4, True, False, leapfrogs)
    carry = carry[:9] + (zero,)
    kept, errors = [], []
    for k in range(keep):
        carry, _ = many(carry, root, inv, draws // keep, False, False, leapfrogs)
        kept.append(carry[0])
        errors.append(carry[2])
    accept = float(jnp.mean(carry[-1]) / draws)
    return jnp.stack(kept), jnp.stack(errors), accept, shapes, carry


def evaluate(kept, sse, n, xt, yt, scales, prior, shapes):
    run = jax.jit(jax.vmap(jax.vmap(jax.vmap(
        functools.partial(outputs, prior=prior, shapes=shapes), (0, None)), (0, 0)), (0, None)))
    f = np.asarray(run(kept, xt), np.float64)  # keep, s, c, test
    a = 1 + n / 2
    b = 0.01 + np.asarray(sse, np.float64) / 2
    keep, s, c, t = f.shape
    y = np.asarray(yt, np.float64)
    r2 = (y[None, :, None, :] - f) ** 2
    bb = b[..., None]
    lg = (math.lgamma(a + 0.5) - math.lgamma(a) - 0.5 * np.log(2 * np.pi * bb)
          - (a + 0.5) * np.log1p(r2 / (2 * bb)))
    m = lg.max((0, 2))
    ll = np.log(np.exp(lg - m[None, :, None, :]).mean((0, 2))) + m - np.log(scales)[:, None]
    mean = f.mean((0, 2))
    rmse = np.sqrt(((mean - y) ** 2).mean(1)) * scales
    noise = np.sqrt(b / a)
    z = (y[None, :, None, :] - f) / noise[..., None]
    from math import erf
    cdf = (0.5 * (1 + np.vectorize(erf)(z[::2] / math.sqrt(2)))).mean((0, 2))
    cover = ((cdf > 0.05) & (cdf < 0.95)).mean(1)
    half = keep // 2  # split R-hat over the chains, per test row
    g = np.concatenate([f[:half], f[half:2 * half]], 2)
    w = g.var(0, ddof=1).mean(1)
    bt = g.mean(0).var(1, ddof=1)
    rhat = np.sqrt((w * (half - 1) / half + bt) / w)
    lower = ll.mean(1)
    return {"ll": round(float(lower.mean()), 4), "se": round(float(lower.std() / math.sqrt(s)), 3),
            "rmse": round(float(rmse.mean()), 4), "cover90": round(float(cover.mean()), 3),
            "noise": round(float(noise.mean()), 4),
            "rhat_mean": round(float(rhat.mean()), 3), "rhat_95": round(float(np.quantile(rhat, .95)), 3)}


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--uci", default="build/uci")
    parser.add_argument("--sets", default="yacht,energy,bostonHousing,concrete,wine-quality-red")
    parser.add_argument("--friedman", default="", help="such as 10x500,30x500")
    parser.add_argument("--priors", default="gaussian,column,row,both")
    parser.add_argument("--splits", type=int, default=20)
    parser.add_argument("--chains", type=int, default=4)
    parser.add_argument("--warmup", type=int, default=400)
    parser.add_argument("--draws", type=int, default=600)
    parser.add_argument("--keep", type=int, default=60)
    parser.add_argument("--leapfrogs", type=int, default=60)
    parser.add_argument("--mass", default="variance", choices=["variance", "dense", "diagonal"])
    parser.add_argument("--adam", type=int, default=0)
    o = parser.parse_args()
    problems = [(s, uci(o.uci, s, o.splits)) for s in o.sets.split(",") if s]
    for f in o.friedman.split(","):
        if f:
            d, n = map(int, f.split("x"))
            problems.append((f"friedman{d}-{n}", friedman(d, n, 6)))
    for name, sets in problems:
        x, y, xt, yt, scales = standardise(sets)
        if name.startswith("friedman"):
            scales = np.ones_like(scales)
        for prior in o.priors.split(","):
            start = time.time()
            run = {"variance": sample, "dense": sample_dense,
                   "diagonal": functools.partial(sample_dense, dense=False, adam=o.adam)}[o.mass]
            kept, sse, accept, shapes, carry = run(
                x, y, prior, o.chains, o.warmup, o.draws, o.keep, o.leapfrogs, 0)
            row = {"data": name, "prior": prior, "mass": o.mass, **evaluate(
                kept, sse, y.shape[1], xt, yt, scales, prior, shapes),
                "accept": round(accept, 3), "eps": round(float(jnp.exp(carry[7]).mean()), 4),
                "seconds": round(time.time() - start, 1)}
            print(json.dumps(row), flush=True)


if __name__ == "__main__":
    main()

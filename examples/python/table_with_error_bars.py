# %% [markdown]
# # A table with error bars
# House prices from three numbers, of which one does not matter. The noise grows
# with the area. What does the model say where it has seen no houses?

# %%
import numpy as np

from radir import RadirRegressor

generator = np.random.default_rng(1)
area = generator.uniform(40, 160, size=400)
age = generator.uniform(0, 60, size=400)
shoe_size = generator.uniform(36, 46, size=400)
price = 3 * area - 1.5 * age + 0.1 * area * generator.normal(size=400)
X = np.column_stack([area, age, shoe_size])
train, test = slice(0, 300), slice(300, 400)

# %%
# `likelihood="predicted-noise"`: the noise is predicted for each row.
model = RadirRegressor(
    method="rdp", steps=6000, hidden=(30,), likelihood="predicted-noise"
)
model.fit(X[train], price[train])

# %%
low, high = model.predict_interval(X[test], confidence=0.9).T
inside = np.mean((low < price[test]) & (price[test] < high))
print(f"R squared on new houses: {model.score(X[test], price[test]):.2f}")
print(f"Inside the 90 % intervals: {100 * inside:.0f} % of them")
print("Importance of area, age, shoe size:", model.feature_importances_.round(2))

# %%
# Two kinds of uncertainty: more data removes the epistemic part alone.
houses = {"small": [50, 30, 41], "large": [150, 30, 41], "a palace": [600, 30, 41]}
law = model.predict_dist(np.array(list(houses.values()), dtype=float))
print(f"{'house':10} {'price':>7} {'noise':>7} {'model':>7}")
for i, house in enumerate(houses):
    print(
        f"{house:10} {law.mean()[i]:7.0f} {law.aleatoric_std()[i]:7.1f} "
        f"{law.epistemic_std()[i]:7.1f}"
    )
noise, doubt = law.aleatoric_std(), law.epistemic_std()
assert inside > 0.8 and noise[1] > 1.5 * noise[0] and doubt[2] > 3 * doubt[1]

# %% [markdown]
# # Bayesian layers in a PyTorch network of your own
# A curve with a gap in its data: plain weights say one thing there, Bayesian
# weights say how little is known.

# %%
import torch
from torch import nn

import radir.torch as rt

torch.manual_seed(0)
torch.set_num_threads(1)
x = torch.cat([torch.rand(60, 1) - 1.2, torch.rand(60, 1) + 0.2])  # none from -0.2 to 0.2
noise = 0.05
y = torch.sin(3 * x) + noise * torch.randn_like(x)


# %%
class Curve(nn.Module):
    """A residual network; any module works."""

    def __init__(self):
        super().__init__()
        self.first = rt.BayesLinear(1, 40)
        self.middle = rt.BayesLinear(40, 40)
        self.last = rt.BayesLinear(40, 1)

    def forward(self, inputs):
        hidden = torch.relu(self.first(inputs))
        return self.last(hidden + torch.relu(self.middle(hidden)))


net = Curve()
optimizer = torch.optim.Adam(net.parameters(), lr=1e-2)
for step in range(1501):
    optimizer.zero_grad()
    nll = nn.functional.mse_loss(net(x), y) / (2 * noise**2)
    loss = rt.elbo(nll, net, data_count=len(x), kl_weight=min(1, step / 500))
    loss.backward()
    optimizer.step()
    if step % 500 == 0:
        print(f"step {step:4}: nll {nll.item():8.2f}  kl {rt.kl(net).item():6.1f}")

# %%
places = torch.tensor([[-0.7], [0.0], [0.7], [2.0]])
draws = rt.sample(net.eval(), places, 300)  # [draw, place, 1]
spread = draws.std(0).flatten()
print("   x  truth   mean  spread")
for i, place in enumerate(places.flatten()):
    print(
        f"{place:4.1f} {torch.sin(3 * place):6.2f} {draws[:, i].mean():6.2f} {spread[i]:7.3f}"
        + ("" if i in (0, 2) else "  <- no data here")
    )
assert spread[1] > 1.2 * spread[2] and spread[3] > 2 * spread[2], spread

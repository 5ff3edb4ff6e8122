"""The workloads in PyTorch."""
import numpy as np
import torch
import torch.nn.functional as F

from worker import THREADS, arrays, mlp_batch, mlp_weights, serve, workload

torch.set_num_threads(THREADS)


def made(f, mode, *inputs):
    if mode == "compiled":
        return None  # torch.compile needs a compiler and minutes; its figures are no better on these sizes
    inputs = [torch.tensor(x) for x in inputs]

    def step():
        out = f(*inputs)
        return (out[0] if isinstance(out, (tuple, list)) else out).detach().numpy()
    return step


@workload
def square(mode):
    x = torch.tensor(3.0, requires_grad=True)
    return made(lambda: torch.autograd.grad(x ** 2, x)[0], mode)


@workload
def chain_of_100(mode):
    x = torch.tensor(0.5, requires_grad=True)

    def f():
        y = x * 1.0
        for _ in range(50):
            y = torch.sin(y) * 1.01
        return torch.autograd.grad(y, x)[0]
    return made(f, mode)


def mlp_model():
    model = torch.nn.Sequential(torch.nn.Linear(784, 128), torch.nn.ReLU(), torch.nn.Linear(128, 10))
    w1, b1, w2, b2 = [torch.tensor(w) for w in mlp_weights()]
    with torch.no_grad():
        for parameter, value in zip(model.parameters(), [w1.T, b1, w2.T, b2]):
            parameter.copy_(value)
    return model


def mlp(mode, n):
    model = mlp_model()
    adam = torch.optim.Adam(model.parameters(), 1e-3, eps=1e-7, fused=True)

    def f(x, y):
        adam.zero_grad()
        loss = F.cross_entropy(model(x), y)
        loss.backward()
        adam.step()
        return loss
    return made(f, mode, *mlp_batch(n))


@workload
def mlp_adam_1(mode):
    return mlp(mode, 1)


@workload
def mlp_adam_32(mode):
    return mlp(mode, 32)


@workload
def mlp_adam_512(mode):
    return mlp(mode, 512)


@workload
def conv_net_32(mode):
    model = torch.nn.Sequential(torch.nn.Conv2d(1, 32, 3), torch.nn.ReLU(), torch.nn.MaxPool2d(2),
                                torch.nn.Conv2d(32, 64, 3), torch.nn.ReLU(), torch.nn.MaxPool2d(2), torch.nn.Flatten(),
                                torch.nn.Linear(1600, 10)).to(memory_format=torch.channels_last)
    sgd = torch.optim.SGD(model.parameters(), 1e-3)

    def f(x, y):
        sgd.zero_grad()
        loss = F.cross_entropy(model(x), y)
        loss.backward()
        sgd.step()
        return loss
    x = arrays((32, 28, 28, 1), seed=4)[0].transpose(0, 3, 1, 2)
    return made(f, mode, np.ascontiguousarray(x), np.arange(32) % 10)


@workload
def lstm_32x50x64(mode):
    layer = torch.nn.LSTM(64, 128, batch_first=True)

    def f(x):
        loss = layer(x)[1][0].square().sum()
        return (loss, *torch.autograd.grad(loss, list(layer.parameters())))
    return made(f, mode, arrays((32, 50, 64), seed=6)[0])


@workload
def embedding_rows_sgd(mode):
    layer = torch.nn.Embedding(100000, 64, sparse=True)
    with torch.no_grad():
        layer.weight.copy_(torch.tensor(arrays((100000, 64), seed=7)[0]))
    sgd = torch.optim.SGD(layer.parameters(), 0.1)

    def f(ids):
        sgd.zero_grad()
        loss = layer(ids).square().mean()
        loss.backward()
        sgd.step()
        return loss
    return made(f, mode, np.random.RandomState(8).randint(0, 100000, 512))


@workload
def layer_norm_512x768(mode):
    layer = torch.nn.LayerNorm(768)

    def f(x):
        x = x.detach().requires_grad_()
        loss = layer(x).square().sum()
        return (loss, *torch.autograd.grad(loss, [x, *layer.parameters()]))
    return made(f, mode, arrays((512, 768), seed=9)[0])


@workload
def softmax_xent_512x1000(mode):
    def f(x, y):
        x = x.detach().requires_grad_()
        loss = F.cross_entropy(x, y)
        return loss, torch.autograd.grad(loss, x)[0]
    return made(f, mode, arrays((512, 1000), seed=10)[0], np.arange(512) % 1000)


def chain_of_elements(mode, n):
    def f(x):
        x = x.detach().requires_grad_()
        loss = (torch.tanh(x * 1.5 + 0.5) + x).sum()
        return loss, torch.autograd.grad(loss, x)[0]
    return made(f, mode, arrays((n,), seed=11)[0])


@workload
def elements_1e3(mode):
    return chain_of_elements(mode, 1000)


@workload
def elements_1e5(mode):
    return chain_of_elements(mode, 100000)


@workload
def elements_1e7(mode):
    return chain_of_elements(mode, 10000000)


@workload
def jacobian_256(mode):
    w, = arrays((256, 256), seed=12, scale=0.05)
    return made(lambda x, w: torch.func.jacrev(lambda x: torch.tanh(w @ x))(x), mode, arrays((256,), seed=13)[0], w)


@workload
def hessian_vector(mode):
    model = mlp_model()
    parameters = list(model.parameters())

    def f(x, y):
        loss = F.cross_entropy(model(x), y)
        gradients = torch.autograd.grad(loss, parameters, create_graph=True)
        return (loss, *torch.autograd.grad(gradients, parameters, [torch.ones_like(g) for g in gradients]))
    return made(f, mode, *mlp_batch(32))


serve(torch.__version__)

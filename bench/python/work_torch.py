"""The workloads in PyTorch, eager (torch.compile needs a compiler and minutes, and was no faster on most of these)."""
import numpy as np
import torch
import torch.nn.functional as F

import worker
from worker import arrays, labels, mlp_batch, serve, workload

torch.set_num_threads(worker.THREADS)


def made(f, mode, *inputs):
    if mode != "eager":
        return None
    inputs = [torch.tensor(x.astype(np.int64) if x.dtype == np.int32 else x) for x in inputs]
    return lambda: f(*inputs)


def with_gradients(loss, sources):
    return (loss, *torch.autograd.grad(loss, sources))


def given(module, *weights):
    """The module with these weights, in the order of its parameters."""
    with torch.no_grad():
        for parameter, weight in zip(module.parameters(), weights):
            parameter.copy_(torch.tensor(np.ascontiguousarray(weight)))
    return module


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
    w1, b1, w2, b2 = worker.mlp_weights()
    return given(torch.nn.Sequential(torch.nn.Linear(784, 128), torch.nn.ReLU(), torch.nn.Linear(128, 10)), w1.T, b1, w2.T, b2)


def training(model, half=False):
    adam = torch.optim.Adam(model.parameters(), 1e-3, eps=1e-7, fused=True)

    def f(x, y):
        adam.zero_grad()
        with torch.autocast("cpu", torch.bfloat16, enabled=half):
            logits = model(x)
        loss = F.cross_entropy(logits.float(), y)
        loss.backward()
        adam.step()
        return loss
    return f


def mlp(mode, n, half=False):
    return made(training(mlp_model(), half), mode, *mlp_batch(n))


@workload
def mlp_1(mode):
    return mlp(mode, 1)


@workload
def mlp_32(mode):
    return mlp(mode, 32)


@workload
def mlp_512(mode):
    return mlp(mode, 512)


@workload
def mlp_512_bfloat16(mode):
    return mlp(mode, 512, half=True)


@workload
def fit(mode):
    f = training(mlp_model())

    def epoch(x, y):
        return torch.mean(torch.stack([f(x[i:i + 32], y[i:i + 32]).detach() for i in range(0, 512, 32)]))
    step = made(epoch, mode, *mlp_batch(512))
    if step is not None:
        step.per = 16
    return step


@workload
def conv_net(mode):
    k1, b1, k2, b2, w3, b3, w4, b4 = worker.conv_weights()
    w3 = w3.reshape(5, 5, 64, 128).transpose(3, 2, 0, 1).reshape(128, 1600)
    model = given(torch.nn.Sequential(
        torch.nn.Conv2d(1, 32, 3), torch.nn.ReLU(), torch.nn.MaxPool2d(2), torch.nn.Conv2d(32, 64, 3), torch.nn.ReLU(),
        torch.nn.MaxPool2d(2), torch.nn.Flatten(), torch.nn.Linear(1600, 128), torch.nn.ReLU(), torch.nn.Linear(128, 10)),
        k1.transpose(3, 2, 0, 1), b1, k2.transpose(3, 2, 0, 1), b2, w3, b3, w4.T, b4)
    model = model.to(memory_format=torch.channels_last)
    x, y = worker.conv_batch()
    return made(training(model), mode, np.ascontiguousarray(x.transpose(0, 3, 1, 2)), y)


@workload
def lstm(mode):
    kernel, recurrent, offset, dense, dense_offset = worker.lstm_weights()
    layer = given(torch.nn.LSTM(64, 128, batch_first=True), kernel.T, recurrent.T, offset, np.zeros(512, np.float32))
    head = given(torch.nn.Linear(128, 10), dense.T, dense_offset)
    parameters = [p for name, p in layer.named_parameters() if name != "bias_hh_l0"] + list(head.parameters())
    return made(lambda x, y: with_gradients(F.cross_entropy(head(layer(x)[1][0][0]), y), parameters), mode,
                *worker.lstm_batch())


@workload
def lstm_of_lengths(mode):
    kernel, recurrent, offset, dense, dense_offset = worker.lstm_weights()
    layer = given(torch.nn.LSTM(64, 128, batch_first=True), kernel.T, recurrent.T, offset, np.zeros(512, np.float32))
    head = given(torch.nn.Linear(128, 10), dense.T, dense_offset)
    parameters = [p for name, p in layer.named_parameters() if name != "bias_hh_l0"] + list(head.parameters())

    def f(x, y, lengths):
        packed = torch.nn.utils.rnn.pack_padded_sequence(x, lengths, batch_first=True, enforce_sorted=False)
        return with_gradients(F.cross_entropy(head(layer(packed)[1][0][0]), y), parameters)
    return made(f, mode, *worker.lstm_batch(), worker.lstm_lengths())


@workload
def transformer_block(mode, heads=4):
    weights = [torch.tensor(w, requires_grad=True) for w in worker.block_weights()]

    def f(x, target):
        g1, o1, qkv, qkv_offset, out, out_offset, g2, o2, wide, wide_offset, narrow, narrow_offset = weights
        batch, length, width = x.shape
        parts = (F.layer_norm(x, (width,), g1, o1) @ qkv + qkv_offset).split(width, -1)
        q, k, v = (u.view(batch, length, heads, width // heads).transpose(1, 2) for u in parts)
        seen = F.scaled_dot_product_attention(q, k, v).transpose(1, 2).reshape(batch, length, width)
        x = x + seen @ out + out_offset
        x = x + F.gelu(F.layer_norm(x, (width,), g2, o2) @ wide + wide_offset) @ narrow + narrow_offset
        return with_gradients(F.mse_loss(x, target), weights)
    return made(f, mode, *worker.block_batch())


def embedding(mode, optimizer):
    table, ids, target = worker.embedding()
    layer = given(torch.nn.Embedding(100000, 64, sparse=True), table)
    optimizer = optimizer(layer.parameters())

    def f(ids, target):
        optimizer.zero_grad()
        loss = (layer(ids) - target).square().sum() / 1024.0
        loss.backward()
        optimizer.step()
        return loss
    return made(f, mode, ids, target)


@workload
def embedding_sgd(mode):
    return embedding(mode, lambda p: torch.optim.SGD(p, 0.1))


@workload
def embedding_adagrad(mode):
    return embedding(mode, lambda p: torch.optim.Adagrad(p, 0.1, initial_accumulator_value=0.1, eps=1e-7))


@workload
def jacobian_256(mode):
    w, = arrays((256, 256), seed=12, scale=0.05)
    return made(lambda x, w: torch.func.jacrev(lambda x: torch.tanh(w @ x))(x), mode, arrays((256,), seed=13)[0], w)


@workload
def hessian_50(mode):
    f = lambda x: (100.0 * (x[1:] - x[:-1].square()).square() + (1.0 - x[:-1]).square()).sum()  # noqa: E731
    return made(torch.func.hessian(f), mode, arrays((50,), seed=15, scale=0.5)[0])


@workload
def hessian_vector(mode):
    model = mlp_model()
    parameters = list(model.parameters())

    def f(x, y):
        loss = F.cross_entropy(model(x), y)
        gradients = torch.autograd.grad(loss, parameters, create_graph=True)
        return (loss, *torch.autograd.grad(gradients, parameters, [torch.ones_like(g) for g in gradients]))
    return made(f, mode, *mlp_batch(32))


@workload
def accumulate_8x32(mode):
    model = mlp_model()
    adam = torch.optim.Adam(model.parameters(), 1e-3, eps=1e-7, fused=True)

    def f(x, y):
        adam.zero_grad()
        total = 0.0
        for i in range(8):
            loss = F.cross_entropy(model(x[i]), y[i]) / 8.0
            loss.backward()
            total = total + loss.detach()
        adam.step()
        return total
    x, y = mlp_batch(256)
    return made(f, mode, x.reshape(8, 32, 784), y.reshape(8, 32))


def chain_of_elements(mode, n):
    def f(x):
        x = x.detach().requires_grad_()
        return with_gradients((torch.tanh(x * 1.5 + 0.5) + x).mean(), [x])
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
def softmax_xent(mode):
    def f(x, y):
        x = x.detach().requires_grad_()
        return with_gradients(F.cross_entropy(x, y), [x])
    return made(f, mode, arrays((512, 1000), seed=10)[0], labels(512, 1000))


@workload
def chosen_rows(mode):
    x, keep, kernel = worker.chosen_rows_data()
    w = torch.tensor(kernel, requires_grad=True)

    def f(x, keep):
        return with_gradients(torch.tanh(x[keep] @ w).sum(), [w])
    return made(f, mode, x, keep)


@workload
def layer_norm(mode):
    gain, offset = torch.ones(768, requires_grad=True), torch.zeros(768, requires_grad=True)

    def f(x, weight):
        x = x.detach().requires_grad_()
        return with_gradients((F.layer_norm(x, (768,), gain, offset) * weight).sum(), [x, gain, offset])
    return made(f, mode, *arrays((512, 768), (512, 768), seed=9))


@workload
def loop_of_1000(mode):
    def f(x):
        y = x.detach().requires_grad_()
        source = y
        for _ in range(1000):
            y = y * 0.999 + torch.sin(y) * 0.001
        return torch.autograd.grad(y.sum(), source)[0]
    return made(f, mode, arrays((128,), seed=14)[0])


serve(torch.__version__, lambda t: t.detach().numpy())

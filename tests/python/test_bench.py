"""The program that times the module runs, and eager and compiled steps compute the same."""
import os
import pathlib
import subprocess
import sys

RUN = pathlib.Path(__file__).resolve().parents[2] / "bench" / "python" / "run.py"
QUICK = ["square", "chain_of_100", "mlp_32", "mlp_512_bfloat16", "fit", "conv_net", "lstm", "embedding_sgd",
         "embedding_adagrad", "jacobian_256", "hessian_50", "hessian_vector", "accumulate_8x32", "elements_1e3",
         "softmax_xent", "layer_norm", "loop_of_1000", "first_mlp", "import", "memory"]


def test_rows_of_the_table():
    environment = {k: v for k, v in os.environ.items() if k not in ("GRADUS_TF", "GRADUS_TORCH", "GRADUS_JAX")}
    environment["PYTHONPATH"] = os.pathsep.join(filter(None, sys.path))
    done = subprocess.run([sys.executable, str(RUN), "--rounds", "1", "--seconds", "0", "--markdown", "--only",
                           ",".join(QUICK)], capture_output=True, text=True, env=environment, timeout=600)
    assert done.stderr == "" and done.returncode == 0
    table = [[cell.strip() for cell in line.split("|")[1:-1]] for line in done.stdout.splitlines() if line.startswith("| ")]
    assert len(table) == 1 + len(QUICK) + 1  # the head, the rows, and what the first step adds
    for label, eager, function, *_ in table[1:]:
        assert "!" not in eager + function, label
        assert function or label == "import and first op"
        assert eager or "first step" in label or "adds" in label

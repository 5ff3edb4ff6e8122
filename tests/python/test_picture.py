"""The page that shows a program, opened in a real browser without a window (where there is one)."""
import shutil
import subprocess

import gradus as tf
import pytest

BROWSER = next((b for b in ("chromium", "chromium-browser", "google-chrome") if shutil.which(b)), None)


def page():
    @tf.function
    def step(x):
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = tf.reduce_sum(tf.tanh(x @ x) * 2.0)
        return tape.gradient(y, x)
    step(tf.ones([4, 4]))
    return step


def test_programs_are_shown():
    step = page()
    assert "matmul(" in step.program_text() and step.program_dot().startswith("digraph")
    assert "MB moved" in step.program_report()
    assert step.program_html().count("<script>") == 1


@pytest.mark.skipif(BROWSER is None, reason="no browser is installed")
def test_page_draws_and_answers_clicks(tmp_path):
    clicks = """<script>
        const all = document.querySelectorAll('#boxes g').length;
        [...document.querySelectorAll('#boxes g')].find(g => g.textContent.includes('matmul')).onclick();
        byId('fold').onclick();
        document.body.dataset.boxes = all + ' ' + document.querySelectorAll('#boxes g').length;
        svg.onwheel({deltaY: -500, clientX: 100, clientY: 100});
        document.body.dataset.scale = view.scale;
    </script></body>"""
    file = tmp_path / "page.html"
    file.write_text(page().program_html().replace("</body>", clicks))
    shown = subprocess.run([BROWSER, "--headless", "--no-sandbox", "--disable-gpu", "--dump-dom", file.as_uri()],
                           capture_output=True, text=True, timeout=120).stdout
    side = shown.split('id="side"')[1]
    assert "matmul" in side and "float32 (4, 4)" in side and "FLOP" in side and "test_picture.py" in side
    before, after = map(int, shown.split('data-boxes="')[1].split('"')[0].split())
    assert before > after >= 3  # the ops of one line became one box
    assert float(shown.split('data-scale="')[1].split('"')[0]) > 0 and shown.count("<path") >= 2

"""keras.preprocessing: what Keras's Tokenizer gave for these texts."""
import numpy as np
import pytest

from gradus import keras

TEXTS = ["The cat sat on the mat.", "The dog, the cat!", " a\tb cat"]
text = keras.preprocessing.text


def fitted(**settings):
    tokenizer = text.Tokenizer(**settings)
    tokenizer.fit_on_texts(TEXTS)
    return tokenizer


def test_words_are_numbered_by_frequency():
    tokenizer = fitted()
    assert tokenizer.word_index == {"the": 1, "cat": 2, "sat": 3, "on": 4, "mat": 5, "dog": 6, "a": 7, "b": 8}
    assert tokenizer.word_counts == {"the": 4, "cat": 3, "sat": 1, "on": 1, "mat": 1, "dog": 1, "a": 1, "b": 1}
    assert tokenizer.word_docs == {"on": 1, "the": 2, "mat": 1, "sat": 1, "cat": 3, "dog": 1, "b": 1, "a": 1}
    assert tokenizer.texts_to_sequences(TEXTS + ["new cat"]) == [[1, 2, 3, 4, 1, 5], [1, 6, 1, 2], [7, 8, 2], [2]]
    assert tokenizer.sequences_to_texts([[1, 2, 9]]) == ["the cat"]
    assert tokenizer.texts_to_sequences([["the", "cat"]]) == [[1, 2]]


def test_settings():
    assert fitted(num_words=3).texts_to_sequences(TEXTS) == [[1, 2, 1], [1, 1, 2], [2]]
    other = fitted(oov_token="<o>", num_words=4)
    assert other.texts_to_sequences(TEXTS + ["new cat"]) == [[2, 3, 1, 1, 2, 1], [2, 1, 2, 3], [1, 1, 3], [1, 3]]
    assert other.sequences_to_texts([[1, 2, 9]]) == ["<o> the <o>"]
    assert fitted(char_level=True).texts_to_sequences(["new cat"]) == [[9, 5, 1, 6, 3, 2]]
    assert fitted(lower=False).word_index["The"] == 2


def test_matrices():
    tokenizer = fitted()
    matrix = tokenizer.texts_to_matrix(TEXTS[:2], "tfidf")
    np.testing.assert_allclose(matrix[0], [0, 1.1736001944781467, 0.5596157879354227] + [0.9162907318741551] * 3 + [0] * 3)
    assert tokenizer.texts_to_matrix(TEXTS[1:2], "count").tolist() == [[0, 2, 1, 0, 0, 0, 1, 0, 0]]
    assert tokenizer.texts_to_matrix(TEXTS[1:2], "freq").tolist() == [[0, 0.5, 0.25, 0, 0, 0, 0.25, 0, 0]]
    assert tokenizer.texts_to_matrix(TEXTS[1:2]).tolist() == [[0, 1, 1, 0, 0, 0, 1, 0, 0]]
    with pytest.raises(ValueError, match="Unknown vectorization mode"):
        tokenizer.texts_to_matrix(TEXTS, "x")


def test_written_down():
    tokenizer = fitted(oov_token="?")
    again = text.tokenizer_from_json(tokenizer.to_json())
    assert again.get_config() == tokenizer.get_config()
    assert again.texts_to_sequences(TEXTS) == tokenizer.texts_to_sequences(TEXTS)
    padded = keras.preprocessing.sequence.pad_sequences(again.texts_to_sequences(TEXTS), maxlen=4)
    assert padded.shape == (3, 4)

"""Words and characters as numbers: Tokenizer and hashes."""
import hashlib
import json
import math

_FILTERS = '!"#$%&()*+,-./:;<=>?@[\\]^_`{|}~\t\n'


def text_to_word_sequence(input_text, filters=_FILTERS, lower=True, split=" "):
    """The words of a text, with the characters of `filters` taken as separators."""
    if lower:
        input_text = input_text.lower()
    return [word for word in input_text.translate({ord(c): split for c in filters}).split(split) if word]


class Tokenizer:
    """Numbers words by how often they occur: 1 is the most frequent, 0 is no word.

    Of texts only words below num_words are kept; others are left out, or become the number of oov_token.
    """

    def __init__(self, num_words=None, filters=_FILTERS, lower=True, split=" ", char_level=False, oov_token=None,
                 analyzer=None, document_count=0):
        self.num_words, self.filters, self.lower, self.split = num_words, filters, lower, split
        self.char_level, self.oov_token, self.analyzer = char_level, oov_token, analyzer
        self.document_count = document_count
        self.word_counts, self.word_docs, self.index_docs = {}, {}, {}
        self.word_index, self.index_word = {}, {}

    def _words(self, text):
        if self.char_level or isinstance(text, list):
            if self.lower:
                text = [part.lower() for part in text] if isinstance(text, list) else text.lower()
            return list(text)
        if self.analyzer is not None:
            return self.analyzer(text)
        return text_to_word_sequence(text, self.filters, self.lower, self.split)

    def fit_on_texts(self, texts):
        """Counts the words of texts, or of lists of words, and numbers them anew."""
        for text in texts:
            self.document_count += 1
            words = self._words(text)
            for word in words:
                self.word_counts[word] = self.word_counts.get(word, 0) + 1
            for word in dict.fromkeys(words):
                self.word_docs[word] = self.word_docs.get(word, 0) + 1
        by_count = sorted(self.word_counts, key=lambda word: -self.word_counts[word])
        listed = ([] if self.oov_token is None else [self.oov_token]) + by_count
        self.word_index = {word: i for i, word in enumerate(listed, 1)}
        self.index_word = {i: word for word, i in self.word_index.items()}
        self.index_docs = {self.word_index[word]: count for word, count in self.word_docs.items()}

    def fit_on_sequences(self, sequences):
        """Counts the documents in which numbers occur, for texts_to_matrix."""
        for sequence in sequences:
            self.document_count += 1
            for i in set(sequence):
                self.index_docs[i] = self.index_docs.get(i, 0) + 1

    def texts_to_sequences(self, texts):
        """Lists of numbers."""
        return list(self.texts_to_sequences_generator(texts))

    def texts_to_sequences_generator(self, texts):
        """The same, one after the other."""
        other = self.word_index.get(self.oov_token)
        for text in texts:
            numbers = []
            for word in self._words(text):
                i = self.word_index.get(word)
                if i is None or (self.num_words and i >= self.num_words):
                    i = other
                if i is not None:
                    numbers.append(i)
            yield numbers

    def sequences_to_texts(self, sequences):
        """Texts of numbers again."""
        return list(self.sequences_to_texts_generator(sequences))

    def sequences_to_texts_generator(self, sequences):
        """The same, one after the other."""
        other = self.word_index.get(self.oov_token)
        for sequence in sequences:
            words = []
            for i in sequence:
                known = i in self.index_word and not (self.num_words and i >= self.num_words)
                i = i if known else other
                if i is not None:
                    words.append(self.index_word[i])
            yield " ".join(words)

    def texts_to_matrix(self, texts, mode="binary"):
        """A row for each text, a column for each number: whether, how often, or how notably it occurs."""
        return self.sequences_to_matrix(self.texts_to_sequences(texts), mode)

    def sequences_to_matrix(self, sequences, mode="binary"):
        """The same of lists of numbers; mode is binary, count, freq or tfidf."""
        import numpy as np
        if mode not in ("binary", "count", "freq", "tfidf"):
            raise ValueError(f"Unknown vectorization mode: {mode}")
        if not self.num_words and not self.word_index:
            raise ValueError("Specify a dimension (`num_words` argument), or fit on some text data first.")
        if mode == "tfidf" and not self.document_count:
            raise ValueError("Fit the Tokenizer on some data before using tfidf mode.")
        width = self.num_words or len(self.word_index) + 1
        matrix = np.zeros((len(sequences), width))
        for row, sequence in zip(matrix, sequences):
            for i in set(sequence):
                if i >= width:
                    continue
                count = sequence.count(i)
                if mode == "tfidf":
                    row[i] = (1 + math.log(count)) * math.log(1 + self.document_count / (1 + self.index_docs.get(i, 0)))
                else:
                    row[i] = {"binary": 1, "count": count, "freq": count / len(sequence)}[mode]
        return matrix

    def get_config(self):
        """The settings and what was counted."""
        config = {key: getattr(self, key) for key in ("num_words", "filters", "lower", "split", "char_level", "oov_token",
                                                      "document_count")}
        config.update({key: json.dumps(getattr(self, key))
                       for key in ("word_counts", "word_docs", "index_docs", "index_word", "word_index")})
        return config

    def to_json(self, **kwargs):
        """The same as a text, for tokenizer_from_json."""
        return json.dumps({"class_name": type(self).__name__, "config": self.get_config()}, **kwargs)


def tokenizer_from_json(json_string):
    """A tokenizer like the one that gave the text."""
    config = json.loads(json_string)["config"]
    counted = {key: json.loads(config.pop(key))
               for key in ("word_counts", "word_docs", "index_docs", "index_word", "word_index")}
    tokenizer = Tokenizer(**config)
    for key, value in counted.items():
        setattr(tokenizer, key, {int(k): v for k, v in value.items()} if key.startswith("index_") else value)
    return tokenizer


def one_hot(input_text, n, filters=_FILTERS, lower=True, split=" ", analyzer=None):
    """A number below n for each word, by Python's hash."""
    return hashing_trick(input_text, n, hash, filters, lower, split, analyzer)


def hashing_trick(text, n, hash_function=None, filters=_FILTERS, lower=True, split=" ", analyzer=None):
    """A number from 1 to n - 1 for each word: its hash ('md5' is the same in every process)."""
    if hash_function is None:
        hash_function = hash
    elif hash_function == "md5":
        def hash_function(word):
            return int(hashlib.md5(word.encode()).hexdigest(), 16)  # noqa: S324
    words = text_to_word_sequence(text, filters, lower, split) if analyzer is None else analyzer(text)
    return [hash_function(word) % (n - 1) + 1 for word in words]

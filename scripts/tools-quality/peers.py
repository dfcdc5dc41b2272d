"""Ranks passages for questions by rank_bm25 and bm25s. Reads JSON from standard input, writes JSON."""

import json
import re
import sys

import bm25s
from rank_bm25 import BM25Okapi

DEPTH = 10


def words(text):
    return re.findall(r"\w+", text.lower())


def best(scores):
    return sorted(range(len(scores)), key=lambda index: -scores[index])[:DEPTH]


asked = json.load(sys.stdin)
passages = [words(text) for text in asked["passages"]]
questions = [words(text) for text in asked["questions"]]
okapi = BM25Okapi(passages)
lucene = bm25s.BM25()
lucene.index(passages, show_progress=False)
ranks = lucene.retrieve(questions, k=min(DEPTH, len(passages)), show_progress=False).documents
json.dump({"rank_bm25": [best(okapi.get_scores(question)) for question in questions], "bm25s": ranks.tolist()}, sys.stdout)

"""Ranks passages by rank-bm25. Reads {passages: [[word]], questions: [[word]]}, writes the best ten places for each."""

import json
import sys

from rank_bm25 import BM25Okapi

asked = json.load(sys.stdin)
index = BM25Okapi(asked["passages"])
answers = []
for words in asked["questions"]:
    scores = index.get_scores(words)
    best = sorted(range(len(scores)), key=lambda place: (-scores[place], place))[:10]
    answers.append([place for place in best if scores[place] > 0])
json.dump(answers, sys.stdout)

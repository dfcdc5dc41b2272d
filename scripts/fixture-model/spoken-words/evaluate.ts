import { parseArgs } from "node:util";
import { isRecord } from "@antiphon/base/json/records.ts";
import { CONDITIONS, faults, type HeldOut, heldOutUtterances, speak, wordsIn } from "./held-out.ts";

/**
 * Says to a running server what its model has never heard, and counts the words that come back right.
 *
 * usage: WHISPER_MODEL=spoken-words-fixture make start, and beside it: node
 * scripts/fixture-model/spoken-words/evaluate.ts [--utterances 300] [--seed 1]
 */
const { values } = parseArgs({
  options: {
    url: { type: "string", default: "http://127.0.0.1:8237" },
    utterances: { type: "string", default: "300" },
    seed: { type: "string", default: "1" },
    verbose: { type: "boolean", default: false },
  },
});

interface Tally {
  words: number;
  faults: number;
  sentences: number;
  right: number;
}

const tallies = new Map<string, Tally>();

const utterances = heldOutUtterances(Number(values.utterances), Number(values.seed));
for (const [index, utterance] of utterances.entries()) {
  const heard = wordsIn(await transcribed(await speak(utterance, index)));
  const wrong = faults(utterance.words, heard);
  for (const name of ["all", utterance.condition]) count(name, utterance, wrong);
  if (wrong > 0 && values.verbose)
    console.log(`${utterance.voice} ${utterance.condition}: ${utterance.words.join(" ")} -> ${heard.join(" ")}`);
}
for (const name of [...CONDITIONS, "all"]) {
  const {
    words,
    faults: wrong,
    sentences,
    right,
  } = tallies.get(name) ?? { words: 0, faults: 0, sentences: 0, right: 0 };
  console.log(
    `${name.padEnd(15)} ${percent(words - wrong, words)} of ${words} words, ${percent(right, sentences)} of ${sentences} sentences`,
  );
}

function count(name: string, { words }: HeldOut, wrong: number): void {
  const tally = tallies.get(name) ?? { words: 0, faults: 0, sentences: 0, right: 0 };
  tally.words += words.length;
  tally.faults += wrong;
  tally.sentences += 1;
  tally.right += wrong === 0 ? 1 : 0;
  tallies.set(name, tally);
}

async function transcribed(wav: Uint8Array): Promise<string> {
  const form = new FormData();
  form.set("audio", new Blob([Uint8Array.from(wav)], { type: "audio/wav" }), "recording.wav");
  const reply = await fetch(`${values.url}/transcribe`, { method: "POST", body: form });
  const body: unknown = await reply.json();
  if (!reply.ok || !isRecord(body) || typeof body["text"] !== "string")
    throw new Error(`The server answered ${reply.status}: ${JSON.stringify(body)}`);
  return body["text"];
}

function percent(part: number, whole: number): string {
  return `${((100 * part) / Math.max(1, whole)).toFixed(1)} %`;
}

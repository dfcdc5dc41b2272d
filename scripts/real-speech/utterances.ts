import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { gunzipSync } from "node:zlib";
import { WavReader } from "@antiphon/speech/audio/wav.ts";
import { decodeG722 } from "./g722.ts";

export interface Utterance {
  readonly name: string;
  /** The text of the source. */
  readonly transcript: string;
  /** Samples at 16 kHz. */
  readonly samples: Int16Array;
}

/** Folder of the unpacked packages, and the path of whisper.cpp's sample recording. */
export interface SpeechFolders {
  readonly packages: string;
  readonly presidentWav: string;
}

const PROMPTS = "usr/share/asterisk/sounds/en_US_f_Allison";
const PROMPT_TEXTS = "usr/share/doc/asterisk-core-sounds-en/core-sounds-en.txt.gz";
const NOVEL = "usr/share/pocketsphinx/test/data/librivox";

const PRESIDENT =
  "And so my fellow Americans ask not what your country can do for you ask what you can do for your country";

/** Shorter prompts are skipped, because single words say little about quality. */
const WORDS_MIN = 4;
/** Digits can be read in several ways, and brackets contain text that is not spoken. */
const UNCLEAR = /[\d[\]()<>]/;

/** Reads human speech with its text: telephone prompts, sentences of a novel, and a presidential speech. */
export function readUtterances({ packages, presidentWav }: SpeechFolders): Utterance[] {
  return [
    { name: "president", transcript: PRESIDENT, samples: readWav(presidentWav) },
    ...novel(join(packages, NOVEL)),
    ...prompts(packages),
  ];
}

function prompts(packages: string): Utterance[] {
  const texts = gunzipSync(readFileSync(join(packages, PROMPT_TEXTS))).toString("utf8");
  const folder = join(packages, PROMPTS);
  const files = new Set(readdirSync(folder, { recursive: true, encoding: "utf8" }));
  return texts.split("\n").flatMap((line) => {
    const [, name = "", transcript = ""] = /^([^;:\s]+):\s*(.*)$/.exec(line) ?? [];
    const file = `${name}.g722`;
    if (!files.has(file) || UNCLEAR.test(transcript) || transcript.split(/\s+/).length < WORDS_MIN) return [];
    return [{ name, transcript, samples: decodeG722(readFileSync(join(folder, file))) }];
  });
}

function novel(folder: string): Utterance[] {
  const lines = readFileSync(join(folder, "transcription"), "utf8").split("\n");
  return lines.flatMap((line) => {
    const [, transcript = "", name = ""] = /^<s> (.*) <\/s> \((\S+)\)$/.exec(line) ?? [];
    return name === "" ? [] : [{ name, transcript, samples: readWav(join(folder, `${name}.wav`)) }];
  });
}

function readWav(path: string): Int16Array {
  const reader = new WavReader();
  const samples = reader.push(readFileSync(path));
  if (reader.format?.sampleRateHz !== 16_000) throw new Error(`${path} is not sampled at 16 kHz`);
  return samples;
}

import { cutResult, type ShortResult } from "@antiphon/base/limits/cut-result.ts";
import type { Citable } from "@antiphon/domain/hosted-tool.ts";
import type { Passage } from "@antiphon/domain/vector-stores.ts";

export type FileCitable = Extract<Citable, { type: "file" }>;

/** The maximum text of hits for one call: about 20,000 tokens. */
const SHOWN_CHARACTERS_MAX = 80_000;
const BETWEEN = "\n\n";
const LABEL = /^\[file:\d+\] /;

/** The number of the first hit that a call requests, from 1. */
export function fromPassage(args: Readonly<Record<string, unknown>> | null): number {
  const number = Number(args?.["from_passage"] ?? 1);
  return Number.isInteger(number) && number > 0 ? number : 1;
}

interface ToldPassages {
  /** The number of the first of these hits. */
  readonly from: number;
  /** The total number of hits. */
  readonly count: number;
  /** The citation of each hit. */
  readonly sources: readonly FileCitable[];
}

/** The hits as text for the model. */
export function tellPassages(passages: readonly Passage[], { from, count, sources }: ToldPassages): string {
  if (count === 0) return "Nothing was found. Try other words.";
  if (passages.length === 0) return `Only ${count} passages were found.`;
  const blocks = passages.map(({ filename, headings, text }, index) => {
    const place = headings.length === 0 ? "" : ` (${headings.join(" > ")})`;
    return `[file:${sources[index]?.number ?? 0}] ${filename}${place}\n${text}`;
  });
  const text = blocks.join(BETWEEN).trimEnd();
  if (text.length <= SHOWN_CHARACTERS_MAX) return text;
  const short = shortenPassages(text, from, SHOWN_CHARACTERS_MAX);
  return `${short.text}\n${short.notice}`;
}

/** The first complete hits of an output, or the beginning of the first one. `from`: its number. */
export function shortenPassages(text: string, from: number, charactersMax: number): ShortResult {
  const blocks = blocksOf(text);
  let output = "";
  let count = 0;
  for (const block of blocks) {
    const more = count === 0 ? block : `${output}${BETWEEN}${block}`;
    if (more.length > charactersMax) break;
    output = more;
    count += 1;
  }
  const [first = ""] = blocks;
  const beginning = count === 0 ? cutResult(first, charactersMax) : null;
  const next = from + Math.max(count, 1);
  const rest = blocks.length - Math.max(count, 1);
  const notices = [
    ...(beginning === null ? [] : [beginning.notice]),
    ...(rest === 0 ? [] : [`${rest} more passages were left out. Search again with from_passage ${next} to see them.`]),
  ];
  return { text: beginning?.text ?? output, notice: notices.join(" ") };
}

/** The hits with their labels. */
function blocksOf(text: string): readonly string[] {
  const blocks: string[] = [];
  for (const part of text.split(BETWEEN)) {
    if (LABEL.test(part) || blocks.length === 0) blocks.push(part);
    else blocks.push(`${blocks.pop() ?? ""}${BETWEEN}${part}`);
  }
  return blocks;
}

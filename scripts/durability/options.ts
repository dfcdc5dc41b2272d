import { parseArgs } from "node:util";

export const PARTS = ["sqlite", "postgres", "clients", "outages", "peer"] as const;
export type Part = (typeof PARTS)[number];

export const USAGE = `Usage: make durability ARGS="[part]... [option]..."
Parts: ${PARTS.join(", ")}; all of them unless some are named.
  --runs N       runs under kills in all, half of them on SQLite and half on PostgreSQL; 400 unless told.
                 With repeated creates and webhooks (clients) as many as SQLite.
                 The peer gets as many as SQLite
  --wave N       runs that begin together; 20 unless told
  --outages N    outages of PostgreSQL, each of 1 to 60 s; 100 unless told
  --under-way N  runs at a time during outages; 10 unless told
  --same-words   the model gives the same answer to the same question
  --no-peer      leaves the peer out`;

export interface Options {
  readonly parts: readonly Part[];
  /** Of each part with kills. */
  readonly runs: number;
  readonly wave: number;
  readonly outages: number;
  readonly underWay: number;
  readonly hasSameWords: boolean;
}

/** Reads the command line. Returns null if help is asked for; throws if something in it is unknown. */
export function readOptions(argv: readonly string[]): Options | null {
  const { values, positionals } = parseArgs({
    args: [...argv],
    allowPositionals: true,
    strict: true,
    options: {
      runs: { type: "string", default: "400" },
      wave: { type: "string", default: "20" },
      outages: { type: "string", default: "100" },
      "under-way": { type: "string", default: "10" },
      "same-words": { type: "boolean", default: false },
      "no-peer": { type: "boolean", default: false },
      help: { type: "boolean", default: false },
    },
  });
  if (values.help) return null;
  const unknown = positionals.find((name) => !PARTS.some((part) => part === name));
  if (unknown !== undefined) throw new Error(`There is no part called ${unknown}.\n${USAGE}`);
  const parts = PARTS.filter((part) => positionals.length === 0 || positionals.includes(part));
  return {
    parts: parts.filter((part) => part !== "peer" || !values["no-peer"]),
    runs: Math.ceil(countOf("runs", values.runs) / 2),
    wave: countOf("wave", values.wave),
    outages: countOf("outages", values.outages),
    underWay: countOf("under-way", values["under-way"]),
    hasSameWords: values["same-words"],
  };
}

function countOf(name: string, text: string): number {
  if (/^[1-9]\d{0,5}$/.test(text)) return Number(text);
  throw new Error(`--${name} '${text}' is no number above 0.\n${USAGE}`);
}

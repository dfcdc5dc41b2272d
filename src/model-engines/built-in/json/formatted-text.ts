import type { Hints } from "./hints.ts";
import type { ValueContext } from "./value-context.ts";

interface Format {
  /** Values of this format found in the message. */
  readonly said?: (hints: Hints) => readonly string[];
  readonly sample: (position: number) => string;
}

const FORMATS: Readonly<Record<string, Format>> = {
  date: {
    said: ({ dates }) => dates,
    sample: (position) => `2026-${twoDigits(1 + (position % 12))}-${twoDigits(1 + (Math.floor(position / 12) % 28))}`,
  },
  "date-time": {
    said: ({ dates }) => dates.map((date) => `${date}T12:00:00Z`),
    sample: (position) => `2026-01-15T${clock(position)}Z`,
  },
  time: { sample: (position) => `${clock(position)}Z` },
  duration: { sample: (position) => `P${position + 1}D` },
  email: { said: ({ emails }) => emails, sample: (position) => `user${numbered(position)}@example.com` },
  "idn-email": { said: ({ emails }) => emails, sample: (position) => `user${numbered(position)}@example.com` },
  uuid: { sample: (position) => `00000000-0000-4000-8000-${String(position + 1).padStart(12, "0")}` },
  uri: { said: ({ urls }) => urls, sample: (position) => `https://example.com/${numbered(position)}` },
  "uri-reference": { said: ({ urls }) => urls, sample: (position) => `/example${numbered(position)}` },
  iri: { said: ({ urls }) => urls, sample: (position) => `https://example.com/${numbered(position)}` },
  hostname: { sample: (position) => `host${numbered(position)}.example.com` },
  ipv4: { sample: (position) => `192.0.2.${1 + (position % 254)}` },
  ipv6: { sample: (position) => `2001:db8::${(position + 1).toString(16)}` },
  "json-pointer": { sample: (position) => `/example${numbered(position)}` },
  regex: { sample: (position) => `^example${numbered(position)}$` },
};

/** A string of the format, taken from the message if possible; null for a format that the engine does not know. */
export function formattedText(format: string, { hints, position }: ValueContext): string | null {
  const known = Object.hasOwn(FORMATS, format) ? FORMATS[format] : undefined;
  if (known === undefined) return null;
  const said = new Set(known.said?.(hints));
  return [...said][position] ?? known.sample(position);
}

function numbered(position: number): string {
  return position === 0 ? "" : String(position + 1);
}

function clock(position: number): string {
  return `${twoDigits(12 + (position % 12))}:${twoDigits(Math.floor(position / 12) % 60)}:00`;
}

function twoDigits(number: number): string {
  return String(number).padStart(2, "0");
}

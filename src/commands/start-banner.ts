import { styleText } from "node:util";
import type { CodePlace } from "../servers/choices/code/choose-code.ts";
import { FILE_SEARCH } from "./machine/examine-features.ts";
import type { MachineLine } from "./machine/machine-line.ts";

/** A line of the banner: a name and its text. */
export type BannerLine = readonly [name: string, text: string];

export interface Banner {
  readonly lines: readonly BannerLine[];
  /** Next steps for a person at a terminal; null for other readers. */
  readonly next: NextSteps | null;
}

export interface NextSteps {
  /** Has no trailing slash and no `/v1`. */
  readonly url: string;
  /** File that holds the key; null if the keys are configured. */
  readonly keyFile: string | null;
  /** A model that answers; null if only the model server knows the names. */
  readonly model: string | null;
}

const NAME_CHARACTERS = 19;

const REDUCED_LINE = "Reduced";

/** The name of the line about the key. */
export const KEY_LINE = "API key";

/** The lines for scripts and logs. */
export function bannerLines(lines: readonly BannerLine[]): readonly string[] {
  return lines.map(([name, text]) => `${name.padEnd(NAME_CHARACTERS)}${text}`);
}

/** Where code runs, and each feature that is less than it could be, with the command that mends it. */
export function laterLines(
  { place, abilities, why }: CodePlace,
  features: readonly MachineLine[],
): readonly BannerLine[] {
  const code: BannerLine =
    abilities === null ? ["Code does not run", why] : ["Code runs in", `${place}, Python ${abilities.python}`];
  const reduced = features.filter(
    ({ part, state }) => part !== FILE_SEARCH && (state === "reduced" || state === "fails"),
  );
  const lines = reduced.map(({ part, text, cure }): BannerLine => {
    const advice = cure === null ? "" : `. To mend it: ${cure}`;
    return [REDUCED_LINE, `${part}: ${text}${advice}`];
  });
  return [code, ...lines];
}

/** The lines of several processes as one banner. The process that created the key prints it and its location. */
export function joinedLines(lines: readonly string[]): readonly string[] {
  const keyLines = lines.filter((line) => line.startsWith(KEY_LINE));
  const keyLine = keyLines.toSorted((one, other) => other.length - one.length)[0];
  return lines.filter((line) => !line.startsWith(KEY_LINE) || line === keyLine);
}

/** The lines for a person at a terminal, with the version above and the next steps below. */
export function terminalBanner({ lines, next }: Banner, version: string, hasColors: boolean): readonly string[] {
  const paint = (format: Parameters<typeof styleText>[0], text: string): string =>
    hasColors ? styleText(format, text, { validateStream: false }) : text;
  const rows = lines.map(([name, text]) => `  ${paint("cyan", name.padEnd(NAME_CHARACTERS))}${text}`);
  return ["", `  ${paint("bold", `Antiphon ${version}`)}`, "", ...rows, "", ...steps(next, paint)];
}

/** A line that follows the banner later, in the banner's style. */
export function terminalLine(line: string, hasColors: boolean): string {
  const name = line.slice(0, NAME_CHARACTERS);
  return `  ${hasColors ? styleText("cyan", name, { validateStream: false }) : name}${line.slice(NAME_CHARACTERS)}`;
}

function steps(
  next: NextSteps | null,
  paint: (format: Parameters<typeof styleText>[0], text: string) => string,
): readonly string[] {
  if (next === null) return [];
  const { url, keyFile, model } = next;
  const key = keyFile === null ? "YOUR_KEY" : `$(cat ${keyFile})`;
  const headers = `-H "Authorization: Bearer ${key}" -H "Content-Type: application/json"`;
  const body = `{"model": "${model ?? "MODEL"}", "input": "Hello"}`;
  const names =
    model === null ? [`  ${paint("dim", "Models:")}    curl ${url}/v1/models -H "Authorization: Bearer ${key}"`] : [];
  return [
    `  ${paint("bold", "Try it:")}    curl ${url}/v1/responses ${headers} -d '${body}'`,
    ...names,
    `  ${paint("dim", "Look:")}      open ${url}/inspector in a browser: it shows every run`,
    `  ${paint("dim", "Settings:")}  --help lists them; Ctrl+C stops the server`,
    "",
  ];
}

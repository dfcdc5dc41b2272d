import { cutResult, type ShortResult } from "@antiphon/base/limits/cut-result.ts";
import type { ToldCall, ToolOutcome } from "@antiphon/domain/hosted-tool.ts";
import { readArguments, textArgument } from "../read-arguments.ts";
import { type Page, PageFailed } from "./pages/page-reader.ts";
import { failedCall, type Names, ranCall } from "./web-items.ts";
import type { WebSession } from "./web-session.ts";

const OPENED_CHARACTERS_MAX = 20_000;
const LINKS_MAX = 30;
const MATCHES_MAX = 20;
const LINES_AROUND = 2;
/** A line of a page, with its number. */
const NUMBERED = /^(?<number>\d+): /;

export const OPEN_FUNCTION = {
  name: "open_page",
  description: "Opens a page and returns its text with line numbers.",
  parameters: {
    type: "object",
    properties: {
      url: { type: "string" },
      from_line: { type: "integer", minimum: 1, description: "To go on in a long page." },
    },
    required: ["url"],
  },
} as const;

export const FIND_FUNCTION = {
  name: "find_in_page",
  description: "Finds a phrase in a page, any case, and returns the lines around it.",
  parameters: {
    type: "object",
    properties: { url: { type: "string" }, pattern: { type: "string" } },
    required: ["url", "pattern"],
  },
} as const;

export async function openPage(
  session: WebSession,
  names: Names,
  args: string,
  signal: AbortSignal,
): Promise<ToolOutcome> {
  const request = readArguments(args);
  const url = request === null ? null : textArgument(request, "url");
  if (request === null || url === null) return failedCall(names, null, "The arguments need `url`.");
  const action = { type: "open_page" as const, url };
  const page = await pageOrFault(session, url, signal);
  if (typeof page === "string") return failedCall(names, action, page);
  const line = Number(request["from_line"] ?? 1);
  const from = Number.isInteger(line) && line > 0 ? line : 1;
  const source = session.cite(page.url, page.title);
  const text = `[web:${source.number}] ${page.title}\n${shownLines(page, from)}`;
  return ranCall(session, names, { action, hits: [], text, sources: [source], isSearch: false });
}

export async function findInPage(
  session: WebSession,
  names: Names,
  args: string,
  signal: AbortSignal,
): Promise<ToolOutcome> {
  const request = readArguments(args);
  const url = request === null ? null : textArgument(request, "url");
  const pattern = request === null ? null : textArgument(request, "pattern");
  if (url === null || pattern === null) return failedCall(names, null, "The arguments need `url` and `pattern`.");
  const action = { type: "find_in_page" as const, url, pattern };
  const page = await pageOrFault(session, url, signal);
  if (typeof page === "string") return failedCall(names, action, page);
  const source = session.cite(page.url, page.title);
  const text = `[web:${source.number}] ${page.title}\n${matchesOf(page, pattern)}`;
  return ranCall(session, names, { action, hits: [], text, sources: [source], isSearch: false });
}

/** The page, or why it is unavailable. */
async function pageOrFault(session: WebSession, url: string, signal: AbortSignal): Promise<Page | string> {
  const { services, settings, scope } = session;
  if (!session.allows(url)) return `Only pages of ${settings.domains.join(", ")} may be opened.`;
  const knownPage = services.pages.findKnown(url);
  if (!settings.isLive && knownPage === null)
    return "Pages are not fetched for this request. Use what the search shows.";
  if (session.isNarrow && !session.knownUrls.has(url))
    return "Only pages that the user named, or that a search or page here showed, may be opened.";
  try {
    const page = await services.pages.open(url, scope.owner.project, signal);
    for (const link of page.links) session.knownUrls.add(link.url);
    return page;
  } catch (error) {
    if (error instanceof PageFailed) return error.message;
    throw error;
  }
}

function shownLines({ lines, links }: Page, from: number): string {
  if (from > lines.length) return `The page has only ${lines.length} lines.`;
  const output: string[] = [];
  let characters = 0;
  let next = from;
  for (; next <= lines.length; next += 1) {
    const line = `${next}: ${lines[next - 1]}`;
    characters += line.length + 1;
    if (characters > OPENED_CHARACTERS_MAX && output.length > 0) break;
    output.push(line);
  }
  if (next <= lines.length)
    output.push(`The page goes on; ${lines.length} lines in all. Open it with from_line ${next}.`);
  else if (links.length > 0)
    output.push("Links:", ...links.slice(0, LINKS_MAX).map(({ text, url }) => `- ${text}: ${url}`));
  return output.join("\n");
}

function matchesOf({ lines }: Page, pattern: string): string {
  const phrase = pattern.toLowerCase();
  const matches = lines.flatMap((line, index) => (line.toLowerCase().includes(phrase) ? [index] : []));
  if (matches.length === 0) return "The phrase is not in the page.";
  const near = new Set<number>();
  for (const index of matches.slice(0, MATCHES_MAX))
    for (let line = index - LINES_AROUND; line <= index + LINES_AROUND; line += 1) near.add(line);
  const output = [...near]
    .filter((index) => index >= 0 && index < lines.length)
    .map((index) => `${index + 1}: ${lines[index]}`);
  const rest = matches.length > MATCHES_MAX ? [`${matches.length - MATCHES_MAX} more lines have it.`] : [];
  return [...output, ...rest].join("\n");
}

/** The first whole lines of an opened page. Other web output may be cut anywhere. */
export function shortenPage({ name, text }: Pick<ToldCall, "name" | "text">, charactersMax: number): ShortResult {
  const lines = text.split("\n");
  const numbers = lines.map((line) => Number(NUMBERED.exec(line)?.groups?.["number"] ?? 0));
  const first = numbers.find((number) => number > 0) ?? 0;
  if (name !== OPEN_FUNCTION.name || first === 0) return cutResult(text, charactersMax);
  let characters = -1;
  const end = lines.findIndex((line) => {
    characters += line.length + 1;
    return characters > charactersMax;
  });
  const lineCount = end === -1 ? lines.length : end;
  const next = Math.max(...numbers.slice(0, lineCount), first - 1) + 1;
  const charactersLeft = text.length - lines.slice(0, lineCount).join("\n").length;
  const notice = `The rest, ${charactersLeft} characters, was left out, because the model's window is small. Open the page with from_line ${next} to go on.`;
  return { text: lines.slice(0, lineCount).join("\n"), notice };
}

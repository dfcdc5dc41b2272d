import { beginExchange } from "@antiphon/base/exchanges/exchange-recording.ts";
import { jsonOrUndefined } from "@antiphon/base/json/read-json.ts";
import { isRecord } from "@antiphon/base/json/records.ts";
import { readBodyStart } from "@antiphon/base/limits/read-body-start.ts";
import { request } from "undici";
import { type Hit, SearchFailed } from "./search-provider.ts";

const REPLY_BYTES_MAX = 2 * 1024 * 1024;
const HITS_MAX = 50;
/** Hits with longer addresses are left out. */
const URL_CHARACTERS_MAX = 4096;
const TITLE_CHARACTERS_MAX = 300;
const SNIPPET_CHARACTERS_MAX = 2000;
const DATE_CHARACTERS_MAX = 40;
/** How many times the shown characters are examined in a text with markup. */
const MARKUP_FACTOR = 8;

/** The address, key and time limit of a search server. */
export interface ProviderOptions {
  readonly baseUrl: string;
  /** Null if the server needs none. */
  readonly apiKey: string | null;
  /** The time limit of one search in milliseconds. */
  readonly timeoutMs: number;
}

export interface ProviderCall {
  readonly path: string;
  /** Sent in the URL. */
  readonly query?: Readonly<Record<string, string>>;
  /** Sent as JSON; if absent, the call is a GET. */
  readonly body?: unknown;
  readonly headers?: Readonly<Record<string, string>>;
}

/**
 * Calls a search server and parses its JSON reply. Rejects with `SearchFailed` for every failure of the server, or with
 * the reason of `signal`.
 */
export async function askProvider(
  { baseUrl, timeoutMs }: ProviderOptions,
  { path, query = {}, body, headers = {} }: ProviderCall,
  signal: AbortSignal,
): Promise<unknown> {
  const url = `${baseUrl.replace(/\/+$/, "")}${path}?${new URLSearchParams(query)}`;
  const deadline = AbortSignal.timeout(timeoutMs);
  const call = {
    method: body === undefined ? ("GET" as const) : ("POST" as const),
    headers: { accept: "application/json", ...(body === undefined ? {} : JSON_TYPE), ...headers },
    body: body === undefined ? null : JSON.stringify(body),
  };
  const recording = beginExchange(() => ({
    ...call,
    kind: "web_search",
    url,
    headers: Object.entries<string>(call.headers),
  }));
  try {
    const reply = await request(url.replace(/\?$/, ""), {
      ...call,
      signal: AbortSignal.any([signal, deadline]),
    });
    recording?.head(reply.statusCode, reply.headers);
    const text = await readBodyStart(reply.body, REPLY_BYTES_MAX);
    recording?.data(Buffer.from(text));
    recording?.end(null);
    if (reply.statusCode !== 200) throw new SearchFailed(sentenceOf(reply.statusCode));
    // A cut text is not valid JSON, and parsing it would take long.
    const answer = Buffer.byteLength(text) < REPLY_BYTES_MAX ? jsonOrUndefined(text) : undefined;
    if (answer === undefined) throw new SearchFailed("The search server sent no JSON that could be read.");
    return answer;
  } catch (error) {
    recording?.end(error instanceof Error ? error.message : String(error));
    signal.throwIfAborted();
    if (error instanceof SearchFailed) throw error;
    throw new SearchFailed(
      deadline.aborted ? "The search server did not answer in time." : "The search server cannot be reached.",
      { cause: error },
    );
  }
}

const JSON_TYPE = { "content-type": "application/json" };

function sentenceOf(status: number): string {
  if (status === 401) return "The search server refused this server's key.";
  if (status === 403)
    return "The search server refused the search (403). A SearXNG does so unless its search.formats has json; others if the key is wrong.";
  if (status === 429) return "The search server takes no more searches for now. Go on without.";
  return `The search server failed with status ${status}.`;
}

/** A provider's names of a hit's members. */
export interface HitNames {
  readonly url: string;
  readonly title: string;
  /** The first of these with a text is the snippet; a list of texts is joined. */
  readonly snippets: readonly string[];
  readonly date: string;
}

/** The first hits of a list, with cut texts. Leaves out elements that are not hits, or whose address is not http(s). */
export function hitsOf(list: unknown, names: HitNames): readonly Hit[] {
  if (!Array.isArray(list)) return [];
  return list
    .filter(isRecord)
    .slice(0, HITS_MAX)
    .flatMap((element) => {
      const url = URL.parse(memberText(element[names.url]).slice(0, URL_CHARACTERS_MAX + 1));
      if (url === null || !/^https?:$/.test(url.protocol) || url.href.length > URL_CHARACTERS_MAX) return [];
      const snippet = names.snippets.map((name) => memberText(element[name])).find((text) => text !== "") ?? "";
      const date = memberText(element[names.date]).slice(0, DATE_CHARACTERS_MAX);
      return [
        {
          url: url.href,
          title: withoutMarkup(memberText(element[names.title]), TITLE_CHARACTERS_MAX),
          snippet: withoutMarkup(snippet, SNIPPET_CHARACTERS_MAX),
          date: date === "" ? null : date,
        },
      ];
    });
}

function memberText(value: unknown): string {
  if (Array.isArray(value)) return value.filter((part) => typeof part === "string").join(" … ");
  return typeof value === "string" ? value : "";
}

const ENTITIES: Readonly<Record<string, string>> = { amp: "&", lt: "<", gt: ">", quot: '"', "#39": "'", "#x27": "'" };

/** An incomplete tag at the end of the text. */
const BEGUN_TAG = /<[^<>]{0,200}$/;

/** The text, cut, without the tags and entities with which some servers mark the found words. */
function withoutMarkup(text: string, charactersMax: number): string {
  const markup = text.slice(0, MARKUP_FACTOR * charactersMax);
  const whole = markup.length < text.length ? markup.replace(BEGUN_TAG, "") : markup;
  return whole
    .replaceAll(/<\/?(?:b|strong|em|i|mark|span)(?: [^<>]{0,200})?>/gi, "")
    .replaceAll(/&(amp|lt|gt|quot|#39|#x27);/g, (_whole, name: string) => ENTITIES[name] ?? "")
    .replaceAll(/\s+/g, " ")
    .trim()
    .slice(0, charactersMax);
}

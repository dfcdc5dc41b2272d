import { responsesApiRoutes } from "@antiphon/contracts/responses-api/operations.ts";

/** Replacements for paths of other APIs, by the beginning of the path after `/v1`. */
const INSTEAD: readonly (readonly [path: RegExp, advice: string])[] = [
  [/^\/chat\/completions/, "Did you mean /v1/chat/completions?"],
  [/^\/messages/, "Did you mean /v1/messages? The base URL of Anthropic's clients has no /v1."],
  [/^\/completions/, "Did you mean /v1/completions?"],
  [/^\/(?:assistants|threads)/, "Use POST /v1/responses, and /v1/conversations to keep a history."],
  [/^\/images/, "Use POST /v1/responses with the tool 'image_generation'."],
  [/^\/audio/, "Speech to text has a server of its own, on STT_PORT; speech is made by POST /v1/responses."],
  [/^\/realtime/, "Use a WebSocket to /v1/responses."],
  [/^\/(?:fine_tuning|moderations|uploads)/, "This server does not have it."],
];

const FIXED_PATHS: ReadonlySet<string> = new Set(responsesApiRoutes.map(({ path }) => path));
const RESOURCES: ReadonlySet<string> = new Set(responsesApiRoutes.flatMap(({ path }) => path.split("/")[2] ?? []));
const DOUBLED = /^\/v1(?:\/v1)+(?=\/|$)/;

/** The path that a client probably meant; null if none is similar. `path` has no query. */
export function adviceOnPath(path: string): string | null {
  if (DOUBLED.test(path)) return `The base URL ends with /v1 already: did you mean ${path.replace(DOUBLED, "/v1")}?`;
  if (path === "/v1" || path === "/v1/") return "This is the base URL of the API: use POST /v1/responses.";
  const rest = path.replace(/^\/v1(?=\/)/, "");
  const instead = INSTEAD.find(([beginning]) => beginning.test(rest));
  if (instead !== undefined) return instead[1];
  const isBare = rest === path && RESOURCES.has(path.split("/")[1] ?? "") && !FIXED_PATHS.has(path);
  return isBare ? `Did you mean /v1${path}?` : null;
}

import type { ToolInput } from "@antiphon/contracts/responses-api/types.ts";
import type {
  HostedTool,
  MadeCall,
  OpenTool,
  PendingCall,
  ToolCall,
  ToolOutcome,
  ToolRefusal,
} from "@antiphon/domain/hosted-tool.ts";
import type { HostedFunction, ToolStep } from "@antiphon/domain/models/hosted.ts";
import { FIND_FUNCTION, findInPage, OPEN_FUNCTION, openPage, shortenPage } from "./page-calls.ts";
import { SEARCH_FUNCTION, search, searchFunction } from "./search-call.ts";
import { type Names, startedCall } from "./web-items.ts";
import { type WebServices, WebSession } from "./web-session.ts";
import { faultyDomain, isWebSearch, type WebSearchInput, type WebSettings, webSettings } from "./web-settings.ts";

type Work = (session: WebSession, names: Names, args: string, signal: AbortSignal) => Promise<ToolOutcome>;

const WORK: ReadonlyMap<string, Work> = new Map([
  [SEARCH_FUNCTION.name, search],
  [OPEN_FUNCTION.name, openPage],
  [FIND_FUNCTION.name, findInPage],
]);

const NO_PROVIDER =
  "This server has no web search. Its operator can set WEB_SEARCH_PROVIDER, or run a SearXNG on 127.0.0.1:8888.";
const PAGES_ONLY = "Nothing can be searched for here. Open the pages that the user names, or whose address you know.";

/**
 * The tool `web_search` with its dated and preview names. `services` is null if there is neither a search server nor a
 * page that may be opened. Without a search server, the model can open pages.
 */
export function webSearchTool(services: WebServices | null): HostedTool {
  return {
    kind: "web_search",
    types: ["web_search", "web_search_2025_08_26", "web_search_preview", "web_search_preview_2025_03_11"],
    refusal: (tool) => webSearchRefusal(tool, services),
    shortfall: () => (services?.searches === null ? NO_PROVIDER : null),
    open: async (tool, scope) => {
      if (services === null || !isWebSearch(tool)) throw new Error("a web search that was refused cannot be opened");
      return openSession(new WebSession(services, webSettings(tool), scope));
    },
  };
}

function webSearchRefusal(tool: ToolInput, services: WebServices | null): ToolRefusal | null {
  if (!isWebSearch(tool)) return null;
  const { domains, blockedDomains } = webSettings(tool);
  const faulty = faultyDomain(domains) ?? faultyDomain(blockedDomains);
  if (faulty !== null) {
    const reason = `'${faulty}' is no domain. Write domains without scheme and path, such as 'example.com'.`;
    const list = domains.includes(faulty) ? "allowed_domains" : "blocked_domains";
    return { reason, member: `filters.${list}`, grade: "invalid" };
  }
  if (services === null || (services.searches === null && needsSearch(tool)))
    return { reason: NO_PROVIDER, member: null, grade: "unavailable" };
  const types = tool.search_content_types ?? ["text"];
  if (types.includes("text")) return null;
  const reason = "This server searches for text only.";
  return { reason, member: "search_content_types", grade: "unavailable" };
}

/** Whether a request has no use for opened pages alone. */
function needsSearch(tool: WebSearchInput): boolean {
  const { opensPages, isLive, firstQuery } = webSettings(tool);
  return !opensPages || !isLive || firstQuery !== null;
}

function openSession(session: WebSession): OpenTool {
  const { settings, services } = session;
  const opens = settings.opensPages && services.open !== "off";
  const { searches } = services;
  const functions = [
    ...(searches === null ? [] : [searchFunction(searches.covers)]),
    ...(opens ? [OPEN_FUNCTION, FIND_FUNCTION] : []),
  ];
  const note = noteOf(settings, new Date());
  return {
    functions: functions.map((one): HostedFunction => ({ type: "hosted_function", server: null, ...one })),
    note: searches === null ? `${note} ${PAGES_ONLY}` : note,
    opening: [],
    pending: firstSearch(session),
    call: (name, origin) => webSearchCall(session, name, origin),
    shorten: shortenPage,
    close: async () => {},
  };
}

/** The search that the request asks for by itself. After a crash it is made only if nothing follows the question. */
function firstSearch(session: WebSession): readonly PendingCall[] {
  const { settings, scope } = session;
  const last = scope.context.at(-1);
  if (settings.firstQuery === null || last?.type !== "message" || last.role === "assistant") return [];
  const { name } = SEARCH_FUNCTION;
  const callId = scope.newItemId("call");
  const call = webSearchCall(session, name, { callId, newItemId: (prefix) => scope.newItemId(prefix) });
  const args = JSON.stringify({ queries: [settings.firstQuery] });
  return [{ name, callId, arguments: args, approvalRequestId: null, call }];
}

function webSearchCall(session: WebSession, name: string, origin: MadeCall): ToolCall {
  const names = { id: origin.newItemId("ws") };
  return {
    item: startedCall(names),
    streams: null,
    effect: "none",
    async *run(args, signal): AsyncGenerator<ToolStep, ToolOutcome> {
      yield { type: "searching" };
      const work = WORK.get(name);
      if (work === undefined) throw new Error(`web search offers no function ${name}`);
      return await work(session, names, args, signal);
    },
  };
}

/** Today's date at the user's location, and the location. */
function noteOf({ place }: WebSettings, now: Date): string {
  const { city = null, region = null, country = null, timezone = null } = place ?? {};
  const where = [city, region, country].filter((part) => part !== null);
  const lives = where.length === 0 ? "" : ` The user is in ${where.join(", ")}.`;
  return `Today is ${dateIn(timezone, now)}.${lives}`;
}

function dateIn(timezone: string | null, now: Date): string {
  const form = { dateStyle: "full" } as const;
  try {
    return new Intl.DateTimeFormat("en-GB", { ...form, timeZone: timezone ?? "UTC" }).format(now);
  } catch {
    return new Intl.DateTimeFormat("en-GB", { ...form, timeZone: "UTC" }).format(now); // An unknown time zone.
  }
}

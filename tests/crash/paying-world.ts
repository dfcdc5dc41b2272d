import { fileURLToPath } from "node:url";
import {
  lastChunk,
  type ReceivedCall,
  serveChat,
  sse,
  textChunk,
} from "../../src/model-engines/chat-completions/chat-server.fixture.ts";
import { type ChildServer, startChildServer } from "../kit/child-server.ts";
import { toolDelta, usageChunk } from "../responses/behind-upstream.ts";
import { type SentKeys, serveBank, type Tool } from "./bank.ts";
import { STORED_STEP } from "./lives.ts";

const BREAKER = fileURLToPath(new URL("break-at-step.fixture.ts", import.meta.url));

/** Where the process is killed during a call of a tool. */
export const PLACES = ["before begin", "begin to effect", "effect to finish", "finish to event"] as const;
export type Place = (typeof PLACES)[number];

/** The text in what is stored next at the places that the store sees. */
const KILL_AT: Readonly<Record<Place, string>> = {
  "before begin": STORED_STEP.begin,
  "begin to effect": "",
  "effect to finish": "",
  "finish to event": "mcp_call.completed",
};

interface Aim {
  readonly place: Place;
  readonly tool: Tool;
  readonly kill: () => Promise<void>;
  /** Called before the model calls this tool. */
  readonly arm?: () => Promise<void>;
}

/** A tool server that counts, and a model that looks, pays, and says that it is done. */
export interface PayingWorld {
  /** What the tools did, such as `pay 3` and `look 3`, in order. */
  readonly done: readonly string[];
  /** The keys of the calls of `pay`, those that it recognised included. */
  readonly payKeys: readonly SentKeys[];
  /** The bodies of the model's turns. */
  readonly asked: () => readonly string[];
  readonly modelUrl: string;
  readonly mcpUrl: string;
  /** The next call of this tool at this place is the last thing that the server does. */
  aim(aim: Aim | null): void;
}

/** `isIdempotent`: whether `pay` says so, and pays once for each key. */
export async function payingWorld({ isIdempotent = false } = {}): Promise<PayingWorld> {
  const done: string[] = [];
  const payKeys: SentKeys[] = [];
  const paidKeys = new Set<unknown>();
  let aim: Aim | null = null;
  const act = async (tool: Tool, number: number, keys: SentKeys) => {
    if (tool === "pay") payKeys.push(keys);
    const aimed = aim?.tool === tool ? aim : null;
    if (aimed?.place === "begin to effect") return await killed(aimed);
    const isRepetition = isIdempotent && tool === "pay" && paidKeys.has(keys.meta);
    if (!isRepetition) done.push(`${tool} ${number}`);
    if (tool === "pay") paidKeys.add(keys.meta);
    if (aimed?.place === "effect to finish") return await killed(aimed);
    return { content: [{ type: "text" as const, text: `${tool} ${number}: done` }] };
  };
  const killed = async ({ kill }: Aim) => {
    aim = null;
    await kill();
    return { content: [] };
  };
  const mcpUrl = await serveBank(act, { isIdempotent });
  const model = await serveChat(async (response, call) => {
    const tool = resultsIn(call) === 0 ? "look" : "pay";
    if (aim?.tool === tool && resultsIn(call) < 2) await aim.arm?.();
    response.writeHead(200, { "content-type": "text/event-stream" });
    response.end(sse(...nextTurn(call), "[DONE]"));
  });
  return {
    done,
    payKeys,
    asked: () => model.calls.map(({ body }) => body),
    modelUrl: `${model.origin}/v1`,
    mcpUrl,
    aim: (next) => (aim = next),
  };
}

/** Starts a server that SIGUSR2 makes die at this place. At those that the tool server sees, that one kills it. */
export function startAimed(folder: string, world: PayingWorld, place: Place | null): Promise<ChildServer> {
  const killAt = place === null ? "" : KILL_AT[place];
  return startChildServer({
    env: {
      NODE_ENV: "production",
      DATA_DIR: folder,
      MODEL_BASE_URL: world.modelUrl,
      EGRESS_ALLOW: "127.0.0.1",
      KILL_AT: killAt,
    },
    flags: ["--import", BREAKER],
  });
}

/** What each turn of the model reads. It writes one token. */
export const INPUT_TOKENS = 1000;
const USAGE = usageChunk({ prompt_tokens: INPUT_TOKENS, completion_tokens: 1, total_tokens: INPUT_TOKENS + 1 });

/** Looks first, then pays, then is done. Calls whose result it was not shown it makes again. */
export function nextTurn({ body }: Pick<ReceivedCall, "body">): readonly unknown[] {
  const number = /number (\d+)/.exec(body)?.[1] ?? "0";
  const results = resultsIn({ body });
  if (results >= 2) return [textChunk("All done."), lastChunk("stop"), USAGE];
  const name = results === 0 ? "bank__look" : "bank__pay";
  const called = { id: `call_${results}`, type: "function", function: { name, arguments: "" } };
  return [
    toolDelta(0, called),
    toolDelta(0, { function: { arguments: '{"number":' } }),
    toolDelta(0, { function: { arguments: `${number}}` } }),
    lastChunk("tool_calls"),
    USAGE,
  ];
}

/** How many results of tools the model is shown. */
function resultsIn({ body }: Pick<ReceivedCall, "body">): number {
  return body.split('"role":"tool"').length - 1;
}

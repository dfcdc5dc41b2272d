import type { ServerResponse } from "node:http";
import { setTimeout as sleep } from "node:timers/promises";
import {
  lastChunk,
  type ReceivedCall,
  serveChat,
  sse,
  textChunk,
} from "../../src/model-engines/chat-completions/chat-server.fixture.ts";
import { serveBank, type Tool } from "../crash/bank.ts";
import { nextTurn } from "../crash/paying-world.ts";

/** The model server and the tool server that all nodes use, and what they saw. */
export interface World {
  readonly modelUrl: string;
  readonly mcpUrl: string;
  /** How often a tool has acted on a number. */
  readonly acted: (tool: Tool, number: number) => number;
  /** What the model was shown each time it was asked last about this: the names in the context, in order. */
  readonly shown: (name: string) => readonly (readonly string[])[];
}

const WORDS_MAX = 80;
const PAUSE_MS_MAX = 20;
/** An answer to a text that contains this takes about two seconds. */
export const SLOWLY = "slowly";
const LONG_WORDS = 200;

/** What a client says. Its number makes it unlike all else that is said. */
export type Name = `say-${number}`;
const NAME = /say-\d+/g;

/** Serves both at this address until the test ends. */
export async function serveWorld(host: string): Promise<World> {
  const acts = new Map<string, number>();
  const shown = new Map<string, (readonly string[])[]>();
  const mcpUrl = await serveBank(
    async (tool, number) => {
      const key = `${tool} ${number}`;
      acts.set(key, (acts.get(key) ?? 0) + 1);
      await sleep(Math.random() * PAUSE_MS_MAX);
      return { content: [{ type: "text", text: `${key}: done` }] };
    },
    { host },
  );
  const model = await serveChat(async (response, call: ReceivedCall) => {
    const names = namesIn(call.body);
    const last = names.at(-1) ?? "";
    shown.set(last, [...(shown.get(last) ?? []), names]);
    response.writeHead(200, { "content-type": "text/event-stream" });
    response.flushHeaders();
    if (call.body.includes("bank__pay")) await pay(response, call);
    else await talk(response, call.body.includes(SLOWLY) ? LONG_WORDS : Math.ceil(Math.random() * WORDS_MAX));
  }, host);
  return {
    modelUrl: `${model.origin}/v1`,
    mcpUrl,
    acted: (tool, number) => acts.get(`${tool} ${number}`) ?? 0,
    shown: (name) => shown.get(name) ?? [],
  };
}

/** What clients said in a text, in order. */
export function namesIn(text: string): readonly string[] {
  return text.match(NAME) ?? [];
}

async function talk(response: ServerResponse, words: number): Promise<void> {
  for (let word = 0; word < words && !response.destroyed; word += 1) {
    response.write(sse(textChunk(`word${word} `)));
    await sleep(Math.random() * PAUSE_MS_MAX);
  }
  response.end(sse(lastChunk("stop"), "[DONE]"));
}

/** Looks, pays and says that it is done, with a pause before each. */
async function pay(response: ServerResponse, call: ReceivedCall): Promise<void> {
  await sleep(Math.random() * PAUSE_MS_MAX * 10);
  response.end(sse(...nextTurn(call), "[DONE]"));
}

import type { ServerResponse } from "node:http";
import { type ReceivedCall, serveChat, sse } from "../../src/model-engines/chat-completions/chat-server.fixture.ts";
import { serveBank } from "../crash/bank.ts";
import { chunksOf, type Fault, TURNS, type Turn } from "./faults.ts";

/** A response whose model fails. Its input names it by its place in the list. */
export interface FaultyCase {
  readonly fault: Fault;
  readonly turn: Turn;
  /** How often the turn fails before it comes. */
  readonly times: number;
}

/** A tool server that counts, and a model that fails as each case says. */
export interface FaultyWorld {
  readonly modelUrl: string;
  readonly mcpUrl: string;
  /** What the tools did for a case, such as `pay`, in order. */
  readonly done: (number: number) => readonly string[];
  /** The turns for which the model was asked in a case, in order. */
  readonly asked: (number: number) => readonly number[];
}

export async function faultyWorld(cases: readonly FaultyCase[]): Promise<FaultyWorld> {
  const done: (readonly [number, string])[] = [];
  const asked: (readonly [number, number])[] = [];
  const mcpUrl = await serveBank(async (tool, number) => {
    done.push([number, tool]);
    return { content: [{ type: "text", text: `${tool}: done` }] };
  });
  const model = await serveChat((response, call) => {
    if (!call.body.includes('"stream":true')) return refuse(response); // Why an empty stream ended.
    const number = numberIn(call);
    const turn = turnOf(call);
    const failing = cases[number];
    const failed = asked.filter(([one, other]) => one === number && other === turn).length;
    asked.push([number, turn]);
    const chunks = chunksOf(turn, number);
    if (failing?.turn === turn && failed < failing.times) return failing.fault.fail(response, chunks);
    response.writeHead(200, { "content-type": "text/event-stream" });
    response.end(sse(...chunks));
  });
  return {
    modelUrl: `${model.origin}/v1`,
    mcpUrl,
    done: (number) => done.flatMap(([one, tool]) => (one === number ? [tool] : [])),
    asked: (number) => asked.flatMap(([one, turn]) => (one === number ? [turn] : [])),
  };
}

function refuse(response: ServerResponse): void {
  response.writeHead(500, { "content-type": "application/json" });
  response.end(JSON.stringify({ error: { message: "The model broke.", type: "x", code: null } }));
}

function numberIn({ body }: ReceivedCall): number {
  return Number(/number (\d+)/.exec(body)?.[1] ?? 0);
}

function turnOf({ body }: ReceivedCall): Turn {
  const results = body.split('"role":"tool"').length - 1;
  const turn = TURNS.find((known) => known === results);
  if (turn === undefined) throw new Error(`the model was shown ${results} results`);
  return turn;
}

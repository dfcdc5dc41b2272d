import { Antiphon, type CreateResponseRequest, type Response } from "../../packages/client/src/index.ts";
import type { DemoServer } from "./demo-server.ts";

/** The runs of the demo that pictures and tests look at. */
export interface DemoRuns {
  /** Reasoning, a list of MCP tools, a call of one, and an answer. */
  readonly weekend: Response;
  /** The same question to another model. */
  readonly shortWeekend: Response;
  /** An approval that nobody has given. */
  readonly refund: Response;
  /** A call of a function of the client, and the response that got its output. */
  readonly invoice: Response;
  readonly paid: Response;
  readonly failed: string;
  readonly cut: Response;
  /** The last response of a chain of four. */
  readonly chained: Response;
}

const QUESTION = "Plan a weekend in Lisbon for two, not too much walking.";

/** Makes runs of every kind: streamed, plain and in the background; finished, cut short, failed and cancelled. */
export async function makeDemoRuns({ url, apiKey, mcpUrl }: DemoServer): Promise<DemoRuns> {
  const client = new Antiphon({ baseUrl: url, apiKey });
  const weather = { type: "mcp", server_label: "weather", server_url: mcpUrl } as const;
  const find = {
    type: "function",
    name: "find_invoice",
    description: "Find an invoice by its number.",
    parameters: { type: "object", properties: { number: { type: "integer" } }, required: ["number"] },
  } as const;

  const chained = await chain(client, [
    "Say good morning.",
    "Write 40 words about tides.",
    "Summarize this conversation.",
    "What did I say?",
  ]);
  const cut = await client.createResponse({ model: "atlas-mini", input: "Write the long report." });
  const failed = await failedRun(client);
  const invoice = await streamed(client, { model: "atlas-mini", input: "Was invoice 7731 paid?", tools: [find] });
  const output = {
    type: "function_call_output",
    call_id: "call_invoice",
    output: '{"number":7731,"paid":"2026-03-03"}',
  } as const;
  const paid = await streamed(client, {
    model: "atlas-mini",
    input: [output],
    previous_response_id: invoice.id,
    tools: [find],
  });
  await cancelledRun(client);
  const refund = await streamed(client, {
    model: "atlas-mini",
    input: "Please refund order A-1042.",
    tools: [weather],
  });
  const shortWeekend = await streamed(client, { model: "atlas-mini", input: QUESTION, instructions: "Be brief." });
  const weekend = await streamed(client, {
    model: "atlas-large",
    input: QUESTION,
    instructions: "You plan trips. Check the weather before you suggest anything outdoors.",
    reasoning: { effort: "medium", summary: "auto" },
    metadata: { customer: "acme", feature: "planner" },
    tools: [{ ...weather, require_approval: "never" }],
  });
  return { weekend, shortWeekend, refund, invoice, paid, failed, cut, chained };
}

/** Sends a request and reads its stream to the end. */
async function streamed(client: Antiphon, request: CreateResponseRequest): Promise<Response> {
  for await (const event of await client.createResponse({ ...request, stream: true }))
    if (event.type === "response.completed" || event.type === "response.incomplete") return event.response;
  throw new Error("The response failed.");
}

async function chain(client: Antiphon, questions: readonly string[]): Promise<Response> {
  const made: Response[] = [];
  for (const input of questions) {
    const previous = made.at(-1)?.id ?? null;
    made.push(await client.createResponse({ model: "antiphon-built-in", input, previous_response_id: previous }));
  }
  const last = made.at(-1);
  if (last === undefined) throw new Error("A chain has a question.");
  return last;
}

async function failedRun(client: Antiphon): Promise<string> {
  const stream = await client.createResponse({ model: "atlas-mini", input: "Are you overloaded?", stream: true });
  let id = "";
  try {
    for await (const event of stream) if (event.type === "response.created") id = event.response.id;
  } catch {
    return id; // The failure is what was wanted.
  }
  return id;
}

async function cancelledRun(client: Antiphon): Promise<void> {
  const { id } = await client.createResponse({ model: "atlas-mini", input: "Please wait for me.", background: true });
  await client.cancelResponse(id);
}

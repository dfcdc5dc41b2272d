import { createParser } from "eventsource-parser";
import { lintText } from "../../src/stream-grammar/index.ts";
import { CHOOSE_WEATHER, CUSTOM_CALL, WEATHER } from "./example-events.fixture.ts";
import type { Service } from "./service.fixture.ts";
import type { SITUATIONS, STAGED_SITUATIONS } from "./stream-situations.fixture.ts";

export type StreamState = keyof typeof SITUATIONS | keyof typeof STAGED_SITUATIONS;

const customTool = { type: "custom", name: CUSTOM_CALL.name, description: "Runs a shell command." };

const REQUESTS: Record<StreamState, object> = {
  "a model that answers": { input: "Say hello" },
  "a model that calls a function": {
    input: "What is the weather in Rome?",
    tools: [WEATHER],
    tool_choice: CHOOSE_WEATHER,
  },
  "a model that calls a custom tool": {
    input: "List the files.",
    tools: [customTool],
    tool_choice: { type: "custom", name: CUSTOM_CALL.name },
  },
  "a model that is cut short": { input: "Write 200 words about the sea.", max_output_tokens: 16 },
  "a model that refuses": { input: "Please play: refuse" },
  "a model that cites": { input: "Please play: cite" },
  "a model that summarises its reasoning": { input: "Please play: summarise", reasoning: { summary: "auto" } },
  "a model that shows its reasoning": { input: "Please play: think", reasoning: { effort: "low" } },
  "a model that breaks off": { input: "Please play: break off" },
};

/** The stage directions of the built-in engine for the states that no request alone brings about. */
export const SCENARIO = `
scenarios:
  - when: { input_contains: "play: refuse" }
    events: [{ refusal: I would rather not. }]
  - when: { input_contains: "play: cite" }
    events:
      - text: Paris is in France.
      - annotation: { type: url_citation, start_index: 0, end_index: 5, url: "https://example.com/paris", title: Paris }
  - when: { input_contains: "play: summarise" }
    events: [{ reasoning_summary: ["**Thinking**"] }, { text: Done. }]
  - when: { input_contains: "play: think" }
    events: [{ reasoning: I think. }, { text: Done. }]
  - when: { input_contains: "play: break off" }
    events:
      - text: So far so
      - error: { status: 500, type: server_error, code: server_error, message: The model broke off. }
`;

/** Every event that the service sends in a state; throws where their order, numbers, ids or texts break the grammar. Not read by a client, since clients turn some events into errors. */
export async function emitEvents({ url, apiKey, model }: Service, state: string): Promise<unknown[]> {
  if (!isStreamState(state)) throw new Error(`No request brings about "${state}".`);
  const reply = await fetch(`${url}/v1/responses`, {
    method: "POST",
    headers: { authorization: `Bearer ${apiKey}`, "content-type": "application/json" },
    body: JSON.stringify({ model, stream: true, ...REQUESTS[state] }),
  });
  const text = await reply.text();
  if (!reply.ok) throw new Error(`"${state}": ${reply.status} ${text}`);
  const faults = lintText(text).flatMap((report) => report.faults);
  if (faults.length > 0) throw new Error(`"${state}": its stream breaks rules: ${JSON.stringify(faults)}`);
  const events: unknown[] = [];
  createParser({ onEvent: ({ data }) => events.push(JSON.parse(data)) }).feed(text);
  return events;
}

function isStreamState(state: string): state is StreamState {
  return Object.hasOwn(REQUESTS, state);
}

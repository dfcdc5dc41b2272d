import type {
  Annotation,
  OutputItem,
  ResponseStreamEvent,
  Tool,
  WebSearchCall,
} from "@antiphon/contracts/responses-api/types.ts";
import { isRecord } from "../records.fixture.ts";
import { RECORDED_STORE, RECORDED_TOOLS } from "./recorded-tools.fixture.ts";
import {
  asResponse,
  firstSnapshot,
  type RecordedBody,
  type RecordedResponse,
  type RecordedStream,
} from "./recordings.fixture.ts";

/** A recording as a scenario for our engine. It is made during the test, so no recorded content is committed. */
export interface Play {
  readonly name: string;
  readonly model: string;
  /** The `events` of the scenarios, one for each turn of the model. After each turn but the last a tool runs. */
  readonly turns: readonly (readonly object[])[];
  /** The recorded request, as far as the reply repeats it. */
  readonly request: Readonly<Record<string, unknown>>;
  /** The types of the tools in the request. */
  readonly tools: readonly string[];
  /** The items of the response. */
  readonly output: readonly OutputItem[];
}

const MODEL_OF_ERRORS = "a-model-without-quota";

export function playOfStream(stream: RecordedStream): Play {
  const snapshot = firstSnapshot(stream);
  const padded = stream.events.some((event) => "obfuscation" in event);
  return {
    name: stream.name,
    model: snapshot.model,
    turns: turnsOf(stream.events.flatMap(linesOfEvent)),
    request: {
      ...requestOf(stream.name, snapshot, itemsOf(stream)),
      stream: true,
      ...(padded ? {} : { stream_options: { include_obfuscation: false } }),
    },
    tools: toolTypes(snapshot),
    output: itemsOf(stream),
  };
}

function itemsOf({ events }: RecordedStream): OutputItem[] {
  return events.flatMap((event) => (event.type === "response.output_item.done" ? [event.item] : []));
}

export function playOfBody({ name, body }: RecordedBody): Play {
  const response = asResponse(body);
  if (response === null) return playOfRefusal(name, body);
  return {
    name,
    model: response.model,
    turns: turnsOf([...response.output.flatMap(linesOfItem), ...linesOfEnd(response)]),
    request: requestOf(name, response, response.output),
    tools: toolTypes(response),
    output: response.output,
  };
}

/** Returns the text of one scenario file with all plays. */
export function scenarioOf(plays: readonly Play[]): string {
  const scenarios = plays.flatMap(({ name, turns, request }) => {
    const before = Array.isArray(request["input"]) ? 1 : 0; // The refused call has an output.
    return turns.map((events, turn) => ({
      when: { input_contains: inputOf(name), tool_outputs: turn + before },
      events,
    }));
  });
  return JSON.stringify({ models: [...new Set(plays.map(({ model }) => model))], fallback: "error", scenarios });
}

/** The end of a turn after which this server runs a tool. The recording counts the tokens of all turns at its end. */
const TURN_END: readonly object[] = [
  { usage: { input_tokens: 0, cached_tokens: 0, output_tokens: 0, reasoning_tokens: 0 } },
  ...raw({ type: "finished", reason: "stop" }),
];

function turnsOf(lines: readonly object[]): object[][] {
  const turns: object[][] = [[]];
  for (const line of lines) {
    turns.at(-1)?.push(line);
    if (line === TURN_END.at(-1)) turns.push([]);
  }
  return turns;
}

function playOfRefusal(name: string, body: unknown): Play {
  const error = isRecord(body) ? body["error"] : undefined;
  if (!isRecord(error)) throw new Error(`${name} is neither a response nor an error`);
  const { type, code, message } = error;
  return {
    name,
    model: MODEL_OF_ERRORS,
    turns: [[{ refuse_turn: { status: 429, type, code, message } }]],
    request: { model: MODEL_OF_ERRORS, input: inputOf(name) },
    tools: [],
    output: [],
  };
}

function inputOf(name: string): string {
  return `Play «${name}», please.`;
}

/** Contains only members that differ from the defaults, so that our defaults are compared too. */
function requestOf(
  name: string,
  { model, tools = [], store, reasoning }: RecordedResponse,
  said: readonly OutputItem[],
): Record<string, unknown> {
  const include = Object.entries(INCLUDED).flatMap(([member, asked]) =>
    JSON.stringify(said).includes(`"${member}"`) ? [asked] : [],
  );
  return {
    model,
    input: refusedCall(name, tools, said) ?? inputOf(name),
    ...(tools.length === 0 ? {} : { tools: tools.map(toOurServers) }),
    ...(store === false ? { store } : {}),
    ...(reasoning ? { reasoning } : {}),
    ...(include.length === 0 ? {} : { include }),
  };
}

/** Members that a request asks for. */
const INCLUDED = {
  encrypted_content: "reasoning.encrypted_content",
  sources: "web_search_call.action.sources",
  outputs: "code_interpreter_call.outputs",
} as const;

function toOurServers(tool: Tool): Tool {
  if (tool.type === "file_search") return { ...tool, vector_store_ids: [RECORDED_STORE] };
  return tool.type === "mcp" ? { ...tool, server_url: `${RECORDED_TOOLS}/mcp/${tool.server_label}` } : tool;
}

/** The input of a recording whose client refused the call that it was asked about; undefined for other recordings. */
function refusedCall(name: string, tools: readonly Tool[], said: readonly OutputItem[]): object[] | undefined {
  const list = said.find((item) => item.type === "mcp_list_tools");
  const asks = tools.some((tool) => tool.type === "mcp" && tool.require_approval === "always");
  if (list === undefined || !asks || said.some(({ type }) => type === "mcp_approval_request")) return undefined;
  const id = `mcpr_${"0".repeat(48)}`;
  const call = { name: list.tools[0]?.name ?? "", arguments: "{}", server_label: list.server_label };
  return [
    { role: "user", content: inputOf(name) },
    { type: "mcp_approval_request", id, ...call },
    { type: "mcp_approval_response", approval_request_id: id, approve: false },
  ];
}

function toolTypes({ tools = [] }: RecordedResponse): string[] {
  return [...new Set(tools.map(({ type }) => type))];
}

function linesOfEvent(event: ResponseStreamEvent): object[] {
  switch (event.type) {
    case "response.output_item.added":
      return linesOfStart(event.item);
    case "response.output_item.done":
      return linesOfStop(event.item);
    case "response.output_text.delta":
      return raw({ type: "text_delta", text: event.delta });
    case "response.refusal.delta":
      return raw({ type: "refusal_delta", text: event.delta });
    case "response.reasoning_text.delta":
      return raw({ type: "reasoning_delta", text: event.delta });
    case "response.reasoning_summary_part.added":
      return event.summary_index === 0 ? [] : raw({ type: "reasoning_summary_break" });
    case "response.reasoning_summary_text.delta":
      return raw({ type: "reasoning_summary_delta", text: event.delta });
    case "response.function_call_arguments.delta":
    case "response.custom_tool_call_input.delta":
      return raw({ type: "call_delta", text: event.delta });
    case "response.output_text.annotation.added":
      return linesOfAnnotation(event.annotation);
    case "response.completed":
    case "response.incomplete":
      return linesOfEnd(event.response);
    case "error":
      return "error" in event ? [{ error: { status: 429, ...event.error } }] : [];
    default:
      return [];
  }
}

function linesOfItem(item: OutputItem): object[] {
  return [...linesOfStart(item), ...linesOfContent(item), ...linesOfStop(item)];
}

function linesOfStart(item: OutputItem): object[] {
  switch (item.type) {
    case "message":
      return raw({ type: "message_started", ...(item.phase ? { phase: item.phase } : {}) });
    case "function_call":
      return raw({ type: "call_started", kind: "function", callId: item.call_id, name: item.name });
    case "custom_tool_call":
      return raw({ type: "call_started", kind: "custom", callId: item.call_id, name: item.name });
    default:
      return [];
  }
}

function linesOfContent(item: OutputItem): object[] {
  switch (item.type) {
    case "message":
      return item.content.flatMap((part) =>
        part.type === "refusal"
          ? raw({ type: "refusal_delta", text: part.refusal })
          : [...raw({ type: "text_delta", text: part.text }), ...part.annotations.flatMap(linesOfAnnotation)],
      );
    case "reasoning":
      return item.summary.length === 0 ? [] : [{ reasoning_summary: item.summary.map(({ text }) => text) }];
    case "function_call":
      return raw({ type: "call_delta", text: item.arguments });
    case "custom_tool_call":
      return raw({ type: "call_delta", text: item.input });
    default:
      return [];
  }
}

/** Files of containers are cited by our server, from what the model wrote. */
function linesOfAnnotation(annotation: Annotation): object[] {
  return annotation.type === "container_file_citation" ? [] : [{ annotation }];
}

/** An item that was cut off has no stop event. */
function linesOfStop(item: OutputItem): object[] {
  if ("status" in item && item.status === "incomplete") return [];
  if (item.type === "message") return raw({ type: "message_finished" });
  const hosted = hostedCall(item);
  if (hosted !== null) return [{ call: hosted }, ...(isRunHere(item) ? TURN_END : [])];
  const isCall = item.type === "function_call" || item.type === "custom_tool_call";
  return isCall ? raw({ type: "call_finished" }) : [];
}

/** The call of the function that our server offers for the tool of an item; null for other items. */
function hostedCall(item: OutputItem): object | null {
  switch (item.type) {
    case "web_search_call":
      return webCall(item.action);
    case "file_search_call":
      return { name: "file_search", arguments: { queries: item.queries } };
    case "code_interpreter_call":
      return { name: "code_interpreter", arguments: { code: item.code } };
    case "mcp_call":
    case "mcp_approval_request":
      return { name: item.name, namespace: item.server_label, arguments: item.arguments };
    case "shell_call": {
      const { commands, max_output_length, timeout_ms } = item.action;
      return { name: "shell", arguments: JSON.stringify({ commands, max_output_length, timeout_ms }) };
    }
    default:
      return null;
  }
}

function webCall(action: WebSearchCall["action"]): object | null {
  const url = `${RECORDED_TOOLS}/page`;
  switch (action?.type) {
    case "search":
      return { name: "web_search", arguments: { queries: [action.query] } };
    case "open_page":
      return { name: "open_page", arguments: { url } };
    case "find_in_page":
      return { name: "find_in_page", arguments: { url, pattern: action.pattern } };
    default:
      return null;
  }
}

function isRunHere({ type }: OutputItem): boolean {
  return ["web_search_call", "file_search_call", "code_interpreter_call", "mcp_call"].includes(type);
}

function linesOfEnd({ usage, incomplete_details: cut }: RecordedResponse): object[] {
  const counts = usage ?? null;
  const reason =
    cut === null || cut === undefined ? "stop" : cut.reason === "content_filter" ? "content_filter" : "length";
  return [
    ...(counts === null
      ? []
      : [
          {
            usage: {
              input_tokens: counts.input_tokens,
              cached_tokens: counts.input_tokens_details.cached_tokens,
              output_tokens: counts.output_tokens,
              reasoning_tokens: counts.output_tokens_details.reasoning_tokens,
            },
          },
        ]),
    ...raw({ type: "finished", reason }),
  ];
}

/** A scenario line with any `ModelEvent`. The server checks it at start. */
function raw(event: object): object[] {
  return [{ raw: event }];
}

import type { OutputItem, ResponseStreamEvent } from "../../generated/responses-api/types.ts";
import { isRecord } from "../records.fixture.ts";
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
  /** The `events` of the scenario. */
  readonly lines: readonly object[];
  /** The recorded request, as far as the reply repeats it. */
  readonly request: Readonly<Record<string, unknown>>;
  /** The types of the tools in the request. */
  readonly tools: readonly string[];
}

const MODEL_OF_ERRORS = "a-model-without-quota";

export function playOfStream(stream: RecordedStream): Play {
  const snapshot = firstSnapshot(stream);
  const padded = stream.events.some((event) => "obfuscation" in event);
  return {
    name: stream.name,
    model: snapshot.model,
    lines: stream.events.flatMap(linesOfEvent),
    request: {
      ...requestOf(stream.name, snapshot, stream.events),
      stream: true,
      ...(padded ? {} : { stream_options: { include_obfuscation: false } }),
    },
    tools: toolTypes(snapshot),
  };
}

export function playOfBody({ name, body }: RecordedBody): Play {
  const response = asResponse(body);
  if (response === null) return playOfRefusal(name, body);
  return {
    name,
    model: response.model,
    lines: [...response.output.flatMap(linesOfItem), ...linesOfEnd(response)],
    request: requestOf(name, response, response.output),
    tools: toolTypes(response),
  };
}

/** Returns the text of one scenario file with all plays. */
export function scenarioOf(plays: readonly Play[]): string {
  return JSON.stringify({
    models: [...new Set(plays.map(({ model }) => model))],
    fallback: "error",
    scenarios: plays.map(({ name, lines }) => ({ when: { input_contains: inputOf(name) }, events: lines })),
  });
}

function playOfRefusal(name: string, body: unknown): Play {
  const error = isRecord(body) ? body["error"] : undefined;
  if (!isRecord(error)) throw new Error(`${name} is neither a response nor an error`);
  const { type, code, message } = error;
  return {
    name,
    model: MODEL_OF_ERRORS,
    lines: [{ refuse_turn: { status: 429, type, code, message } }],
    request: { model: MODEL_OF_ERRORS, input: inputOf(name) },
    tools: [],
  };
}

function inputOf(name: string): string {
  return `Play «${name}», please.`;
}

/** Contains only members that differ from the defaults, so that our defaults are compared too. */
function requestOf(name: string, snapshot: RecordedResponse, said: readonly unknown[]): Record<string, unknown> {
  const { model, tools = [], store, reasoning } = snapshot;
  const sealed = JSON.stringify(said).includes('"encrypted_content"');
  return {
    model,
    input: inputOf(name),
    ...(tools.length === 0 ? {} : { tools }),
    ...(store === false ? { store } : {}),
    ...(reasoning ? { reasoning } : {}),
    ...(sealed ? { include: ["reasoning.encrypted_content"] } : {}),
  };
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
      return [{ annotation: event.annotation }];
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
          : [
              ...raw({ type: "text_delta", text: part.text }),
              ...part.annotations.map((annotation) => ({ annotation })),
            ],
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

/** An item that was cut off has no stop event. */
function linesOfStop(item: OutputItem): object[] {
  if ("status" in item && item.status === "incomplete") return [];
  if (item.type === "message") return raw({ type: "message_finished" });
  const isCall = item.type === "function_call" || item.type === "custom_tool_call";
  return isCall ? raw({ type: "call_finished" }) : [];
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

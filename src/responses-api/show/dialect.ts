import type { DialectStreamEvent, ResponseStreamEvent, StreamChannel } from "../../../generated/responses-api/types.ts";
import { jsonOf, rememberJson } from "../../base/json/json-text.ts";

/**
 * The extension dialect: a pure renaming of one event. Numbers, ids, order and payload stay; the reference's nested
 * `error` becomes a flat `response.error`. Events without another name pass through untouched.
 */
export function inDialect(event: ResponseStreamEvent): DialectStreamEvent {
  switch (event.type) {
    case "response.function_call_arguments.delta":
    case "response.mcp_call_arguments.delta":
    case "response.custom_tool_call_input.delta":
      return renamed(event, { ...event, type: "response.tool_call.delta" });
    case "response.function_call_arguments.done":
    case "response.mcp_call_arguments.done":
    case "response.custom_tool_call_input.done":
      return renamed(event, { ...event, type: "response.tool_call.done" });
    case "response.audio.delta":
      return renamed(event, { ...event, type: "response.output_audio.delta" });
    case "response.audio.done":
      return renamed(event, { ...event, type: "response.output_audio.done" });
    case "error": {
      const { error, ...rest } = event;
      return { ...rest, type: "response.error", code: error.code, message: error.message, param: error.param };
    }
    default:
      return event;
  }
}

/** Reuses the JSON that was made of the event: only its type differs. */
function renamed<T extends DialectStreamEvent>(event: ResponseStreamEvent, dialect: T): T {
  return rememberJson(dialect, jsonOf(event).replace(`"type":"${event.type}"`, `"type":"${dialect.type}"`));
}

/** Whether a stream that carries only these channels carries the event. Events of no family always come. */
export function isCarried(event: ResponseStreamEvent, channels: ReadonlySet<StreamChannel>): boolean {
  const channel = channelOf(event.type);
  return channel === null || channels.has(channel);
}

const FAMILIES: readonly (readonly [RegExp, StreamChannel])[] = [
  [/^response\.output_text\.(delta|done|annotation\.added)$/, "output_text"],
  [/^response\.audio\./, "output_audio"],
  [/^response\.(function_call_arguments|mcp_call_arguments|custom_tool_call_input)\./, "tool_call"],
  [/^response\.refusal\./, "refusal"],
  [/^response\.reasoning_(text|summary_text)\./, "reasoning"],
];

const channelsByType = new Map<string, StreamChannel | null>();

function channelOf(type: string): StreamChannel | null {
  const known = channelsByType.get(type);
  if (known !== undefined) return known;
  const channel = FAMILIES.find(([pattern]) => pattern.test(type))?.[1] ?? null;
  channelsByType.set(type, channel);
  return channel;
}

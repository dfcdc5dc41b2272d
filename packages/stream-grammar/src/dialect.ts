type Members = Readonly<Record<string, unknown>>;

/** The event names of a stream: the reference's, or those for requests that use an extension. */
export type Dialect = "reference" | "extension";

/** The reference's names of `tool_call` events, by the type of the item. */
const CALLS: ReadonlyMap<unknown, string> = new Map([
  ["function_call", "response.function_call_arguments"],
  ["mcp_call", "response.mcp_call_arguments"],
  ["custom_tool_call", "response.custom_tool_call_input"],
]);

const RENAMED =
  /^(error|response[.](function_call_arguments|mcp_call_arguments|custom_tool_call_input)[.].*|response[.]audio[.](delta|done))$/;

const EXTENSION_ONLY = /^response[.](error|tool_call[.](delta|done)|output_audio[.](delta|done))$/;

/** The dialect of an event type; null if both dialects share it. */
export function dialectOf(type: string): Dialect | null {
  if (EXTENSION_ONLY.test(type)) return "extension";
  return RENAMED.test(type) ? "reference" : null;
}

/** Renames an event of the extension dialect to the reference's name. Null if the extension has no such event. */
export function toReferenceEvent(type: string, event: Members, itemType: unknown): Members | null {
  if (RENAMED.test(type)) return null;
  const [, call, end] = /^response[.](tool_call|output_audio)[.](delta|done)$/.exec(type) ?? [];
  if (call === "output_audio") return { ...event, type: `response.audio.${end}` };
  if (call === "tool_call") {
    const name = CALLS.get(itemType);
    return name === undefined ? null : { ...event, type: `${name}.${end}` };
  }
  if (type !== "response.error") return event;
  const { code, message, param, ...rest } = event;
  return { ...rest, type: "error", error: { type: null, code, message, param } };
}

type Members = Readonly<Record<string, unknown>>;

/** The names of events: those of the reference, or those that a request with an extension brings about. */
export type Dialect = "reference" | "extension";

/** What the extension dialect calls an argument event, by the type of its item. */
const CALLS: ReadonlyMap<unknown, string> = new Map([
  ["function_call", "response.function_call_arguments"],
  ["mcp_call", "response.mcp_call_arguments"],
  ["custom_tool_call", "response.custom_tool_call_input"],
]);

const RENAMED =
  /^(error|response[.](function_call_arguments|mcp_call_arguments|custom_tool_call_input)[.].*|response[.]audio[.](delta|done))$/;

/** An event of the extension dialect under the reference's name; null where that dialect has no such event. */
export function canonical(type: string, event: Members, itemType: unknown): Members | null {
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

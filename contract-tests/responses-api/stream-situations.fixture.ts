import {
  CALL_BLOCK,
  CITATION_EVENTS,
  COMPLETED,
  CUSTOM_CALL_BLOCK,
  type ExampleEvent,
  FAILURE_EVENTS,
  INCOMPLETE,
  PREFIX,
  REASONING_EVENTS,
  REFUSAL_EVENTS,
  SUMMARY_EVENTS,
  TEXT_BLOCK,
} from "./example-events.fixture.ts";
import {
  DIALECT_CALL_EVENTS,
  DIALECT_CUSTOM_CALL_EVENTS,
  DIALECT_FAILURE_EVENTS,
  DIALECT_SOUND_EVENTS,
  type ExampleDialectEvent,
  SOUND_EVENTS,
  TRANSCRIPT_EVENTS,
} from "./extension-events.fixture.ts";
import {
  COMPUTER_EVENTS,
  COMPUTER_PREVIEW_EVENTS,
  FILE_SEARCH_EVENTS,
  IMAGE_EVENTS,
  INTERPRETER_EVENTS,
  LOCAL_SHELL_EVENTS,
  MCP_APPROVAL_EVENTS,
  MCP_CALL_EVENTS,
  MCP_CALL_FAILURE,
  MCP_LIST_EVENTS,
  MCP_LIST_FAILURE,
  PATCH_EVENTS,
  SERVER_SEARCH_EVENTS,
  SHELL_EVENTS,
  SHELL_OUTPUT_EVENTS,
  WEB_SEARCH_EVENTS,
} from "./hosted-tool-events.fixture.ts";
import {
  BACKGROUND_EVENTS,
  CANCELLED_EVENTS,
  COMMENTARY_EVENTS,
  COMPACTION_EVENTS,
  FILTERED_EVENTS,
  LOGPROB_EVENTS,
  REPLAYED_EVENTS,
  SECOND_CALL_EVENTS,
  TOOL_SEARCH_EVENTS,
} from "./run-events.fixture.ts";

export type AnyExample = ExampleEvent | ExampleDialectEvent;

/** Situations that a request alone can cause at any provider, each with the events that no earlier situation has. */
export const SITUATIONS = {
  "a model that answers": [...PREFIX, ...TEXT_BLOCK, COMPLETED],
  "a model that calls a function": CALL_BLOCK,
  "a model that calls a custom tool": CUSTOM_CALL_BLOCK,
  "a model that is cut short": [INCOMPLETE],
  "a model that tells how likely its words are": LOGPROB_EVENTS,
  "a response made in the background": BACKGROUND_EVENTS,
  "a response of the background whose events are read once more": REPLAYED_EVENTS,
} as const satisfies Record<string, readonly ExampleEvent[]>;

/** Situations that need our server: its model plays a scenario, or the request uses an extension. */
export const STAGED_SITUATIONS = {
  "a model that refuses": REFUSAL_EVENTS,
  "a model that cites": CITATION_EVENTS,
  "a model that summarises its reasoning": SUMMARY_EVENTS,
  "a model that shows its reasoning": REASONING_EVENTS,
  "a model that comments on what it does": COMMENTARY_EVENTS,
  "a model that calls two functions at once": SECOND_CALL_EVENTS,
  "a model that looks for tools": TOOL_SEARCH_EVENTS,
  "a model that a filter stops": FILTERED_EVENTS,
  "a model that breaks off": FAILURE_EVENTS,
  "a response of the background that is cancelled": CANCELLED_EVENTS,
  "a conversation that has grown too long": COMPACTION_EVENTS,
  "a model whose answer is spoken": [...DIALECT_SOUND_EVENTS, ...TRANSCRIPT_EVENTS],
  "a spoken answer that is read under the names of the reference": SOUND_EVENTS,
  "a function call told in the extension dialect": DIALECT_CALL_EVENTS,
  "a custom tool call told in the extension dialect": DIALECT_CUSTOM_CALL_EVENTS,
  "a failure told in the extension dialect": DIALECT_FAILURE_EVENTS,
  "a model that searches the web": WEB_SEARCH_EVENTS,
  "a model that searches files": FILE_SEARCH_EVENTS,
  "a model that lists the tools of an MCP server": MCP_LIST_EVENTS,
  "an MCP server that lists no tools": MCP_LIST_FAILURE,
  "a model that calls a tool of an MCP server": MCP_CALL_EVENTS,
  "a tool of an MCP server that fails": MCP_CALL_FAILURE,
  "a call of an MCP server that needs approval": MCP_APPROVAL_EVENTS,
  "a model that draws": IMAGE_EVENTS,
  "a model that runs code": INTERPRETER_EVENTS,
  "a shell in a container": SHELL_OUTPUT_EVENTS,
  "a model that uses a shell": SHELL_EVENTS,
  "a model that uses the older shell": LOCAL_SHELL_EVENTS,
  "a model that patches files": PATCH_EVENTS,
  "a model that uses a computer": COMPUTER_PREVIEW_EVENTS,
  "a model that does several things at a computer": COMPUTER_EVENTS,
  "a model whose tools the server searches": SERVER_SEARCH_EVENTS,
} as const satisfies Record<string, readonly AnyExample[]>;

/**
 * Names an event so that events of one type with different contents differ, such as "response.output_item.added of
 * message".
 */
export function nameOfEvent(event: unknown): string {
  const { type, item, part, annotation } = Object(event);
  const carried: unknown = item?.type ?? part?.type ?? annotation?.type;
  return typeof carried === "string" ? `${type} of ${carried}` : String(type);
}

import type { StoredItem } from "@antiphon/contracts/responses-api/types.ts";
import type { OfferedHostedTool } from "./accept-tools.ts";

/** The tool loop's part of a response's task, so plain JSON. */
export interface TaskTools {
  readonly hosted: readonly OfferedHostedTool[];
  readonly include: readonly string[];
  /** `max_tool_calls` of the request. */
  readonly callsMax: number | null;
  /** The context of the response in stored form, oldest first. */
  readonly context: readonly StoredItem[];
  /** Whether to leave out the oldest items if the context exceeds the model's window. */
  readonly fitsWindow: boolean;
}

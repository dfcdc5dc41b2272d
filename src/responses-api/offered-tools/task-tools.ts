import type { StoredItem } from "../../../generated/responses-api/types.ts";
import type { OfferedHostedTool } from "./accept-tools.ts";

/** What the tool loop of one response works with. Part of a run's task, so plain JSON. */
export interface TaskTools {
  readonly hosted: readonly OfferedHostedTool[];
  readonly include: readonly string[];
  /** `max_tool_calls` of the request. */
  readonly callsMax: number | null;
  /** The context of the response as it is stored, oldest first. */
  readonly context: readonly StoredItem[];
  /** Whether the oldest items are left out where the context grows beyond the model's window. */
  readonly fitsWindow: boolean;
}

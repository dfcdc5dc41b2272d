import type { HostedTools } from "@antiphon/domain/hosted-tools.ts";
import type { ResponseArchive } from "@antiphon/domain/inspection.ts";
import type { RateLimiter } from "@antiphon/domain/rates.ts";
import type { ResponseStore } from "@antiphon/domain/responses.ts";
import type { StorageQuota } from "@antiphon/domain/storage.ts";
import type { ToolObserver } from "@antiphon/domain/tool-watch.ts";
import type { VectorStores } from "@antiphon/domain/vector-stores.ts";

/** What the MCP server serves. */
export interface McpServing {
  readonly tools: HostedTools;
  readonly observer: ToolObserver;
  readonly limiter: RateLimiter;
  readonly quota: Pick<StorageQuota, "requireRoom">;
  readonly responses: Pick<ResponseStore, "findResponse">;
  readonly archive: Pick<ResponseArchive, "list">;
  readonly vectorStores: Pick<VectorStores, "listStores">;
  /** The version of this program. */
  readonly version: string;
}

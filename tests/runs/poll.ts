import { setTimeout as sleep } from "node:timers/promises";
import type { Response as ResponseBody } from "@antiphon/contracts/responses-api/types.ts";
import type { TestServer } from "../kit/test-server.ts";
import { readResponse } from "../responses/read-stream.ts";

const POLL_INTERVAL_MS = 20;

/** Fetches a response until it has one of these statuses. The test's time limit ends a wait that never succeeds. */
export async function pollUntil(
  server: TestServer,
  id: string,
  ...statuses: readonly ResponseBody["status"][]
): Promise<ResponseBody> {
  for (;;) {
    const response = await readResponse(await server.fetch(`/v1/responses/${id}`));
    if (statuses.includes(response.status)) return response;
    await sleep(POLL_INTERVAL_MS);
  }
}

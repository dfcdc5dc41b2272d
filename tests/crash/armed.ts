import { expect } from "vitest";
import type { ChildServer } from "../kit/child-server.ts";

/** What a server with `break-at-step.fixture.ts` says on stderr once it looks out for its text. */
const ARMED = "looks out for its end";

/** Makes such a server die at its text from now on. */
export async function arm(server: Pick<ChildServer, "pid" | "complaints">): Promise<void> {
  process.kill(server.pid, "SIGUSR2");
  await expect.poll(() => server.complaints(), { interval: 5 }).toContain(ARMED);
}

import { setTimeout as sleep } from "node:timers/promises";
import { expect, test } from "vitest";
import { temporaryFolder } from "../kit/temporary-folder.ts";
import { query } from "../kit/tested-store.ts";
import { trialSize } from "../trials.ts";
import { verifies } from "../verifies.ts";
import { checkClientView, checkConversation, conversationOf, nothingSeen } from "./check-client-view.ts";
import { ask, KINDS } from "./client.ts";
import { start } from "./lives.ts";
import { serveTalkingModel } from "./talking-model.ts";

/** CI sets a lower number to save time. */
const KILLS = trialSize("CRASH_KILLS", { all: 50, short: 5 });
/** With fewer, a run of some kind may by chance not be interrupted at the right moment. */
const KILLS_TO_MEET_ALL_KINDS = 50;
const RUNS_AT_ONCE = 20;
const LIFE_MS_MAX = 450;
const END_MS_MAX = 60_000;
const TEST_TIMEOUT_MS = 600_000;

test(
  `${KILLS} kills under ${RUNS_AT_ONCE} runs leave nothing half-open, lost or doubled`,
  async () => {
    verifies("state.crash.nothing-half-open", "state.store.crash-leaves-no-run-open");
    const [folder, model] = [temporaryFolder(), await serveTalkingModel()];
    const startAgain = () => start(folder, `${model.origin}/v1`);
    let server = await startAgain();
    const conversation = await conversationOf(server);
    const seen = nothingSeen();
    for (let round = 0; round < KILLS; round++) {
      const known = Promise.withResolvers<void>();
      const lives = Array.from({ length: RUNS_AT_ONCE }, (_, run) =>
        ask(server, KINDS[run % KINDS.length] ?? "foreground", conversation, { onId: known.resolve }),
      );
      await sleep(Math.random() * LIFE_MS_MAX);
      if (round === 0) await known.promise; // A busy machine may kill each server before anybody has an id.
      await server.kill();
      const clientViews = await Promise.all(lives);
      server = await startAgain();
      for (const clientView of clientViews) await checkClientView(server, clientView, seen);
      await checkConversation(server, conversation);
    }
    // No client knows the id of a run that was killed before its first byte, so nobody has waited for its end.
    const open = () => query(folder, "select id from responses where status in ('queued', 'in_progress')");
    await expect.poll(open, { timeout: END_MS_MAX }).toEqual([]);
    expect(seen.completed + seen.failed).toBeGreaterThan(0);
    if (KILLS < KILLS_TO_MEET_ALL_KINDS) return;
    for (const [what, times] of Object.entries(seen)) expect(times, what).toBeGreaterThan(0);
  },
  TEST_TIMEOUT_MS,
);

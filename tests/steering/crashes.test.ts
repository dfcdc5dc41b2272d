import { join } from "node:path";
import { expect, test } from "vitest";
import { startChildServer } from "../kit/child-server.ts";
import { isAlive } from "../kit/processes.ts";
import { temporaryFolder } from "../kit/temporary-folder.ts";
import { onPostgres, query } from "../kit/tested-store.ts";
import { verifies } from "../verifies.ts";
import { begin, ended, heldWorld, steer, steers } from "./held-world.ts";

const BREAKER = join(import.meta.dirname, "../crash/break-at-step.fixture.ts");

/** The text in what the store is sent at each step after input was accepted. */
const STEPS: Readonly<Record<string, string>> = {
  "the end of the response": onPostgres ? "update responses set version" : "type: 'close'",
  "a look for the input": "update steers set due_at",
  "the beginning of the successor": onPostgres ? "insert into responses" : "type: 'open'",
  "the end of the successor": onPostgres ? "update responses set version" : "type: 'close'",
};

test.each(Object.entries(STEPS))(
  "a server that is killed at %s leaves the input or one successor",
  async (name, text) => {
    verifies("responses.steer.survives-crashes");
    const world = await heldWorld();
    const folder = temporaryFolder();
    const env = { ...world.env, DATA_DIR: folder };
    const first = await startChildServer({ env: { ...env, KILL_AT: text }, flags: ["--import", BREAKER] });
    const id = await begin(first, world.ask(1));
    await expect.poll(world.begun).toBe(1);
    await steer(first, id, "One");
    await steer(first, id, "Two");
    if (name === "the end of the successor") {
      world.think(); // The successor waits for its model while the server is aimed at.
      world.release();
      await steers(first, id, "applied");
      process.kill(first.pid, "SIGUSR2");
      world.speak();
    } else {
      process.kill(first.pid, "SIGUSR2");
      world.release();
    }
    await expect.poll(() => isAlive(first.pid)).toBe(false);

    const second = await startChildServer({ env });
    expect((await ended(second, id)).incomplete_details).toEqual({ reason: "steered" });
    const [one, two] = await steers(second, id, "applied");
    expect((await ended(second, one?.successor_id ?? "")).status).toBe("completed");
    expect(await query(folder, "select id from responses where previous_response_id = ?", id)).toEqual([
      { id: one?.successor_id },
    ]);
    expect(two?.successor_id).toBe(one?.successor_id);
    expect(world.turns.at(-1)?.slice(-2)).toEqual([
      ["user", "One"],
      ["user", "Two"],
    ]);
    expect(world.begun()).toBe(1);
  },
);

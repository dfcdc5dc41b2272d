import type { Response as ResponseBody, ResponseEffect } from "@antiphon/contracts/responses-api/types.ts";
import { expect, test } from "vitest";
import { z } from "zod";
import type { ChildServer } from "../kit/child-server.ts";
import { temporaryFolder } from "../kit/temporary-folder.ts";
import { readResponse } from "../responses/read-stream.ts";
import { someCases, trialSize } from "../trials.ts";
import { verifies } from "../verifies.ts";
import { arm } from "./armed.ts";
import { until } from "./lives.ts";
import { type PayingWorld, PLACES, type Place, payingWorld, startAimed } from "./paying-world.ts";

/** CI sets a lower number to save time. */
const ROUNDS = Math.max(1, Math.round(trialSize("CRASH_KILLS", { all: 12, short: 4 }) / PLACES.length));
const TEST_TIMEOUT_MS = 900_000;

/** How often the tool hears of the call. */
const HEARD: Readonly<Record<Place, number>> = {
  "before begin": 1,
  "begin to effect": 2,
  "effect to finish": 2,
  "finish to event": 1,
};

const LIST = z.object({ data: z.array(z.custom<ResponseEffect>()), has_more: z.boolean() });

/** The calls of a response, oldest first. */
export async function effectsOf(server: ChildServer, id: string): Promise<readonly ResponseEffect[]> {
  const reply = await server.fetch(`/v1/responses/${id}/effects?order=asc`);
  return LIST.parse(JSON.parse(await reply.text())).data;
}

function bankTool(world: PayingWorld): object {
  return { type: "mcp", server_label: "bank", server_url: world.mcpUrl, require_approval: "never" };
}

/** Begins a background response, and waits until its server has died at the place that was aimed at. */
async function askUntilDeath(server: ChildServer, world: PayingWorld, number: number): Promise<string> {
  const body = { model: "m", input: `number ${number}`, background: true, tools: [bankTool(world)] };
  const { id } = await readResponse(await server.post("/v1/responses", body));
  const isUp = (): Promise<boolean> =>
    server.fetch("/healthz").then(
      () => true,
      () => false,
    );
  await expect.poll(isUp).toBe(false);
  await server.kill();
  return id;
}

/** A turn that was not stored yet is asked for again, and its call ends as incomplete: it had not begun. */
function checkWhole({ status, output }: ResponseBody): void {
  const calls = output.flatMap((item) =>
    item.type === "mcp_call" && item.status !== "incomplete" ? [[item.name, item.status]] : [],
  );
  expect([status, calls]).toEqual([
    "completed",
    [
      ["look", "completed"],
      ["pay", "completed"],
    ],
  ]);
}

test.each(someCases(PLACES, 1))(
  `an idempotent call acts once and is told as done, although its process was killed %s (${ROUNDS} kills)`,
  async (place) => {
    verifies("state.crash.idempotent-calls-go-on");
    const [folder, world] = [temporaryFolder(), await payingWorld({ isIdempotent: true })];
    let server = await startAimed(folder, world, place);
    for (let number = 1; number <= ROUNDS; number++) {
      const before = world.payKeys.length;
      const killed = server;
      world.aim({ place, tool: "pay", kill: () => killed.kill(), arm: () => arm(killed) });
      const id = await askUntilDeath(server, world, number);
      server = await startAimed(folder, world, place);
      world.aim(null);
      checkWhole(await until(server, id, "completed", "failed"));
      expect(world.done.filter((one) => one === `pay ${number}`)).toHaveLength(1);
      const [, effect] = await effectsOf(server, id);
      const key = effect?.key ?? null;
      expect(world.payKeys.slice(before)).toEqual(
        Array.from({ length: HEARD[place] }, () => ({ meta: key, header: key })),
      );
      expect(key).toBe(`${id}.${effect?.id}`);
      expect(effect).toMatchObject({ name: "pay", effect: "idempotent", state: "done" });
      expect(effect?.attempts.map(({ state }) => state)).toEqual(HEARD[place] === 2 ? ["unknown", "done"] : ["done"]);
    }
  },
  TEST_TIMEOUT_MS,
);

test.each(["begin to effect", "effect to finish"] as const)(
  "a call of any other tool is made once, and stays unknown in the ledger after a crash %s",
  async (place) => {
    verifies("state.crash.tools-go-on", "inspection.effects.list");
    const [folder, world] = [temporaryFolder(), await payingWorld()];
    const first = await startAimed(folder, world, place);
    world.aim({ place, tool: "pay", kill: () => first.kill() });
    const id = await askUntilDeath(first, world, 1);
    const second = await startAimed(folder, world, null);
    await until(second, id, "completed", "failed");
    expect(world.payKeys).toHaveLength(1);
    const [look, pay] = await effectsOf(second, id);
    expect(look).toMatchObject({ name: "look", effect: "none", state: "done", key: null });
    expect(pay).toMatchObject({ name: "pay", effect: "may_have", state: "unknown", key: world.payKeys[0]?.meta });
    expect(pay?.attempts).toEqual([
      { started_at_ms: expect.any(Number), ended_at_ms: null, node: expect.any(String), state: "unknown" },
    ]);
  },
  TEST_TIMEOUT_MS,
);

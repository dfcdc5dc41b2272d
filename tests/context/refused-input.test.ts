import { expect, test } from "vitest";
import { readResponse } from "../responses/read-stream.ts";
import { verifies } from "../verifies.ts";
import { serverFor, serveWindow } from "./small-window.fixture.ts";

const WINDOW = 4096;
const digits = Array.from({ length: 150 }, (_, index) => (index * 7919) % 100_003).join(" ");
const input = [
  ...Array.from({ length: 20 }, (_, index) => ({ role: "user", content: `${index}: ${digits}` })),
  { role: "user", content: "Which number is the largest?" },
];

async function serve(factor: number, window = WINDOW, env = { MODEL_CONTEXT_WINDOW: String(WINDOW) }) {
  const model = await serveWindow(window, factor);
  const server = await serverFor(model, env);
  model.play(["The last."]);
  const create = (members: object) =>
    server.post("/v1/responses", { model: "m", input, max_output_tokens: 100, ...members });
  return { model, create };
}

test.each([{ stream: false }, { stream: true }])(
  "a refused input is cut deeper by the server's own number, and the next one is not refused (%j)",
  async (members) => {
    verifies("create.context.truncation-auto-after-a-refusal");
    const { model, create } = await serve(1.4);
    const reply = await create({ truncation: "auto", ...members });
    expect([reply.status, (await reply.text()).includes("The last.")]).toEqual([200, true]);
    const [refused = 0, accepted = 0] = model.sizes;
    expect(refused).toBeGreaterThan(WINDOW);
    expect([model.sizes.length, accepted <= WINDOW, accepted > WINDOW / 2]).toEqual([2, true, true]);
    await readResponse(await create({ truncation: "auto" }));
    expect([model.sizes.length, (model.sizes[2] ?? 0) <= WINDOW]).toEqual([3, true]);
  },
);

test("a window that the server tells in a refusal holds from then on", async () => {
  const { model, create } = await serve(1, 2048);
  expect((await create({ truncation: "auto" })).status).toBe(200);
  expect((await create({ truncation: "auto" })).status).toBe(200);
  expect(model.sizes.map((size) => size <= 2048)).toEqual([false, true, true]);
});

test("with truncation disabled the input is refused, and asked for once", async () => {
  const { model, create } = await serve(1.4);
  expect((await create({ truncation: "disabled" })).status).toBe(400);
  expect(model.sizes).toHaveLength(1);
});

test("usage corrects the estimate before anything is refused", async () => {
  const { model, create } = await serve(1.05, WINDOW, { MODEL_CONTEXT_WINDOW: String(WINDOW) });
  await readResponse(await create({ truncation: "auto" }));
  const [before = 0] = model.sizes;
  await readResponse(await create({ truncation: "auto" }));
  expect(model.sizes.at(-1)).toBeLessThanOrEqual(Math.min(before, WINDOW - 100));
});

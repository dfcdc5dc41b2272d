import { expect, test } from "vitest";
import { startTestServer } from "../kit/test-server.ts";
import { readResponse, readStream, responseOf } from "../responses/read-stream.ts";
import { verifies } from "../verifies.ts";
import { readLive } from "./live-stream.ts";
import { pollUntil } from "./poll.ts";
import { serveSlowModel } from "./slow-model.ts";

const cancelPath = (id: string): string => `/v1/responses/${id}/cancel`;

async function serve() {
  const server = await startTestServer();
  const create = async (members: object) =>
    server.post("/v1/responses", { model: "antiphon-built-in", input: "say hi", ...members });
  return { server, create };
}

test("a queued background response is cancelled without a call of its model", async () => {
  const { server, create, call, count } = await serveSlowModel({ BACKGROUND_RUNS_MAX: "1" });
  await create({ background: true });
  const { id } = await readResponse(await create({ background: true }));
  await call(0);
  const cancelled = await readResponse(await server.post(cancelPath(id), {}));
  expect(cancelled).toMatchObject({
    id,
    status: "cancelled",
    output: [],
    usage: null,
    error: null,
    incomplete_details: null,
    completed_at: null,
  });
  expect(count()).toBe(1);
});

test("a cancelled background response stops its model call, and its reader gets the reference's last events", async () => {
  verifies(
    "responses.cancel.background-run",
    "responses.cancel.stops-the-model",
    "responses.cancel.never-sends-cancelled-event",
    "responses.cancel.repeat-is-unchanged",
  );
  const { server, create, call } = await serveSlowModel();
  const reply = await create({ background: true, stream: true });
  const attached = readLive(reply);
  const id = await attached.id;
  const model = await call(0);
  model.say("Not yet");
  const cancelled = await readResponse(await server.post(cancelPath(id), {}));
  await model.aborted;
  expect(cancelled).toMatchObject({ status: "cancelled", usage: null, error: null });
  const { events } = await attached.whole;
  expect(events.at(-1)?.type).toBe("response.failed");
  expect(responseOf(events.at(-1))).toMatchObject({ status: "cancelled" });
  expect(events.some(({ type }) => type === "error")).toBe(false);
  expect(await readResponse(await server.post(cancelPath(id), {}))).toEqual(cancelled);
  expect(await readResponse(await server.fetch(`/v1/responses/${id}`))).toEqual(cancelled);
});

test("cancelling finished responses gets the reference's replies", async () => {
  verifies(
    "errors.catalogue.cancel-foreground",
    "errors.catalogue.cancel-completed-stream",
    "responses.cancel.completed-plain-background",
  );
  const { server, create } = await serve();
  const plain = await readResponse(await create({}));
  const synchronous = await server.post(cancelPath(plain.id), {});
  expect(synchronous.status).toBe(400);
  expect(await synchronous.json()).toMatchObject({
    error: { message: "Cannot cancel a synchronous response.", param: null },
  });

  const queued = await readResponse(await create({ background: true }));
  const done = await pollUntil(server, queued.id, "completed");
  expect(await readResponse(await server.post(cancelPath(queued.id), {}))).toEqual(done);

  const { final } = await readStream(await create({ background: true, stream: true }));
  const late = await server.post(cancelPath(final.id), {});
  expect(late.status).toBe(400);
  expect(await late.json()).toMatchObject({ error: { message: "Cannot cancel a completed response.", param: null } });
  expect((await server.post(cancelPath("resp_unknown"), {})).status).toBe(404);
});

test("a running foreground stream is cancelled by its id", async () => {
  verifies("responses.cancel.foreground-stream");
  const { server, create, call } = await serveSlowModel();
  const reply = await create({ stream: true });
  const stream = readLive(reply);
  const model = await call(0);
  model.say("Hello");
  const id = await stream.id;
  expect(await readResponse(await server.post(cancelPath(id), {}))).toMatchObject({ id, status: "cancelled" });
  await model.aborted;
  expect((await stream.whole).final.status).toBe("cancelled");
});

test("deleting a running response stops its model", async () => {
  verifies("responses.delete.stops-a-running-response");
  const { server, create, call } = await serveSlowModel();
  const { id } = await readResponse(await create({ background: true }));
  const model = await call(0);
  model.say("Hello");
  const deleted = await server.fetch(`/v1/responses/${id}`, { method: "DELETE" });
  expect(await deleted.json()).toEqual({ id, object: "response.deleted", deleted: true });
  await model.aborted;
  expect((await server.fetch(`/v1/responses/${id}`)).status).toBe(404);
});

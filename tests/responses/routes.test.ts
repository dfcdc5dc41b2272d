import { expect, test } from "vitest";
import { contractOperations } from "../hostile/contract-operations.ts";
import { startTestServer } from "../kit/test-server.ts";
import { verifies } from "../verifies.ts";
import { checkReply, codeless, MODEL } from "./check-refusal.ts";

const FOR_OPERATORS = ["/healthz", "/readyz", "/metrics"];

test("a model cannot be deleted", async () => {
  verifies("errors.catalogue.models-are-not-deleted");
  const server = await startTestServer();
  const remove = (model: string): Promise<Response> => server.fetch(`/v1/models/${model}`, { method: "DELETE" });
  const refusal = { param: "model", status: 403, code: "model_not_deletable" };
  await checkReply(await remove(MODEL), { ...refusal, message: /operator of this server chooses its models/ });
  const unknown = { ...refusal, status: 404, code: "model_not_found" };
  await checkReply(await remove("none"), { ...unknown, message: "The model 'none' does not exist." });
  expect((await server.fetch(`/v1/models/${MODEL}`)).status).toBe(200);
});

test("every path begins with /v1/ and does not exist without it, except those for operators", async () => {
  verifies("http.routes.all-carry-v1");
  const server = await startTestServer();
  const operations = contractOperations();
  const others = operations.filter(({ path }) => !path.startsWith("/v1/"));
  expect(others.map(({ path }) => path)).toEqual(FOR_OPERATORS);
  for (const path of FOR_OPERATORS) expect((await server.fetch(path)).status, path).toBe(200);
  for (const { method, path } of operations.filter((operation) => !others.includes(operation))) {
    const bare = path.replace(/^\/v1/, "").replaceAll(/\{\w+\}/g, "x");
    const message = `Invalid URL (${method} ${bare}). Did you mean /v1${bare}?`;
    await checkReply(await server.fetch(bare, { method }), codeless(null, message, 404));
    const refused = await server.fetch(`/v1${bare}`, { method, headers: { authorization: "" } });
    expect(refused.status, `${method} /v1${bare}`).toBe(401);
  }
});

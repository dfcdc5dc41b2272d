import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { silentLogger } from "@antiphon/base/logger.ts";
import { expect, test } from "vitest";
import { startTestServer } from "../kit/test-server.ts";
import { verifies } from "../verifies.ts";
import { checkReply } from "./check-refusal.ts";

test("a server fault is reported without its details, which are in the log", async () => {
  verifies("errors.catalogue.server-fault", "transport.faults.handler-error-is-500-json");
  const logged: { readonly fields: unknown; readonly message: string }[] = [];
  const log = { ...silentLogger, error: (fields: object, message: string) => void logged.push({ fields, message }) };
  const server = await startTestServer({ log });
  const database = new DatabaseSync(join(server.dataDir, "antiphon.db"));
  database.exec("alter table files rename to lost_files");
  database.close();

  const reply = await server.fetch("/v1/files/file-0123456789");
  const requestId = reply.headers.get("x-request-id") ?? "";
  await checkReply(reply.clone(), {
    status: 500,
    type: "server_error",
    code: "server_error",
    param: null,
    message: new RegExp(requestId),
  });
  expect(await reply.text()).not.toMatch(/sqlite|table|files|\.ts|stack/i);
  expect(logged.filter(({ message }) => message === "request failed")).toMatchObject([
    { fields: { requestId, err: { message: expect.stringContaining("no such table: files") } } },
  ]);
});

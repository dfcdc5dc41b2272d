import { silentLogger } from "@antiphon/base/logger.ts";
import { expect, test } from "vitest";
import { startTestServer, type TestServer } from "../kit/test-server.ts";
import { formOf } from "../kit/upload.ts";
import { startTcpProxy } from "../services/proxy-of-test.ts";
import { startS3Server } from "../services/s3-server.ts";
import type { TcpProxy } from "../services/tcp-proxy.ts";
import { someCases } from "../trials.ts";
import { verifies } from "../verifies.ts";
import { answerOf, expectLater, TEST_TIMEOUT_MS } from "./nodes.ts";

const OUTAGES = [
  ["is down", true, (proxy: TcpProxy) => proxy.cut()],
  ["is cut off without a word", false, async (proxy: TcpProxy) => proxy.silence()],
] as const;

function form(text: string): RequestInit {
  const body = formOf({ purpose: "user_data", file: new File([text], "notes.txt", { type: "text/plain" }) });
  return { method: "POST", body };
}

async function readFile(server: TestServer, id: unknown): Promise<Response> {
  return await server.fetch(`/v1/files/${String(id)}/content`);
}

test.each(someCases(OUTAGES, 2))(
  "while the storage of files %s, operations on files get 503, everything else goes on, and nothing is half stored",
  async (_what, looksAtReadyz, breakIt) => {
    verifies("outages.files.down");
    const s3 = await startS3Server();
    const proxy = await startTcpProxy(s3.endpoint);
    const server = await startTestServer({
      log: silentLogger,
      env: {
        FILES_URL: `s3://${s3.bucket}/antiphon`,
        S3_ENDPOINT: proxy.through(s3.endpoint),
        S3_REGION: s3.region,
        AWS_ACCESS_KEY_ID: s3.accessKeyId,
        AWS_SECRET_ACCESS_KEY: s3.secretAccessKey,
      },
    });
    const stored = await answerOf(await server.fetch("/v1/files", form("before")));
    expect(stored.status).toBe(200);
    const readyz = async () => (await answerOf(await server.fetch("/readyz"))).body;
    const seeReadyz = async (files: "ok" | "unavailable"): Promise<void> => {
      // The state is looked at each 15 seconds, so one of the two outages is enough.
      if (looksAtReadyz)
        await expect.poll(readyz, { timeout: 40_000 }).toMatchObject({ status: "ok", checks: { files } });
    };
    await seeReadyz("ok");

    await breakIt(proxy);
    expectLater(await answerOf(await server.fetch("/v1/files", form("lost"))));
    expectLater(await answerOf(await readFile(server, stored.body["id"])));
    const created = await answerOf(
      await server.post("/v1/responses", { model: "antiphon-built-in", input: "Say hello" }),
    );
    expect(created).toMatchObject({ status: 200, body: { status: "completed" } });
    const listed = await answerOf(await server.fetch("/v1/files"));
    expect(listed.body["data"]).toMatchObject([{ id: stored.body["id"] }]);
    await seeReadyz("unavailable");

    await proxy.heal();
    expect(await (await readFile(server, stored.body["id"])).text()).toBe("before");
    expect((await answerOf(await server.fetch("/v1/files", form("after")))).status).toBe(200);
    await seeReadyz("ok");
  },
  TEST_TIMEOUT_MS,
);

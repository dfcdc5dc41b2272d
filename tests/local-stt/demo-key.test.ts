import { once } from "node:events";
import { rm, writeFile } from "node:fs/promises";
import { request } from "node:http";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { describe, expect, onTestFinished, test } from "vitest";
import { temporaryFolder } from "../kit/temporary-folder.ts";
import { startLocalSttServer } from "../local-stt-server.ts";
import { runAsNobody } from "../run-as-nobody.ts";
import { verifies } from "../verifies.ts";

const KEY = "sk-the-first-key-0123456789";
const isLinux = process.platform === "linux";

async function serve(env: Readonly<Record<string, string>> = {}) {
  const folder = temporaryFolder();
  await writeFile(join(folder, "api-key"), `${KEY}\n`, { mode: 0o600 });
  const server = await startLocalSttServer({ env: { DATA_DIR: folder, PORT: "8123", ...env } });
  onTestFinished(async () => {
    await server.close();
    await rm(folder, { recursive: true });
  });
  const { host } = new URL(server.url);
  const page = { host, origin: `http://${host}`, "sec-fetch-site": "same-origin" };
  return { url: server.url, folder, page };
}

/** Not `fetch`, which sets some of these headers itself. */
async function ask(url: string, headers: Readonly<Record<string, string>>) {
  const call = request(`${url}/demo/key`, { method: "POST", headers });
  call.end();
  const [reply] = await once(call, "response");
  const body: unknown = JSON.parse(await text(reply));
  return { status: reply.statusCode, body, cache: reply.headers["cache-control"] };
}

function refusal(status: number, code: string) {
  return { status, body: { error: { code, message: expect.any(String) } } };
}

describe.skipIf(!isLinux)("the key of the same machine", () => {
  test("is given to the page of the server itself", async () => {
    verifies("stt.demo.key-for-own-page-only");
    const { url, page } = await serve();
    const body = { base_url: "http://127.0.0.1:8123/v1", api_key: KEY };
    expect(await ask(url, page)).toEqual({ status: 200, body, cache: "no-store" });
  });

  test("is given to no other page, and to no program that is no page", async () => {
    verifies("stt.demo.key-for-own-page-only");
    const { url, page } = await serve();
    const { port } = new URL(url);
    for (const [wrong, code] of [
      [{ ...page, origin: "http://127.0.0.1:3000", "sec-fetch-site": "same-site" }, "origin_not_allowed"],
      [{ ...page, origin: `http://localhost:${port}` }, "origin_not_allowed"],
      [{ ...page, origin: "https://example.com", "sec-fetch-site": "cross-site" }, "origin_not_allowed"],
      [{ ...page, origin: "null" }, "origin_not_allowed"],
      [{ ...page, host: "example.com", origin: "http://example.com" }, "host_not_allowed"],
      [{ ...page, "sec-fetch-site": "none" }, "origin_not_allowed"],
      [{ host: page.host }, "origin_not_allowed"],
    ] as const)
      expect(await ask(url, wrong)).toMatchObject(refusal(403, code));
    expect(await ask(url, { ...page, host: `localhost:${port}`, origin: `http://localhost:${port}` })).toMatchObject({
      status: 200,
    });
  });

  test("is given to no page of STT_ALLOWED_ORIGINS", async () => {
    const { url, page } = await serve({ STT_ALLOWED_ORIGINS: "https://app.example.com" });
    const wrong = { ...page, origin: "https://app.example.com", "sec-fetch-site": "cross-site" };
    expect(await ask(url, wrong)).toMatchObject(refusal(403, "origin_not_allowed"));
  });

  test.skipIf(process.getuid?.() !== 0)("is given to no other user of the machine", async () => {
    verifies("stt.demo.key-for-own-page-only");
    const { url, page } = await serve();
    const code = `
      const { request } = require("node:http");
      request("${url}/demo/key", { method: "POST", headers: ${JSON.stringify(page)} }, (reply) => {
        reply.setEncoding("utf8").on("data", (text) => console.log(reply.statusCode, text));
      }).end();`;
    expect(await runAsNobody(code)).toMatch(/^403 .*user_not_allowed/);
  });

  test("is given to nobody if it is switched off or was never made", async () => {
    const off = await serve({ CHAT_LAB_KEY: "false" });
    expect(await ask(off.url, off.page)).toMatchObject(refusal(403, "user_not_allowed"));
    const without = await serve();
    await rm(join(without.folder, "api-key"));
    expect(await ask(without.url, without.page)).toMatchObject(refusal(404, "not_found"));
  });
});

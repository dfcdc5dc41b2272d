import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { silentLogger } from "@antiphon/base/logger.ts";
import { expect, onTestFinished, test } from "vitest";
import { temporaryFolder } from "../../../tests/kit/temporary-folder.ts";
import { startLocalSttServer } from "../../../tests/local-stt-server.ts";
import { verifies } from "../../../tests/verifies.ts";
import { ConfigError } from "../../config/config-error.ts";
import { demoPage } from "./pages.ts";

const CONFIG = { chatLabServers: [], port: 8080 };

async function folderWith(files: Readonly<Record<string, string>>): Promise<URL> {
  const folder = temporaryFolder();
  for (const [name, text] of Object.entries(files)) await writeFile(join(folder, name), text);
  return pathToFileURL(`${folder}/`);
}

test("a page that is not built says so, to the visitor and in the log", async () => {
  const warnings: string[] = [];
  const log = { ...silentLogger, warn: (_fields: object, message: string) => void warnings.push(message) };
  const { "/": page, "/demo": demo } = demoPage(CONFIG, log, await folderWith({}));
  expect(page).toEqual(demo);
  expect(page).toMatchObject({ status: 503, bytes: expect.stringContaining("make page") });
  expect(warnings).toEqual(["the chat lab is not built; run make page and restart"]);
});

test("the page names the Responses API of its own process", async () => {
  const folder = await folderWith({ "index.html": '<input value="{{responses-api-url}}">' });
  for (const [port, url] of [
    [9000, "http://127.0.0.1:9000/v1"],
    [0, "http://127.0.0.1:8080/v1"],
  ] as const)
    expect(demoPage({ ...CONFIG, port }, silentLogger, folder)["/"]).toMatchObject({ bytes: `<input value="${url}">` });
});

test("the page may send to this machine and to the servers that are listed, and is shown in no frame", async () => {
  verifies("stt.demo.page-is-confined");
  const server = await startLocalSttServer({
    env: { CHAT_LAB_SERVERS: "https://api.example.com/v1, http://10.0.0.7:8080", FIND_LOCAL_DAEMON: "false" },
  });
  onTestFinished(() => server.close());
  const { headers } = await fetch(server.url);
  const policy = headers.get("content-security-policy")?.split("; ") ?? [];
  expect(policy).toContain("default-src 'none'");
  expect(policy).toContain("script-src 'self'");
  expect(policy).toContain("frame-ancestors 'none'");
  expect(policy).toContain(
    "connect-src 'self' http://127.0.0.1:* http://localhost:* https://api.example.com http://10.0.0.7:8080",
  );
  expect(headers.get("x-content-type-options")).toBe("nosniff");
});

test.each(["api.example.com", "javascript:alert(1)", "'unsafe-eval'", "https://a;script-src"])(
  "%s is no server to send to",
  (server) => {
    expect(() => demoPage({ ...CONFIG, chatLabServers: [server] }, silentLogger)).toThrow(ConfigError);
  },
);

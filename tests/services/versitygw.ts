import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { AwsV4Signer } from "aws4fetch";
import { onTestFinished } from "vitest";
import type { SigningKey } from "./s3-signature.ts";

const START_MS_MAX = 20_000;
const POLL_MS = 50;
const KEY: SigningKey = { accessKeyId: "antiphon", secretAccessKey: "secret-of-the-tests", region: "us-east-1" };
const BUCKET = "antiphon-tests";

/** Whether this S3-compatible server is installed. */
export const HAS_VERSITYGW = spawnSync("versitygw", ["--version"]).status === 0;

/** Starts versitygw on a new folder, with an empty bucket. It ends with the test. */
export async function startVersitygw(): Promise<SigningKey & { readonly endpoint: string; readonly bucket: string }> {
  const folder = mkdtempSync(join(tmpdir(), "antiphon-s3-"));
  const port = await freePort();
  const { accessKeyId: ROOT_ACCESS_KEY, secretAccessKey: ROOT_SECRET_KEY, region } = KEY;
  const server = spawn("versitygw", ["--port", `127.0.0.1:${port}`, "--region", region, "posix", folder], {
    env: { ...process.env, ROOT_ACCESS_KEY, ROOT_SECRET_KEY },
    stdio: "ignore",
  });
  const ended = once(server, "exit");
  onTestFinished(async () => {
    server.kill("SIGKILL");
    await ended;
    rmSync(folder, { recursive: true, force: true });
  });
  const endpoint = `http://127.0.0.1:${port}`;
  await createBucket(`${endpoint}/${BUCKET}`);
  return { ...KEY, endpoint, bucket: BUCKET };
}

async function createBucket(url: string): Promise<void> {
  const giveUpAt = performance.now() + START_MS_MAX;
  for (;;) {
    const signed = await new AwsV4Signer({ ...KEY, method: "PUT", url, service: "s3", headers: NO_BODY }).sign();
    const reply = await fetch(signed.url, { method: "PUT", headers: signed.headers }).catch(() => null);
    if (reply?.ok === true) return;
    if (performance.now() > giveUpAt) throw new Error(`versitygw did not start: ${reply?.status ?? "no answer"}`);
    await sleep(POLL_MS);
  }
}

const NO_BODY = {
  "x-amz-content-sha256": "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855", // Of no bytes.
};

async function freePort(): Promise<number> {
  const probe = createServer().listen(0, "127.0.0.1");
  await once(probe, "listening");
  const address = probe.address();
  probe.close();
  await once(probe, "close");
  return typeof address === "object" && address !== null ? address.port : 0;
}

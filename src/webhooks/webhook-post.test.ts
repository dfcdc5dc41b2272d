import { silentLogger } from "@antiphon/base/logger.ts";
import { createEgress } from "@antiphon/egress/egress.ts";
import { expect, test } from "vitest";
import { serveHttp } from "../../tests/kit/http-server.ts";
import { verifies } from "../../tests/verifies.ts";
import { guardedPost } from "./webhook-post.ts";
import { sealedSecrets } from "./webhook-secrets.ts";

const OWNER = { organization: "acme", project: "web" };
const EVENT = { id: "evt_1", type: "response.completed", createdAt: 1, subjectId: "resp_1" };
/** Seals by turning texts around. `null` stands for a key that is gone. */
const reversed = (text: string): string => [...text].toReversed().join("");
const secrets = sealedSecrets({ seal: reversed, open: (text) => (text === "gone" ? null : reversed(text)) });
const egress = createEgress({
  policy: { mode: "listed", allow: ["127.0.0.1"], deny: [], ports: [] },
  timeouts: { connectMs: 5_000, idleMs: 5_000, totalMs: 5_000 },
  log: silentLogger,
});

function addressAt(url: string, ...sealedTexts: readonly string[]) {
  return { owner: OWNER, endpointId: "whe_1", url, sealedSecrets: sealedTexts };
}

test("an endpoint that takes too long has failed", async () => {
  verifies("webhooks.sending.bounded");
  const { url } = await serveHttp(() => {});
  const post = guardedPost(egress, secrets, 50);
  const address = addressAt(url, secrets.create(OWNER).sealedText);
  expect(await post.send(address, EVENT, new AbortController().signal)).toMatchObject({
    error: "timeout",
    status_code: null,
  });
});

test("nothing is sent unsigned", async () => {
  verifies("webhooks.signature.official-sdk");
  const { url, paths } = await serveHttp((_request, response) => response.end());
  const post = guardedPost(egress, secrets);
  const { signal } = new AbortController();
  expect(await post.send(addressAt(url, "gone"), EVENT, signal)).toMatchObject({ error: "unreadable_secret" });
  expect(paths).toEqual([]);
  // An old secret that cannot be opened any more is left out.
  const address = addressAt(url, secrets.create(OWNER).sealedText, "gone");
  expect(await post.send(address, EVENT, signal)).toMatchObject({ error: null, status_code: 200 });
});

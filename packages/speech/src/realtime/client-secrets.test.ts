import { expect, test } from "vitest";
import { ClientSecrets, clientSecretIn, realtimeKeyIn } from "./client-secrets.ts";

const PLAIN = { seal: (text: string) => Buffer.from(text).toString("base64url"), open: unsealed };

function unsealed(text: string): string | null {
  return text.startsWith("ey") ? Buffer.from(text, "base64url").toString() : null;
}

const CONTENT = { holder: null, settings: { type: "transcription" } } as const;
const now = (): number => Math.floor(Date.now() / 1000);

test("a secret opens until it expires", () => {
  const secrets = new ClientSecrets(PLAIN);
  const lasting = secrets.make({ ...CONTENT, expiresAt: now() + 60 });
  expect(secrets.open(lasting)).toMatchObject(CONTENT);
  expect(secrets.open(secrets.make({ ...CONTENT, expiresAt: now() - 1 }))).toBeNull();
  expect(secrets.open("ek_other")).toBeNull();
});

test("two secrets with the same settings differ", () => {
  const secrets = new ClientSecrets(PLAIN);
  const content = { ...CONTENT, expiresAt: now() + 60 };
  expect(secrets.make(content)).not.toBe(secrets.make(content));
});

test("a key is found as a Bearer and among subprotocols, and is a secret by its first letters", () => {
  expect(realtimeKeyIn({ authorization: "Bearer sk-1" })).toBe("sk-1");
  expect(realtimeKeyIn({ "sec-websocket-protocol": "realtime, openai-insecure-api-key.sk-2" })).toBe("sk-2");
  expect(realtimeKeyIn({ "sec-websocket-protocol": "realtime" })).toBeNull();
  expect(clientSecretIn({ authorization: "Bearer sk-1" })).toBeNull();
  expect(clientSecretIn({ "sec-websocket-protocol": "openai-insecure-api-key.ek_3" })).toBe("ek_3");
});

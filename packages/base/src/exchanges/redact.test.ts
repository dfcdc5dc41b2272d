import { expect, test } from "vitest";
import { redactHeaders, redactText, writtenForms } from "./redact.ts";

test("a secret is redacted as JSON and addresses write it, and a password of Basic as the server reads it", () => {
  const login = `Basic ${Buffer.from("user:correct horse").toString("base64")}`;
  const { headers, secrets } = redactHeaders([
    ["X-Key", 'to"ken 0123'],
    ["Authorization", login],
    ["Accept", "text/html"],
  ]);
  expect(headers).toEqual({ "x-key": "[redacted]", authorization: "[redacted]", accept: "text/html" });
  const said = JSON.stringify(['to"ken 0123', "user:correct horse", "correct horse", "correct%20horse", "text/html"]);
  const redacted = Array.from({ length: 4 }, () => "[redacted]");
  expect(redactText(said, writtenForms(secrets))).toBe(JSON.stringify([...redacted, "text/html"]));
});

import { expect, test } from "vitest";
import { readChallenge } from "./challenge.ts";

test.each([
  [null, null],
  ["", null],
  ['Basic realm="a"', null],
  ["Bearer", { resourceMetadata: null, scope: null, error: null }],
  [
    'Bearer resource_metadata="https://mcp.example/.well-known/oauth-protected-resource", scope="a b"',
    { resourceMetadata: "https://mcp.example/.well-known/oauth-protected-resource", scope: "a b", error: null },
  ],
  [
    'Basic realm="x, Bearer", bearer error=insufficient_scope, scope="files:read"',
    { resourceMetadata: null, scope: "files:read", error: "insufficient_scope" },
  ],
  ['Bearer realm="a \\"quoted\\" realm, scope=x", error="invalid_token"', { error: "invalid_token", scope: null }],
  ['Bearer scope="sch\u00f6n"', { scope: null }],
  [`Bearer scope="${"a".repeat(300)}"`, { scope: null }],
])("a challenge is read from %s", (header, challenge) => {
  if (challenge === null) expect(readChallenge(header)).toBeNull();
  else expect(readChallenge(header)).toMatchObject(challenge);
});

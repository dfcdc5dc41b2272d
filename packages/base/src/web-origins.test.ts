import { expect, test } from "vitest";
import { isLoopbackHost, isLoopbackOrigin, originsAmong } from "./web-origins.ts";

test.each(["http://localhost", "https://LOCALHOST:3000", "http://127.0.0.1:8237", "http://[::1]:1"])(
  "%s is an origin of this machine",
  (origin) => expect(isLoopbackOrigin(origin)).toBe(true),
);

test.each([
  "null",
  "file://",
  "localhost",
  "http://localhost.evil.example",
  "http://127.0.0.1@evil.example",
  "http://127.0.0.2.example",
  "ftp://localhost",
  "http://localhost/",
])("%s is none", (origin) => expect(isLoopbackOrigin(origin)).toBe(false));

test("a port is no part of what makes a host local", () => {
  expect(["[::1]", "localhost:1", "127.0.0.1:65535"].every(isLoopbackHost)).toBe(true);
  expect(["::1", "localhost:", "localhost:123456", ""].some(isLoopbackHost)).toBe(false);
});

test("a list of origins is exact, but for case and a slash at the end", () => {
  const isListed = originsAmong(["https://App.example/", "http://localhost:3000"]);
  expect(["https://app.example", "HTTPS://APP.EXAMPLE", "http://localhost:3000"].every(isListed)).toBe(true);
  expect(["http://app.example", "https://app.example.evil", "https://app.example:444", "null"].some(isListed)).toBe(
    false,
  );
});

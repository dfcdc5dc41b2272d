import { expect, test } from "vitest";
import { parseDataUrl } from "./data-url.ts";

test.each([
  ["data:image/png;base64,AAAA", { mimeType: "image/png", charset: null, base64: "AAAA" }],
  ["DATA:Image/PNG;BASE64,AAAA", { mimeType: "image/png", charset: null, base64: "AAAA" }],
  ["data:;base64,AAAA", { mimeType: "", charset: null, base64: "AAAA" }],
  ["data:text/plain;charset=koi8-r;x=1;base64,AA==", { mimeType: "text/plain", charset: "koi8-r", base64: "AA==" }],
  ["data:text/plain,hello", null],
  ["data:image/png;base64", null],
  ["AAAA", null],
  ["https://example.com/a,b", null],
  [`data:${"a".repeat(2000)};base64,AAAA`, null],
])("%.60j is parsed as %j", (url, parsed) => expect(parseDataUrl(url)).toEqual(parsed));

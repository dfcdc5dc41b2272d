import { readFileSync } from "node:fs";
import type { Assets } from "../../transport/http/assets.ts";

const GENERATED = new URL("../../../generated/", import.meta.url);
/** Where the page says which interface it shows first. */
const FIRST_SHOWN = /data-interface="[^"]*"/;

/**
 * The published contract of an interface at `/openapi.json`, and the page that shows it to people at `/docs`. Neither
 * needs anything from elsewhere.
 */
export function docsAssets(contract: "local-stt" | "responses-api"): Assets {
  const page = readFileSync(new URL("docs/index.html", GENERATED), "utf8");
  return {
    "/docs": {
      contentType: "text/html; charset=utf-8",
      bytes: page.replace(FIRST_SHOWN, `data-interface="${contract}"`),
    },
    "/docs/redoc.standalone.js": {
      contentType: "text/javascript; charset=utf-8",
      file: new URL("docs/redoc.standalone.js", GENERATED),
    },
    "/openapi.json": { contentType: "application/json", file: new URL(`${contract}/openapi.json`, GENERATED) },
  };
}

import { readFileSync } from "node:fs";
import type { Assets } from "@antiphon/http-kit/http/assets.ts";
import { programVersion } from "../../version/program-version.ts";

const GENERATED = new URL("../../../generated/", import.meta.url);
/** The page's attribute for the interface to show first. */
const FIRST_SHOWN = /data-interface="[^"]*"/;

/**
 * An interface's contract at `/openapi.json`, and a page that shows it at `/docs`. Neither loads anything from other
 * servers.
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

/**
 * `/` of Interface A: redirects browsers to the inspector, and shows programs the API's path. All paths are relative.
 */
export function frontDoor(): Assets {
  const places = {
    object: "server",
    name: "antiphon",
    version: programVersion(),
    api: "/v1",
    reference: "/docs",
    openapi: "/openapi.json",
    inspector: "/inspector",
  };
  return {
    "/": {
      contentType: "application/json",
      headers: { vary: "accept" },
      bytes: `${JSON.stringify(places, null, 2)}\n`,
      browsersGoTo: "inspector",
    },
  };
}

import { existsSync, readFileSync } from "node:fs";
import type { Logger } from "../../base/logger.ts";
import type { Asset, Assets } from "../../transport/http/assets.ts";

/** The output folder of `make page`. */
const FOLDER = new URL("../../../dist/inspector/", import.meta.url);
const PAGE = "text/html; charset=utf-8";
const SCRIPT = "text/javascript; charset=utf-8";

const NOT_BUILT = `<!doctype html><html lang="en"><meta charset="utf-8"><title>The page is not built</title>
<h1>The page is not built</h1><p>Run <code>make page</code> in the folder of the server, and start it again. Everything else of this server works.</p></html>`;

/** The page loads nothing from elsewhere, speaks only to the server that sent it, and may not be framed. */
const HEADERS = {
  "content-security-policy": [
    "default-src 'none'",
    "script-src 'self'",
    "style-src 'self'",
    "img-src data:",
    "media-src blob:",
    "connect-src 'self'",
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
    "require-trusted-types-for 'script'",
    "trusted-types 'none'",
  ].join("; "),
  "cross-origin-opener-policy": "same-origin",
  "cross-origin-resource-policy": "same-origin",
  "permissions-policy": "microphone=(self), camera=(), geolocation=()",
  "referrer-policy": "no-referrer",
  "x-frame-options": "DENY",
};

/** The inspector, at `/inspector`. Its files are read once, from `folder`. */
export function inspectorPage(log: Logger, folder: URL = FOLDER): Assets {
  const index = new URL("index.html", folder);
  if (!existsSync(index)) {
    log.warn({}, "the inspector is not built; run make page, and start again");
    return { "/inspector": { status: 503, contentType: PAGE, headers: HEADERS, bytes: NOT_BUILT } };
  }
  const asset = (name: string, contentType: string): Asset => ({
    contentType,
    headers: HEADERS,
    file: new URL(name, folder),
  });
  return {
    "/inspector": { contentType: PAGE, headers: HEADERS, bytes: readFileSync(index, "utf8") },
    "/inspector/inspector.css": asset("inspector.css", "text/css; charset=utf-8"),
    "/inspector/inspector.js": asset("inspector.js", SCRIPT),
    "/inspector/microphone-worklet.js": asset("microphone-worklet.js", SCRIPT),
  };
}

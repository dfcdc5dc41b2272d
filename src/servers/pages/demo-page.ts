import { existsSync, readFileSync } from "node:fs";
import type { Logger } from "../../base/logger.ts";
import { ConfigError } from "../../config/config-error.ts";
import type { Config } from "../../config/load-config.ts";
import type { Asset, Assets } from "../../transport/http/assets.ts";

/** The output folder of `make page`. */
const FOLDER = new URL("../../../dist/chat-lab/", import.meta.url);
const PAGE = "text/html; charset=utf-8";
const SCRIPT = "text/javascript; charset=utf-8";
/** Placeholder in the page for the URL of this process's Responses API. */
const RESPONSES_API_MARK = "{{responses-api-url}}";
const USUAL_PORT = 8080;

const NOT_BUILT = `<!doctype html><html lang="en"><meta charset="utf-8"><title>The page is not built</title>
<h1>The page is not built</h1><p>Run <code>make page</code> in the folder of the server, and start it again. Everything else of this server works.</p></html>`;

type PageConfig = Pick<Config, "chatLabServers" | "port">;

/** The chat lab, at `/` and `/demo`. Its files are read once, from `folder`. */
export function demoPage(config: PageConfig, log: Logger, folder: URL = FOLDER): Assets {
  const index = new URL("index.html", folder);
  const headers = pageHeaders(config);
  if (!existsSync(index)) {
    log.warn({}, "the chat lab is not built; run make page, and start again");
    const missing: Asset = { status: 503, contentType: PAGE, headers, bytes: NOT_BUILT };
    return { "/": missing, "/demo": missing };
  }
  const html = readFileSync(index, "utf8").replaceAll(RESPONSES_API_MARK, responsesApiUrl(config));
  const page: Asset = { contentType: PAGE, headers, bytes: html };
  const asset = (name: string, contentType: string): Asset => ({ contentType, headers, file: new URL(name, folder) });
  return {
    "/": page,
    "/demo": page,
    "/demo/chat-lab.css": asset("chat-lab.css", "text/css; charset=utf-8"),
    "/demo/chat-lab.js": asset("chat-lab.js", SCRIPT),
    "/demo/microphone-worklet.js": asset("microphone-worklet.js", SCRIPT),
  };
}

/** The base URL of the Responses API of this process. */
export function responsesApiUrl({ port }: Pick<Config, "port">): string {
  return `http://127.0.0.1:${port === 0 ? USUAL_PORT : port}/v1`;
}

/**
 * The page may connect to this machine and to the listed servers, may load nothing from elsewhere, and may not be
 * framed.
 */
function pageHeaders({ chatLabServers }: PageConfig): Readonly<Record<string, string>> {
  const servers = ["'self'", "http://127.0.0.1:*", "http://localhost:*", ...chatLabServers.map(originOf)];
  const policy = [
    "default-src 'none'",
    "script-src 'self'",
    "style-src 'self'",
    "img-src data:",
    `connect-src ${servers.join(" ")}`,
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
    "require-trusted-types-for 'script'",
    "trusted-types 'none'",
  ];
  return {
    "content-security-policy": policy.join("; "),
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "permissions-policy": "microphone=(self), camera=(), geolocation=()",
    "referrer-policy": "no-referrer",
    "x-frame-options": "DENY",
  };
}

/** Reduces the entry to one origin, so that it cannot add further sources to the policy. */
function originOf(server: string): string {
  const origin = URL.canParse(server) ? new URL(server).origin : "";
  if (!/^https?:\/\/[\w.*:[\]-]+$/.test(origin))
    throw new ConfigError([`CHAT_LAB_SERVERS has '${server}', which is no http or https URL.`]);
  return origin;
}

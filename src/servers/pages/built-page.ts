import { existsSync, readFileSync } from "node:fs";
import type { Logger } from "@antiphon/base/logger.ts";
import type { Asset, Assets } from "@antiphon/http-kit/http/assets.ts";

const PAGE = "text/html; charset=utf-8";
const TYPES: Readonly<Record<string, string>> = {
  css: "text/css; charset=utf-8",
  js: "text/javascript; charset=utf-8",
  woff2: "font/woff2",
};

const NOT_BUILT = `<!doctype html><html lang="en"><meta charset="utf-8"><title>The page is not built</title>
<h1>The page is not built</h1><p>Run <code>make page</code> in the folder of the server, and start it again. Everything else of this server works.</p></html>`;

export interface BuiltPage {
  /** The name in messages: "the inspector". */
  readonly name: string;
  /** The output folder of `make page`, with `index.html` and these files. */
  readonly folder: URL;
  /** The paths of the page itself. */
  readonly paths: readonly string[];
  /** The path of its scripts and styles. */
  readonly filesPath: string;
  readonly files: readonly string[];
  /** Creates the page from the text of `index.html`. */
  readonly fill?: (html: string) => string;
  /** Directives of the content security policy in addition to those of all pages. */
  readonly policy: readonly string[];
}

/**
 * A page built by `make page`. Its files are read once; files missing in an older build are left out. If the page is
 * not built, visitors and the log get a message.
 */
export function builtPage({ name, folder, paths, filesPath, files, fill, policy }: BuiltPage, log: Logger): Assets {
  const headers = pageHeaders(policy);
  const index = new URL("index.html", folder);
  const at = (page: Asset): Assets => Object.fromEntries(paths.map((path) => [path, page]));
  if (!existsSync(index)) {
    log.warn({}, `${name} is not built; run make page and restart`);
    return at({ status: 503, contentType: PAGE, headers, bytes: NOT_BUILT });
  }
  const html = readFileSync(index, "utf8");
  return {
    ...at({ contentType: PAGE, headers, bytes: fill?.(html) ?? html }),
    ...Object.fromEntries(
      files
        .filter((file) => existsSync(new URL(file, folder)))
        .map((file) => {
          const contentType = TYPES[file.slice(file.lastIndexOf(".") + 1)] ?? "application/octet-stream";
          return [`${filesPath}/${file}`, { contentType, headers, file: new URL(file, folder) }];
        }),
    ),
  };
}

/** The page loads only from its own server and from sources in `policy`, and cannot be framed. */
function pageHeaders(policy: readonly string[]): Readonly<Record<string, string>> {
  const directives = [
    "default-src 'none'",
    "script-src 'self'",
    "style-src 'self'",
    "img-src data:",
    ...policy,
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
    "require-trusted-types-for 'script'",
    "trusted-types 'none'",
  ];
  return {
    "content-security-policy": directives.join("; "),
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "permissions-policy": "microphone=(self), camera=(), geolocation=()",
    "referrer-policy": "no-referrer",
    "x-frame-options": "DENY",
  };
}

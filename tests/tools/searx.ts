import { spawn } from "node:child_process";
import { existsSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { onTestFinished } from "vitest";
import { stringify } from "yaml";
import { freePort } from "../kit/http-server.ts";

/** Debian's package searx. */
const PROGRAM = "/usr/bin/searx-run";
const FILES = "/usr/share/python3-searx";
const START_MS_MAX = 30_000;
const LOOK_MS = 100;

export const hasSearx = existsSync(PROGRAM);

/**
 * Starts a SearXNG whose one engine asks this address, with `{query}` for the query, for JSON like
 * `{"results": [{"url", "title", "content"}]}`. Resolves to its base URL. It ends with the test.
 */
export async function startSearx(engineUrl: string): Promise<string> {
  const port = await freePort();
  const folder = mkdtempSync(join(tmpdir(), "antiphon-searx-"));
  const settings = join(folder, "settings.yml");
  writeFileSync(settings, stringify(settingsFor(port, engineUrl)));
  const child = spawn(PROGRAM, { env: { PATH: "/usr/bin:/bin", SEARX_SETTINGS_PATH: settings }, stdio: "ignore" });
  onTestFinished(() => {
    child.kill("SIGKILL");
    rmSync(folder, { recursive: true, force: true });
  });
  const url = `http://127.0.0.1:${port}`;
  for (const end = Date.now() + START_MS_MAX; Date.now() < end; await sleep(LOOK_MS)) {
    const config = await fetch(`${url}/config`).catch(() => null);
    if (config?.ok === true) return url;
  }
  throw new Error("searx did not start");
}

/** All settings, since it has no defaults. */
function settingsFor(port: number, engineUrl: string) {
  const engine = {
    name: "corpus",
    engine: "json_engine",
    search_url: engineUrl,
    results_query: "results",
    url_query: "url",
    title_query: "title",
    content_query: "content",
    categories: "general",
    shortcut: "co",
    enable_http: true,
    timeout: 5,
  };
  return {
    general: { debug: false, instance_name: "searx", contact_url: false, enable_stats: false },
    brand: Object.fromEntries(
      ["git_url", "git_branch", "issue_url", "docs_url", "public_instances", "wiki_url", "twitter_url"].map((name) => [
        name,
        "https://example.com",
      ]),
    ),
    search: {
      safe_search: 0,
      autocomplete: "",
      default_lang: "",
      ban_time_on_fail: 0,
      max_ban_time_on_fail: 0,
      prefer_configured_language: false,
    },
    server: {
      port,
      bind_address: "127.0.0.1",
      secret_key: "for tests",
      base_url: false,
      image_proxy: false,
      http_protocol_version: "1.0",
      method: "GET",
      default_http_headers: {},
    },
    ui: {
      autofocus: false,
      archive_today: false,
      static_path: join(FILES, "static"),
      templates_path: join(FILES, "templates"),
      default_theme: "oscar",
      default_locale: "",
      theme_args: { oscar_style: "logicodev" },
    },
    outgoing: { request_timeout: 5, useragent_suffix: "", pool_connections: 10, pool_maxsize: 10 },
    checker: { off_when_debug: true },
    engines: [engine],
    locales: { en: "English" },
    doi_resolvers: { "oadoi.org": "https://oadoi.org/" },
    default_doi_resolver: "oadoi.org",
  };
}

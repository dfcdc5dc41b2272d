import type { RequestListener } from "node:http";
import { afterAll } from "vitest";
import { serveHttp } from "../kit/http-server.ts";

/** Servers that hosted tools need beside MCP servers: a SearXNG with one page about herons, and an images server. */
export interface ToolServers {
  /** The settings of a server that uses them and may call this machine. */
  readonly env: Readonly<Record<string, string>>;
  /** The address of the page, which every search finds. */
  readonly page: string;
  /** The searches so far, oldest first. */
  readonly searched: readonly string[];
}

/** A PNG of one pixel: every picture that the images server draws. */
export const PIXEL = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";

/** Serves until all tests of the file are done, or until another moment. */
export async function startToolServers(atEnd: (close: () => void) => void = afterAll): Promise<ToolServers> {
  const searched: string[] = [];
  const answer: RequestListener = (request, response) => {
    const url = new URL(request.url ?? "/", "http://127.0.0.1");
    if (url.pathname === "/herons") {
      response.setHeader("content-type", "text/html").end(PAGE);
      return;
    }
    const json = (body: object) => response.setHeader("content-type", "application/json").end(JSON.stringify(body));
    if (url.pathname === "/search") {
      searched.push(url.searchParams.get("q") ?? "");
      json({ results: [{ url: `${server.url}/herons`, title: "All of herons", content: "Herons wait in water." }] });
    } else if (url.pathname === "/v1/images/generations") json({ created: 1, data: [{ b64_json: PIXEL }] });
    else json({ engines: [] });
  };
  const server = await serveHttp(answer, atEnd);
  return {
    env: {
      WEB_SEARCH_BASE_URL: server.url,
      WEB_SEARCH_PROVIDER: "searxng",
      IMAGE_BASE_URL: `${server.url}/v1`,
      EGRESS_ALLOW: "127.0.0.1",
    },
    page: `${server.url}/herons`,
    searched,
  };
}

const PAGE = `<title>Herons</title><article><p>${"Herons wait in shallow water. ".repeat(12)}</p></article>`;

/**
 * A model that uses each tool once. `herons` searches and cites, `herons in depth` opens a page between; `pay` calls
 * the tool of that name of the MCP server `shop`; `boat` draws; `list files` runs a command on the client's side;
 * `patch` changes a file there; `press the button` clicks; `invoice` looks for a deferred function and calls it;
 * `owls` searches files and cites the first; `tide` reasons.
 */
export function toolScenarios({ page }: ToolServers): string {
  return `
models: [gpt-5-mini]
scenarios:
  - when: { input_contains: herons, tool_outputs: 0 }
    events: [{ call: { name: web_search, arguments: { queries: [herons water] } } }]
  - when: { input_contains: herons in depth, tool_outputs: 1 }
    events: [{ call: { name: open_page, arguments: { url: "${page}" } } }]
  - when: { input_contains: herons }
    events: [{ text: They wait.【web:1】 }]
  - when: { input_contains: pay, has_tool_output: false }
    events: [{ call: { name: pay, namespace: shop, arguments: { amount: 3 } } }]
  - when: { input_contains: pay }
    events: [{ text: I asked the shop. }]
  - when: { input_contains: boat, has_tool_output: false }
    events: [{ call: { name: generate_image, arguments: { prompt: A red boat. } } }]
  - when: { input_contains: boat }
    events: [{ text: Here it is. }]
  - when: { input_contains: list files locally, has_tool_output: false }
    events: [{ call: { name: local_shell, arguments: { command: [ls, -a] } } }]
  - when: { input_contains: list files, has_tool_output: false }
    events: [{ call: { name: shell, arguments: { commands: [ls] } } }]
  - when: { input_contains: patch, has_tool_output: false }
    events:
      - call: { name: apply_patch, arguments: { operation: { type: create_file, path: a.txt, diff: +hello } } }
  - when: { input_contains: press the button, has_tool_output: false }
    events: [{ call: { name: computer, arguments: { actions: [{ type: click, x: 3, y: 4, button: left }] } } }]
  - when: { input_contains: invoice, tool_outputs: 0 }
    events: [{ call: { name: tool_search, arguments: { query: invoice } } }]
  - when: { input_contains: invoice, tool_outputs: 1 }
    events: [{ call: { name: create_invoice, namespace: create_invoice, arguments: {} } }]
  - when: { input_contains: owls, has_tool_output: false }
    events: [{ call: { name: file_search, arguments: { queries: [owl night] } } }]
  - when: { input_contains: owls }
    events: [{ text: { chunks: [At night., "【fi", "le:1】 Yes."] } }]
  - when: { input_contains: stock, has_tool_output: false }
    events:
      - call:
          name: program
          arguments:
            code: |
              const counts = await Promise.all(["a", "b"].map((sku) => tools.count_stock({ sku })));
              text({ total: counts[0].units + counts[1].units });
  - when: { input_contains: stock }
    events: [{ text: I counted. }]
  - when: { input_contains: tide }
    events: [{ reasoning: The moon. }, { text: It turns. }]
  - when: { has_tool_output: true }
    events: [{ text: Done on your side. }]
`;
}

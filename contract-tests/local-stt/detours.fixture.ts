import { once } from "node:events";
import { request } from "node:http";
import { text } from "node:stream/consumers";
import { formData } from "./forms.fixture.ts";
import type { Detour, RequestBody } from "./interaction.fixture.ts";

/** Replaces the client's body. */
export function sending(body: RequestBody): Detour {
  return (url, init) => {
    const headers = new Headers(init?.headers);
    if ("form" in body) headers.delete("content-type");
    if ("text" in body) headers.set("content-type", body.type);
    return fetch(url, { ...init, headers, body: bodyOf(body) });
  };
}

function bodyOf(body: RequestBody): string | FormData {
  if ("form" in body) return formData(body.form);
  if ("json" in body) return JSON.stringify(body.json);
  return "text" in body ? body.text : body.lines.map((line) => `${JSON.stringify(line)}\n`).join("");
}

/** Replaces the client's method and path. */
export function asking(method: string, path: string): Detour {
  return (url, init) => fetch(new URL(path, url), { ...init, method });
}

/** Sets the `Host` header, as a browser does for a page of that host. `fetch` does not let callers set it. */
export function naming(host: string): Detour {
  return async (url, init) => {
    const asked = new Request(url, init);
    const headers = { ...Object.fromEntries(asked.headers), host };
    const call = request(url, { method: asked.method, headers });
    call.end(Buffer.from(await asked.arrayBuffer()));
    const [reply] = await once(call, "response");
    return new Response(await text(reply), { status: reply.statusCode, headers: reply.headers });
  };
}

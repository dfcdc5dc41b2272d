import { readFileSync } from "node:fs";
import type { Exchange } from "../exchange/exchange.ts";
import { writeWhole } from "../stream/write-reply.ts";

/** A fixed page. A file is read once, when the server starts. */
export type Asset = {
  readonly contentType: string;
  /** 200 by default. */
  readonly status?: number;
  readonly headers?: Readonly<Record<string, string>>;
  /** Redirect target for browsers, which accept `text/html`. */
  readonly browsersGoTo?: string;
} & ({ readonly bytes: Uint8Array | string } | { readonly file: string | URL });

/** By path. */
export type Assets = Readonly<Record<string, Asset>>;

/** Serves fixed pages for GET and HEAD, without a key. Resolves to whether it replied. */
export function assetServer(assets: Assets): (exchange: Exchange) => Promise<boolean> {
  const pages = new Map(
    Object.entries(assets).map(([path, asset]) => [path, { ...asset, content: assetContent(asset) }]),
  );
  return async (exchange) => {
    const page = pages.get(exchange.path);
    if (page === undefined || !["GET", "HEAD"].includes(exchange.request.method ?? "")) return false;
    exchange.isPage = true;
    if (page.browsersGoTo !== undefined && wantsHtml(exchange)) {
      await writeWhole(exchange, 302, { location: page.browsersGoTo, vary: "accept" }, null);
      return true;
    }
    await writeWhole(
      exchange,
      page.status ?? 200,
      { "content-type": page.contentType, "cache-control": "no-cache", ...page.headers },
      page.content,
    );
    return true;
  };
}

/** Programs accept anything or JSON; only browsers name `text/html`. */
function wantsHtml({ request }: Exchange): boolean {
  return /\btext\/html\b/i.test(request.headers.accept ?? "");
}

function assetContent(asset: Asset): Uint8Array {
  if (!("bytes" in asset)) return readFileSync(asset.file);
  return typeof asset.bytes === "string" ? Buffer.from(asset.bytes) : asset.bytes;
}

import { isLoopbackOrigin, originsAmong } from "../../base/web-origins.ts";

/** Whether the page of an origin may call, by CORS_ORIGINS: origins, and the words `loopback`, `*` and `none`. */
export function webPages(listed: readonly string[]): (origin: string) => boolean {
  const isListed = originsAmong(listed);
  const everyone = listed.includes("*");
  const neighbours = listed.includes("loopback");
  return (origin) => everyone || (neighbours && isLoopbackOrigin(origin)) || isListed(origin);
}

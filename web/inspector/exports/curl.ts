import type { Members } from "../base/members.ts";

/** A command that sends the request. The key comes from the environment. */
export function curlCommand(request: Members, baseUrl: string): string {
  const body = JSON.stringify(request, null, 2).replaceAll("'", String.raw`'\''`);
  return [
    `curl ${baseUrl}/v1/responses \\`,
    `  -H "Authorization: Bearer $ANTIPHON_API_KEY" \\`,
    `  -H "Content-Type: application/json" \\`,
    `  -d '${body}'`,
    "",
  ].join("\n");
}

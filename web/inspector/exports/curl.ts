import type { Members } from "../base/members.ts";

/**
 * A command that sends the request. The key comes from the environment. The body may be too long for an argument, so it
 * is piped in.
 */
export function curlCommand(request: Members, baseUrl: string): string {
  return `curl -sS ${baseUrl}/v1/responses \\
  -H "Authorization: Bearer $ANTIPHON_API_KEY" \\
  -H "Content-Type: application/json" \\
  --data-binary @- <<'REQUEST'
${JSON.stringify(request, null, 2)}
REQUEST
`;
}

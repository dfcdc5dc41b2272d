import type { Members } from "../base/members.ts";

/**
 * A command that sends the request, and shows a stream as it comes if that was asked for. The key comes from the
 * environment. The body may be too long for an argument, so it is piped in.
 */
export function curlCommand(request: Members, { baseUrl, isStreamed }: { baseUrl: string; isStreamed: boolean }) {
  const body = isStreamed ? { ...request, stream: true } : request;
  return `curl ${isStreamed ? "-sSN" : "-sS"} ${baseUrl}/v1/responses \\
  -H "Authorization: Bearer $ANTIPHON_API_KEY" \\
  -H "Content-Type: application/json" \\
  --data-binary @- <<'REQUEST'
${JSON.stringify(body, null, 2)}
REQUEST
`;
}

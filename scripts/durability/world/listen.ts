import { createServer, type RequestListener } from "node:http";

/** Serves on a free port and prints `listening PORT`, for the process that started this one. */
export function listen(answer: RequestListener): void {
  const server = createServer(answer);
  server.listen(0, "127.0.0.1", () => {
    const address = server.address();
    if (address !== null && typeof address === "object") console.log(`listening ${address.port}`);
  });
}

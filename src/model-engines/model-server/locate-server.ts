import { askServer, type ServerAddress } from "./ask-server.ts";
import { ApiPath } from "./connections/api-path.ts";
import type { OpenedServer } from "./engine-options.ts";

const MODELS_BYTES_MAX = 8 * 1024 * 1024;

/** The address of a server, and the search for its API path, which starts at once. */
export function locateServer(
  { baseUrl, dispatcher, secrets }: OpenedServer,
  headers: ServerAddress["headers"],
  onPathFound: ((apiPath: string) => void) | undefined,
): { readonly server: ServerAddress; readonly path: ApiPath } {
  const { origin, search } = baseUrl;
  const path = new ApiPath({
    basePath: baseUrl.pathname.replace(/\/+$/, ""),
    listModels: (apiPath, signal) =>
      askServer(server, { path: `${apiPath}/models`, replyBytesMax: MODELS_BYTES_MAX }, signal),
    onFound: onPathFound ?? (() => {}),
  });
  const server: ServerAddress = {
    dispatcher,
    origin,
    get apiPath() {
      return path.current;
    },
    get rootPath() {
      return path.current.replace(/\/v1$/, "");
    },
    search,
    headers,
    secrets,
  };
  void path.find();
  return { server, path };
}

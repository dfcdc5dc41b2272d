import { useSyncExternalStore } from "react";

/** What the page shows. It is kept in the query of its URL. */
export type Route =
  | { readonly page: "runs"; readonly query: URLSearchParams }
  | { readonly page: "run"; readonly id: string; readonly tab: string }
  | { readonly page: "compare"; readonly left: string; readonly right: string }
  | { readonly page: "usage"; readonly days: number; readonly by: string }
  | { readonly page: "keys" }
  | { readonly page: "batches" }
  | { readonly page: "webhooks"; readonly endpoint: string | null }
  | { readonly page: "playground"; readonly from: string | null; readonly item: string | null };

export function readRoute(search: string): Route {
  const query = new URLSearchParams(search);
  const run = query.get("run");
  if (run !== null) return { page: "run", id: run, tab: query.get("tab") ?? "overview" };
  if (query.has("left")) return { page: "compare", left: query.get("left") ?? "", right: query.get("right") ?? "" };
  if (query.get("page") === "keys") return KEYS_ROUTE;
  if (query.get("page") === "batches") return BATCHES_ROUTE;
  if (query.get("page") === "webhooks") return webhooksRoute(query.get("endpoint"));
  if (query.get("page") === "usage")
    return { page: "usage", days: query.get("days") === "30" ? 30 : 7, by: query.get("by") ?? "key" };
  if (query.get("page") === "playground")
    return { page: "playground", from: query.get("from"), item: query.get("item") };
  return { page: "runs", query };
}

/** The query of a route, with its question mark; the path alone for the list without filters. */
export function routeUrl(route: Route): string {
  const query = queryOf(route).toString();
  return query === "" ? location.pathname : `?${query}`;
}

function queryOf(route: Route): URLSearchParams {
  switch (route.page) {
    case "runs":
      return route.query;
    case "run":
      return new URLSearchParams({ run: route.id, ...(route.tab === "overview" ? {} : { tab: route.tab }) });
    case "compare":
      return new URLSearchParams({ left: route.left, right: route.right });
    case "usage":
      return new URLSearchParams({ page: "usage", days: String(route.days), by: route.by });
    case "keys":
      return new URLSearchParams({ page: "keys" });
    case "batches":
      return new URLSearchParams({ page: "batches" });
    case "webhooks":
      return new URLSearchParams({
        page: "webhooks",
        ...(route.endpoint === null ? {} : { endpoint: route.endpoint }),
      });
    case "playground":
      return new URLSearchParams({
        page: "playground",
        ...(route.from === null ? {} : { from: route.from }),
        ...(route.item === null ? {} : { item: route.item }),
      });
    default:
      return route;
  }
}

export function runRoute(id: string, tab = "overview"): Route {
  return { page: "run", id, tab };
}

/** The endpoints, with the deliveries of one of them. */
export function webhooksRoute(endpoint: string | null): Route {
  return { page: "webhooks", endpoint };
}

export const RUNS_ROUTE: Route = { page: "runs", query: new URLSearchParams() };
export const USAGE_ROUTE: Route = { page: "usage", days: 7, by: "key" };
export const KEYS_ROUTE: Route = { page: "keys" };
export const BATCHES_ROUTE: Route = { page: "batches" };
export const WEBHOOKS_ROUTE: Route = webhooksRoute(null);
export const PLAYGROUND_ROUTE: Route = { page: "playground", from: null, item: null };

const listeners = new Set<() => void>();

export function navigate(route: Route): void {
  history.pushState(null, "", routeUrl(route));
  tellListeners();
  window.scrollTo(0, 0);
}

/** Changes the URL without a new entry in the history, as for each letter of a filter. */
export function replaceRoute(route: Route): void {
  history.replaceState(null, "", routeUrl(route));
  tellListeners();
}

function tellListeners(): void {
  for (const listener of listeners) listener();
}

function listen(listener: () => void): () => void {
  listeners.add(listener);
  window.addEventListener("popstate", listener);
  return () => {
    listeners.delete(listener);
    window.removeEventListener("popstate", listener);
  };
}

/** The route of the URL, as it changes. */
export function useRoute(): Route {
  const search = useSyncExternalStore(listen, () => location.search);
  return readRoute(search);
}

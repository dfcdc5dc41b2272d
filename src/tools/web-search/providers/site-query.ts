const SITES_MAX = 5;

/** The query restricted to hosts in search engine syntax. Names at most the first five hosts. */
export function siteQuery(text: string, domains: readonly string[]): string {
  if (domains.length === 0) return text;
  const sites = domains.slice(0, SITES_MAX).map((domain) => `site:${domain}`);
  return sites.length === 1 ? `${text} ${sites[0]}` : `${text} (${sites.join(" OR ")})`;
}

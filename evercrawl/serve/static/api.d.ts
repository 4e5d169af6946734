/**
 * What may be asked at /api/v1, and told to it. Drawn from the description at /openapi.json by `make docs`.
 */
export interface Questions {
  /** The state of the crawl. */
  status: { at_least?: string };
  /** Pages that match a query, the best first. */
  search: { q: string; site?: string; language?: string; fresh?: number; fetched_within?: string; limit?: number; skip?: number; facets?: number; cursor?: string; at_least?: string };
  /** Completions of a query being typed. */
  suggest: { q?: string; limit?: number; at_least?: string };
  /** The most important pages. */
  pages: { limit?: number; cursor?: string; at_least?: string };
  /** The most important sites. */
  sites: { limit?: number; cursor?: string; at_least?: string };
  /** Visited pages that fall due next. */
  next: { limit?: number; site?: string; cursor?: string; at_least?: string };
  /** The last visits, the newest first: of the crawl, a site or a page. */
  visits: { limit?: number; site?: string; url?: string; cursor?: string; at_least?: string };
  /** Requests to a host, the newest first, as comma-separated values. */
  requests: { host: string; limit?: number; at_least?: string };
  /** The running crawl's own progress report. */
  progress: { at_least?: string };
  /** Hosts that must not be visited now, with reason and end. */
  waits: { at_least?: string };
  /** What changed, the most important first; the words of the first few with diff=1. */
  changes: { since?: string; site?: string; pattern?: string; limit?: number; all?: number; diff?: number; cursor?: string; at_least?: string };
  /** Everything that decides when a page is visited. */
  why: { url: string; at_least?: string };
  /** The worth of a visit over time, until it crosses the price. */
  rise: { url: string; at_least?: string };
  /** The versions of a page, the newest first. */
  versions: { url: string; limit?: number; cursor?: string; at_least?: string };
  /** The pages that link to a page. */
  inlinks: { url: string; limit?: number; cursor?: string; at_least?: string };
  /** All visits, the newest first: of a period, of a site, or of one page. */
  history: { since?: string; until?: string; site?: string; url?: string; limit?: number; cursor?: string; at_least?: string };
  /** The stored copy of a page; of an instant. */
  content: { url: string; at?: string; at_least?: string };
  /** The most important pages, for a picture. */
  map: { limit?: number; site?: string; at_least?: string };
  /** Visits, changes and errors by minute. */
  minutes: { since?: string; at_least?: string };
  /** The last orders and their results; POST gives one. */
  orders: { limit?: number; cursor?: string; at_least?: string };
  /** Predicted freshness by budget; 202 while it is computed. */
  plan: { site?: string; at_least?: string };
  /** The effect of successive visits on the cash of a small web. */
  lab: { graph?: "toy" | "scale-free" | "star" | "trap" | "drawn" | "site"; pages?: number; links?: string; url?: string; order?: "greedy" | "random" | "cycle" | "push"; steps?: number; every?: number; seed?: number; window?: "all" | "history" | "identity" | "variable" | "fixed" | "improved" | "interpolation" | "exponential" | "two"; size?: number; virtual?: "tax" | "link" | "none"; tax?: number; spends?: "visited" | "at-once"; at_least?: string };
  /** The state and the last visits, as they come. */
  events: { at_least?: string };
}

export interface Tellings {
  /** Give an order, with the token. */
  orders: { do: string; urls?: string[]; pattern?: string; lift?: boolean; factor?: number; lasts_s?: number; name?: string; values?: string[]; what?: string[]; wait_s?: number };
  /** Tell that an answer was seen for a second, by the ticket of the search. */
  retrievals: { ticket: string };
  /** Tell that a page of an answer was opened, by its ticket. */
  clicks: { ticket: string; retrieval?: string };
}

import type { KubeObject } from '@gitops-reverser/kernel-api';
import { isExpired, isKubeError } from './errors.js';
import type { CollectionPath } from './paths.js';
import type { KubeClient, KubeList, Selection } from './requests.js';

export interface PagerOptions extends Selection {
  /** Objects a page. Default 500 (30, 2.4 step 3). */
  readonly limit?: number;
}

export type PagerEvent =
  | { readonly kind: 'page'; readonly items: readonly KubeObject[] }
  /** The list starts again: every page before this is void. */
  | { readonly kind: 'restart'; readonly attempt: number }
  /** The only event after which the pages since the last restart are the whole list, at this version. */
  | { readonly kind: 'complete'; readonly resourceVersion: string };

const PAGE = 500;
const RESTARTS = 3;

/**
 * A list in pages (FC-WCH-5). A 410 on `continue`, or a page of another version, restarts it from page one, three times at most;
 * then one list without pages. The fresh token inside that 410 continues an inconsistent list and is never used.
 *
 * @throws KubeError for everything else; the list is then incomplete
 */
export async function* listPages(
  client: KubeClient,
  path: CollectionPath,
  options: PagerOptions,
  signal: AbortSignal,
): AsyncGenerator<PagerEvent, void, undefined> {
  const { limit: firstLimit = PAGE, ...selection } = options;
  let limit = firstLimit;
  for (let attempt = 0; ;) {
    const paged = attempt <= RESTARTS;
    let version: string | undefined;
    let token = '';
    for (;;) {
      let page: KubeList;
      try {
        page = await client.list(
          path,
          { ...selection, ...(paged ? { limit } : {}), ...(token === '' ? {} : { continue: token }) },
          signal,
        );
      } catch (thrown) {
        if (token !== '' && isExpired(thrown)) break;
        if (paged && limit > 1 && isKubeError(thrown) && thrown.reason === 'ResponseTooLarge') {
          // The same token goes on with a smaller page.
          limit = Math.max(1, Math.floor(limit / 4));
          continue;
        }
        throw thrown;
      }
      if (version !== undefined && page.resourceVersion !== version) break;
      version = page.resourceVersion;
      yield { kind: 'page', items: page.items };
      if (page.continue === '') {
        yield { kind: 'complete', resourceVersion: version };
        return;
      }
      token = page.continue;
    }
    attempt += 1;
    yield { kind: 'restart', attempt };
  }
}

/** The whole list at one version, held in memory: for our own kinds, not for what a target mirrors. */
export async function listAll(
  client: KubeClient,
  path: CollectionPath,
  options: PagerOptions,
  signal: AbortSignal,
): Promise<{ readonly items: readonly KubeObject[]; readonly resourceVersion: string }> {
  let items: KubeObject[] = [];
  for await (const event of listPages(client, path, options, signal)) {
    switch (event.kind) {
      case 'page':
        items.push(...event.items);
        break;
      case 'restart':
        items = [];
        break;
      case 'complete':
        return { items, resourceVersion: event.resourceVersion };
    }
  }
  throw new Error('a list ended without its last page');
}

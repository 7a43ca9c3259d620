import type { Layout, Plugin, TargetSettings, Writer } from '@gitops-reverser/kernel-api';

import { loadBundled } from './child.js';

export interface PlainFolder {
  readonly layout: Layout;
  readonly writer: Writer;
}

/** Layout and writer of one target, made from the plugin as the kernel makes them. */
export async function openPlainFolder(): Promise<PlainFolder> {
  const { plugin } = await loadBundled<{ readonly plugin: Plugin }>('plugin-plain');
  const settings: Pick<TargetSettings, 'placement'> = { placement: { byType: {}, useKustomize: true } };
  const made = new Map(
    plugin.contributions().map((contribution) => {
      const { signal } = new AbortController();
      return [contribution.point, contribution.create({ options: {}, needs: { settings }, signal })];
    }),
  );
  return { layout: made.get('layout') as Layout, writer: made.get('writer') as Writer };
}

import type { BuiltInPlugin } from '@gitops-reverser/kernel-core';
import { plugin as argocd } from '@gitops-reverser/plugin-argocd';
import { plugin as flux } from '@gitops-reverser/plugin-flux';
import { plugin as kcp } from '@gitops-reverser/plugin-kcp';
import { plugin as kubernetes } from '@gitops-reverser/plugin-kubernetes';
import { plugin as plain } from '@gitops-reverser/plugin-plain';
import type { Configuration, PluginEntry } from './config/configuration.js';
import { VERSION } from './version.js';

const PREFIX = '@gitops-reverser/plugin-';

/** Plugins that are part of this program, in the order of the default set. */
export const BUILT_IN: Readonly<Record<string, BuiltInPlugin>> = {
  [`${PREFIX}kubernetes`]: {
    plugin: kubernetes,
    version: VERSION,
    manifest: { id: 'kubernetes', kernelApi: '^1.0', points: ['source', 'sanitizer'] },
  },
  [`${PREFIX}kcp`]: {
    plugin: kcp,
    version: VERSION,
    manifest: { id: 'kcp', kernelApi: '^1.0', points: ['sanitizer'] },
  },
  [`${PREFIX}plain`]: {
    plugin: plain,
    version: VERSION,
    manifest: { id: 'plain', kernelApi: '^1.0', points: ['layout', 'writer'] },
  },
  [`${PREFIX}flux`]: {
    plugin: flux,
    version: VERSION,
    manifest: { id: 'flux', kernelApi: '^1.0', points: ['sanitizer'] },
  },
  [`${PREFIX}argocd`]: {
    plugin: argocd,
    version: VERSION,
    manifest: { id: 'argocd', kernelApi: '^1.0', points: ['sanitizer'] },
  },
};

/** Writes out `default`, and hands settings that are plugin options to the plugin they belong to. */
export function pluginEntries({ plugins, settings }: Configuration): readonly (Omit<PluginEntry, 'options'> & {
  readonly options?: Readonly<Record<string, unknown>>;
})[] {
  const { allowedResources, deniedResources, defaultObjectExclusions } = settings;
  const defaults: Readonly<Record<string, Readonly<Record<string, unknown>>>> = {
    [`${PREFIX}kubernetes`]: { allowedResources, deniedResources, defaultObjectExclusions },
  };
  return plugins.flatMap(({ use, options, whenBroken }) => {
    if (use === 'default') return Object.keys(BUILT_IN).map((name) => entry(name, defaults[name], 'stop'));
    return [
      entry(use, { ...defaults[use], ...(options as Readonly<Record<string, unknown>> | undefined) }, whenBroken),
    ];
  });
}

function entry(
  use: string,
  options: Readonly<Record<string, unknown>> | undefined,
  whenBroken: PluginEntry['whenBroken'],
) {
  return { use, whenBroken, ...(options === undefined || Object.keys(options).length === 0 ? {} : { options }) };
}

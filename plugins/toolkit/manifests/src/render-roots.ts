import type { ObjectRef } from '@gitops-reverser/kernel-api';
import type { PlacementSite } from './placement.js';

/** A kustomization of the folder that no other one reaches, supported and writable. Paths are relative to the folder. */
export interface RenderRoot {
  /** `.` for the folder itself. */
  readonly directory: string;
  /** What it makes of namespaces: every namespaced object gets this one. */
  readonly namespace?: string;
  /** Namespaces its namespaced objects end up in. */
  readonly renderedNamespaces: ReadonlySet<string>;
  /** Kustomization files it reaches within the folder, its own included, by their directory. */
  readonly kustomizations: ReadonlyMap<string, string>;
}

/** The same folder with what Kustomize builds in it: there nobody goes by siblings (chapter 20, 7.5). */
export function withRenderRoots(site: PlacementSite, renderRoots: readonly RenderRoot[]): PlacementSite {
  return {
    paths: site.paths,
    existing: (path) => site.existing(path),
    ignores: (path) => site.ignores(path),
    renderRoots,
  };
}

/** Where a root takes a document: beside its kustomization, or in a directory of its namespace where another one has the root. */
export function directoryInRoot(root: RenderRoot, { namespace }: ObjectRef): string {
  const [only, second] = root.renderedNamespaces;
  const isOthers = namespace !== undefined && only !== undefined && second === undefined && only !== namespace;
  const own = root.directory === '.' ? [] : [root.directory];
  return [...own, ...(isOthers && root.directory !== '.' ? [namespace] : [])].join('/');
}

/** The kustomization that has to list a new file, and the root that builds it then. */
export interface Governing {
  readonly kustomization: string;
  readonly root: RenderRoot;
}

/** Nearest at or above the directory of the path. Undefined: no root builds what lies there. */
export function governing(roots: readonly RenderRoot[], path: string): Governing | undefined {
  for (let directory = parentOf(path); ; directory = parentOf(directory)) {
    for (const root of roots) {
      const kustomization = root.kustomizations.get(directory);
      if (kustomization !== undefined) return { kustomization, root };
    }
    if (directory === '.') return undefined;
  }
}

function parentOf(path: string): string {
  const slash = path.lastIndexOf('/');
  return slash === -1 ? '.' : path.slice(0, slash);
}

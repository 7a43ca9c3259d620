import { isKustomizationPath } from '../folder-roles.js';
import type { RenderRoot } from '../render-roots.js';
import type { KustomizeBuild } from './build.js';
import { directoryOf, isWithin } from './tree.js';

/** The roots of a folder that a new document may join: nothing stands against what they build. @param folder as its builds were read */
export function toRenderRoots(builds: readonly KustomizeBuild[], folder: string): readonly RenderRoot[] {
  const relative = (path: string): string => (folder === '.' ? path : path.slice(folder.length + 1));
  return builds
    .filter(({ features, root }) => features.length === 0 && isWithin(root.path, folder))
    .map(({ root, files, objects }) => {
      const kustomizations = [...files]
        .filter((path) => isKustomizationPath(path) && isWithin(path, folder))
        .map(relative);
      const namespaces = objects.flatMap(({ identity: { namespace } }) => namespace ?? []);
      return {
        directory: directoryOf(relative(root.path)),
        ...(root.namespace === undefined ? {} : { namespace: root.namespace }),
        renderedNamespaces: new Set(namespaces),
        kustomizations: new Map(kustomizations.map((path) => [directoryOf(path), path])),
      };
    });
}

import { memoryFolder, type FileContents } from '@gitops-reverser/kernel-testing';
import {
  FolderCache,
  KustomizeTree,
  readFolder,
  readKustomizeFolder,
  toRenderRoots,
  withRenderRoots,
  type PlacementSite,
} from './index.js';

/** The folder as placement sees it, with the roots that Kustomize has in it. */
export function siteOf(files: FileContents): PlacementSite {
  const cache = new FolderCache();
  const view = memoryFolder(files);
  const contents = readFolder(view, cache);
  if (contents.kustomizations.length === 0) return contents;
  const tree = new KustomizeTree(view, (file) => cache.file(file));
  return withRenderRoots(contents, toRenderRoots(readKustomizeFolder(tree, '.', contents).builds, '.'));
}

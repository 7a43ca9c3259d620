import {
  isReverserError,
  type FolderShape,
  type FolderView,
  type Layout,
  type Placed,
  type Refusal,
} from '@gitops-reverser/kernel-api';

export type FolderVerdict = (
  | { readonly kind: 'accepted'; readonly layout: Layout }
  | { readonly kind: 'refused'; readonly refusals: readonly Refusal[] }
) & {
  /** As the one layout says that knows the folder, whether it accepts it or not. */
  readonly shape?: FolderShape;
};

/** One `mine` wins; two, or any refusal, refuse the whole folder. */
export function judgeFolder(layouts: readonly Placed<'layout'>[], folder: FolderView): FolderVerdict {
  const mine: Placed<'layout'>[] = [];
  const refusals: Refusal[] = [];
  const whys: string[] = [];
  const shapes: (FolderShape | undefined)[] = [];
  for (const layout of layouts) {
    const recognition = layout.instance.recognise(folder);
    if (recognition.kind === 'not-mine') {
      if (recognition.why !== undefined) whys.push(recognition.why);
      continue;
    }
    shapes.push(recognition.shape);
    if (recognition.kind === 'mine') mine.push(layout);
    else refusals.push(...recognition.refusals);
  }
  const [shape] = shapes;
  const shaped = shapes.length === 1 && shape !== undefined ? { shape } : {};
  if (refusals.length > 0) return { kind: 'refused', refusals, ...shaped };
  const [only, second] = mine;
  if (only !== undefined && second === undefined) return { kind: 'accepted', layout: only.instance, ...shaped };
  return { kind: 'refused', refusals: [only === undefined ? nobodys(layouts, folder, whys) : contested(mine, folder)] };
}

/** A folder that cannot be read until Git changes is refused like any other; `undefined`: a fault that time may cure. */
export function refusedBy(error: unknown): FolderVerdict | undefined {
  if (!isReverserError(error) || error.retry !== 'when-changed') return undefined;
  const { message, details } = error;
  const { path } = details;
  return {
    kind: 'refused',
    refusals: [{ code: 'UnsupportedContent', message, ...(typeof path === 'string' ? { path } : {}) }],
  };
}

const names = (layouts: readonly Placed<'layout'>[]): string => layouts.map(({ plugin }) => plugin).join(', ');
const shown = (folder: FolderView): string => (folder.path === '.' ? 'the repository root' : `folder ${folder.path}`);

const nobodys = (layouts: readonly Placed<'layout'>[], folder: FolderView, whys: readonly string[]): Refusal => ({
  code: 'UnsupportedContent',
  message:
    layouts.length === 0
      ? `${shown(folder)}: expected a layout plugin, found none; load one, such as plain`
      : `${shown(folder)}: expected content that one of the layouts (${names(layouts)}) recognises, found ${whys.length === 0 ? 'none' : whys.join(' and ')}; clean the folder, choose another, or load the plugin that knows it`,
});
const contested = (mine: readonly Placed<'layout'>[], folder: FolderView): Refusal => ({
  code: 'ambiguous-layout',
  message: `${shown(folder)}: expected one layout to recognise it, found ${mine.length} (${names(mine)}); separate the contents or unload one of them`,
});

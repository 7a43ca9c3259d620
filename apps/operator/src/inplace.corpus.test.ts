import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import {
  echoOf,
  provide,
  targetSettings,
  type DesiredChange,
  type JsonObject,
  type KubeObject,
  type Layout,
  type TargetSettings,
  type Writer,
} from '@gitops-reverser/kernel-api';
import { deepFreeze, describeCorpus, memoryFolder, typeOf } from '@gitops-reverser/kernel-testing';
import {
  editDocument,
  hasOtherContent,
  openText,
  parseDocuments,
  removeDocument,
  type EditOptions,
  type SplitText,
} from '@gitops-reverser/toolkit-yaml';
import { parseFirst } from './corpus.fixture.js';
import { none, openChain, type Chain } from './default-chain.fixture.js';

interface Decision {
  readonly op: string;
  readonly file: string;
  readonly index?: number;
}
type Files = Readonly<Record<string, string>>;

/** Every file below a folder; none where there is no folder. */
function filesIn(folder: string): Files {
  if (!existsSync(folder)) return {};
  const paths = readdirSync(folder, { recursive: true, withFileTypes: true }).flatMap((dirent) =>
    dirent.isFile() ? [join(dirent.parentPath, dirent.name)] : [],
  );
  return Object.fromEntries(paths.sort().map((path) => [path.slice(folder.length + 1), readFileSync(path, 'utf8')]));
}

function open(text: string): SplitText {
  const split = openText(text);
  if (!split.ok) throw new Error(split.error.message);
  return split.value;
}

/** What happened to the one document a decision names, and what the folder holds then. */
interface Outcome {
  readonly verdict: string;
  readonly reason?: string;
  readonly files: Files;
}

function edited(files: Files, { file, index = 0 }: Decision, object: KubeObject): Outcome {
  const { finalizers, listKeys } = echoOf(object) ?? {};
  const options: EditOptions = {
    ...(finalizers === undefined ? {} : { liveFinalizers: finalizers }),
    ...(listKeys === undefined ? {} : { listKeys }),
  };
  const before = files[file] ?? '';
  const answer = editDocument(open(before), index, object, options);
  if (!answer.ok) return { verdict: 'skip', reason: answer.error.code, files };
  const { outcome, text } = answer.value;
  return { verdict: outcome === 'unchanged' ? 'no-change' : 'patch', files: { ...files, [file]: text } };
}

function removed(files: Files, { file, index = 0 }: Decision): Outcome {
  const split = open(files[file] ?? '');
  const { [file]: _, ...others } = files;
  return hasOtherContent(split, index)
    ? { verdict: 'delete-document', files: { ...files, [file]: removeDocument(split, index) } }
    : { verdict: 'delete-file', files: others };
}

/** The same by the layout and the writer of the operator, which find the document by what it is. */
async function written(layout: Layout, writer: Writer, before: Files, change: DesiredChange): Promise<Files> {
  const files = new Map(Object.entries(before));
  for (const answer of layout.plan([change], memoryFolder(before)))
    for (const step of answer.ok ? answer.value : []) {
      const old = files.get(step.path);
      const bytes = old === undefined ? undefined : Buffer.from(old);
      const rendered = await writer.render(step, bytes, new AbortController().signal);
      if (!rendered.ok) continue;
      if (rendered.value === 'delete-file') files.delete(step.path);
      else files.set(step.path, Buffer.from(rendered.value).toString());
    }
  return Object.fromEntries(files);
}

function changeTo(object: KubeObject, op: string): DesiredChange {
  const { group, version, resource, kind } = typeOf(object);
  const { name, namespace } = object.metadata;
  const ref = { group, version, resource, kind, name, ...(namespace === undefined ? {} : { namespace }) };
  return op === 'delete' ? { kind: 'delete', ref } : { kind: 'upsert', ref, object, sensitive: false };
}

const settings: TargetSettings = {
  path: '.',
  window: { idleMs: 1, maxMs: 1 },
  messages: {},
  placement: { byType: {}, useKustomize: false },
  prune: 'OnEvent',
  suspend: false,
  generated: none,
};

let chain: Chain;
let layout: Layout;
let writer: Writer;
beforeAll(async () => {
  chain = await openChain();
  const target = await chain.kernel.scopes.open({
    scope: 'target',
    id: 'corpus/target',
    given: [provide(targetSettings, settings)],
    leases: [],
  });
  const [plainLayout, plainWriter] = [target.instances('layout')[0], target.instances('writer').at(-1)];
  if (plainLayout === undefined || plainWriter === undefined)
    throw new Error('the default set has no layout or writer');
  layout = plainLayout.instance;
  writer = plainWriter.instance;
});
afterAll(() => chain[Symbol.asyncDispose]());

describeCorpus<{ readonly case?: string; readonly live?: string }>(
  { suite: 'inplace', parse: parseFirst, fields: ['input', 'case', 'live'] },
  (each, { at, read }) => {
    const { path, verdict, reason } = each;
    const before = filesIn(at(each, 'before'));
    const after = filesIn(at(each, 'after'));
    const decision = read(at(each, each.case ?? 'case.yaml')) as unknown as Decision;
    const { op, file, index = 0 } = decision;
    const desired = (): KubeObject => {
      const sanitized = chain.sanitize(deepFreeze(read(at(each, each.live ?? 'live.yaml')) as KubeObject));
      if (sanitized.kind === 'drop') throw new Error(`the sanitizer drops it: ${sanitized.reason}`);
      return sanitized.object;
    };
    const inGit = (): JsonObject | undefined => {
      const documents = parseDocuments(before[file] ?? '');
      const document = documents.ok ? documents.value[index] : undefined;
      return document?.state === 'read' ? (document.value as JsonObject) : undefined;
    };

    it(`${path}: ${verdict ?? 'unsure'}`, () => {
      if (op !== 'upsert' && op !== 'delete') throw new Error(`op: ${op} is none this runner knows`);
      const outcome = op === 'delete' ? removed(before, decision) : edited(before, decision, desired());

      expect(outcome).toEqual({
        verdict: verdict ?? outcome.verdict,
        ...(verdict === 'skip' ? { reason } : {}),
        files: verdict === 'skip' && Object.keys(after).length === 0 ? before : after,
      });
      if (op === 'upsert' && outcome.verdict !== 'skip')
        expect(edited(outcome.files, decision, desired())).toEqual({ verdict: 'no-change', files: outcome.files });
    });

    it(`${path}: an upsert of the unedited object keeps all bytes`, () => {
      const object = inGit();
      const sanitized = object === undefined ? undefined : chain.sanitize(deepFreeze(object as KubeObject));

      // What the sanitizer takes out of it is a difference.
      const isClean = sanitized?.kind === 'keep' && isDeepStrictEqual({ ...sanitized.object }, { ...object });
      if (isClean) expect(edited(before, decision, sanitized.object)).toMatchObject({ verdict: 'no-change' });
    });

    it(`${path}: the layout and the writer leave the same files`, async () => {
      const object = op === 'delete' ? (inGit() as KubeObject | undefined) : desired();
      // What the gate refuses is never planned, and what is sensitive goes to a writer that encrypts.
      if (object === undefined || object.kind === 'Secret' || layout.recognise(memoryFolder(before)).kind !== 'mine')
        return;
      const change = changeTo(object, op);

      const once = await written(layout, writer, before, change);

      expect(once).toEqual(verdict === 'skip' ? before : after);
      expect(await written(layout, writer, once, change)).toEqual(once);
    });
  },
);

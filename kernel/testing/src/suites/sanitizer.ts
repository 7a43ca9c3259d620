import {
  parseOptions,
  type Bookkeeping,
  type GeneratedSelection,
  type KeyRule,
  type KubeObject,
  type Plugin,
  type ResourceType,
  type Sanitized,
} from '@gitops-reverser/kernel-api';
import {
  aConfigMap,
  aDeployment,
  aSecret,
  aService,
  aWidget,
  configMaps,
  deepFreeze,
  deployments,
  observed,
  secrets,
  services,
  widgets,
} from '../objects.js';
import { everyPoint } from './every-point.js';
import { contributionOf, ReasonBook, start, type SuiteFacts } from './instance.js';

export interface SanitizerSample {
  readonly object: KubeObject;
  readonly type: ResourceType;
  /** What the sample is about; part of the test's name. */
  readonly why: string;
  readonly expect?: Sanitized['kind'];
  /** Top-level fields this plugin is meant to change in this object. */
  readonly mayChange?: readonly string[];
  readonly selection?: GeneratedSelection;
}

export interface SanitizerSuite extends SuiteFacts {
  /** Beside the kit's own samples. */
  readonly samples?: readonly SanitizerSample[];
}

const NOTHING_SELECTED: GeneratedSelection = { include: [], exclude: [] };
/** Where intent lies; a sanitizer leaves it alone unless a sample says otherwise. */
const INTENT = [
  'apiVersion',
  'kind',
  'spec',
  'data',
  'binaryData',
  'stringData',
  'type',
  'immutable',
  'rules',
  'subsets',
  'webhooks',
] as const;

const KIT_SAMPLES: readonly SanitizerSample[] = [
  { object: observed(aConfigMap('app')), type: configMaps, why: 'a plain object' },
  { object: observed(aSecret('db')), type: secrets, why: 'a Secret' },
  { object: observed(aDeployment({ name: 'app', replicas: 3 })), type: deployments, why: 'a workload' },
  {
    object: observed({ ...aWidget('w'), status: { ready: true } }),
    type: widgets,
    why: 'a custom resource with a status',
  },
  {
    object: observed(
      aWidget({ name: 'deep', spec: { a: { b: [{ c: [1, null, '2', true, { d: {} }] }] }, empty: {}, none: null } }),
    ),
    type: widgets,
    why: 'every kind of value, nested',
  },
  { object: observed(aConfigMap({ name: 'big', data: {} })), type: configMaps, why: 'empty data' },
  { object: observed(aService('svc')), type: services, why: 'a Service', mayChange: ['spec'] },
];

/** The contract of a sanitizer. */
export function describeSanitizer(plugin: Plugin, suite: SanitizerSuite = {}): void {
  describe(`sanitizer of ${plugin.id}`, () => {
    everyPoint(plugin, 'sanitizer', suite, () => ({}));
    const reasons = new ReasonBook(plugin);
    const samples = [...KIT_SAMPLES, ...(suite.samples ?? [])].map((sample) => ({
      ...sample,
      object: deepFreeze(structuredClone(sample.object)),
    }));
    const sanitizing = async (
      act: (sanitize: (object: KubeObject, sample: SanitizerSample) => Sanitized) => void,
    ): Promise<void> => {
      const born = await start(plugin, 'sanitizer', suite);
      try {
        act((object, { type, selection = NOTHING_SELECTED }) =>
          born.instance.sanitize(object, deepFreeze({ ...type }), deepFreeze(structuredClone(selection))),
        );
      } finally {
        await born[Symbol.asyncDispose]();
      }
    };

    it.each(samples)('works on a deep-frozen object, at once: $why', async (sample) => {
      await sanitizing((sanitize) => {
        const sanitized = sanitize(sample.object, sample);

        expect(['keep', 'drop']).toContain(sanitized.kind);
        if (sanitized.kind === 'drop') reasons.check(sanitized.reason);
        if (sample.expect !== undefined) expect(sanitized.kind).toBe(sample.expect);
      });
    });

    it.each(samples)('gives equal answers to equal objects: $why', async (sample) => {
      await sanitizing((sanitize) => {
        const first = sanitize(sample.object, sample);

        expect(sanitize(deepFreeze(structuredClone(sample.object)), sample)).toEqual(first);
      });
    });

    it.each(samples)('changes nothing the second time: $why', async (sample) => {
      await sanitizing((sanitize) => {
        const once = sanitize(sample.object, sample);
        if (once.kind === 'drop') return;

        expect(sanitize(deepFreeze(structuredClone(once.object)), sample)).toEqual(once);
      });
    });

    it('strips what its bookkeeping strips, and nothing that it keeps', async () => {
      await sanitizing((sanitize) => {
        const { strips, keeps } = bookkeepingOf(plugin, suite);
        const isThere = (rule: KeyRule): boolean => {
          const object = deepFreeze(structuredClone(bearing(rule)));
          const sanitized = sanitize(object, { object, type: widgets, why: rule.value });
          return sanitized.kind === 'keep' && sanitized.object.metadata[rule.scope]?.[keyOf(rule)] !== undefined;
        };

        expect({ missed: strips.filter(isThere), lost: keeps.filter((rule) => !isThere(rule)) }).toEqual({
          missed: [],
          lost: [],
        });
      });
    });

    it.each(samples)('keeps the intent of what it keeps: $why', async (sample) => {
      await sanitizing((sanitize) => {
        const sanitized = sanitize(sample.object, sample);
        if (sanitized.kind === 'drop') return;

        const { name, namespace } = sanitized.object.metadata;
        expect({ name, namespace }).toEqual({
          name: sample.object.metadata.name,
          namespace: sample.object.metadata.namespace,
        });
        for (const field of INTENT) {
          if (sample.mayChange?.includes(field) !== true)
            expect([field, sanitized.object[field]]).toEqual([field, sample.object[field]]);
        }
      });
    });
  });
}

function bookkeepingOf(plugin: Plugin, suite: SanitizerSuite): Bookkeeping {
  const options = parseOptions(plugin.options, suite.options);
  const said = contributionOf(plugin, 'sanitizer', suite).bookkeeping?.(options.ok ? options.value : {});
  return said ?? { strips: [], keeps: [] };
}

/** A key the rule matches. */
const keyOf = ({ match, value }: KeyRule): string => (match === 'exact' ? value : `${value}of-the-kit`);
const bearing = (rule: KeyRule): KubeObject =>
  observed(aWidget({ name: 'w', [rule.scope]: { [keyOf(rule)]: 'x', 'kit.example.test/other': 'x' } }));

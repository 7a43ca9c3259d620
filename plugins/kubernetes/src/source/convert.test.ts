import { targetId, type Collection, type KubeObject } from '@gitops-reverser/kernel-api';
import { EventConverter, isOlder } from './convert.js';

const type = { group: '', version: 'v1', resource: 'configmaps', kind: 'ConfigMap', namespaced: true };
const collection: Collection = { target: targetId('a', 'b'), type, namespace: 'shop' };
const object = (uid: string, resourceVersion: string, more: Record<string, unknown> = {}): KubeObject =>
  ({
    apiVersion: 'v1',
    kind: 'ConfigMap',
    metadata: { name: 'a', namespace: 'shop', uid, resourceVersion, ...more },
  }) as KubeObject;
const frame = (kind: 'ADDED' | 'MODIFIED' | 'DELETED', body: KubeObject) =>
  ({ kind: 'event', type: kind, object: body, resourceVersion: body.metadata.resourceVersion ?? '' }) as const;
const going = { deletionTimestamp: '2026-01-01T00:00:00Z', finalizers: ['x/y'] };
const shown = (converter: EventConverter, ...frames: ReturnType<typeof frame>[]): string[] =>
  frames.map((each) => {
    const event = converter.convert(each);
    return event.kind === 'delete' ? `delete/${event.removal}` : event.kind;
  });

describe('FC-WCH-7, EV-1: deletion is intent', () => {
  it('says delete with the first event that carries a deletion timestamp, and once', () => {
    const converter = new EventConverter(collection);

    expect(
      shown(
        converter,
        frame('ADDED', object('u', '1')),
        frame('MODIFIED', object('u', '2', going)),
        frame('MODIFIED', object('u', '3', { ...going, finalizers: [] })),
        frame('DELETED', object('u', '4', going)),
      ),
    ).toEqual(['upsert', 'delete/deletion', 'progress', 'progress']);
  });

  it('EV-3: a new object of the same name after that is an upsert again', () => {
    const converter = new EventConverter(collection);

    expect(
      shown(
        converter,
        frame('MODIFIED', object('u1', '2', going)),
        frame('DELETED', object('u1', '3', going)),
        frame('ADDED', object('u2', '4')),
      ),
    ).toEqual(['delete/deletion', 'progress', 'upsert']);
  });

  it('says delete for an object that goes without finalizers', () => {
    expect(shown(new EventConverter(collection), frame('DELETED', object('u', '4')))).toEqual(['delete/deletion']);
  });

  it('says filtered when an object leaves a selector', () => {
    expect(
      shown(new EventConverter({ ...collection, labelSelector: 'a=b' }), frame('DELETED', object('u', '4'))),
    ).toEqual(['delete/filtered']);
  });
});

it('objects without a uid are told apart by their names', () => {
  const converter = new EventConverter(collection);
  const without = (name: string, more: Record<string, unknown>): KubeObject =>
    ({ ...object('', '2'), metadata: { name, namespace: 'shop', resourceVersion: '2', ...more } }) as KubeObject;

  expect(
    shown(
      converter,
      frame('MODIFIED', without('a', going)),
      frame('MODIFIED', without('b', going)),
      frame('DELETED', without('a', going)),
    ),
  ).toEqual(['delete/deletion', 'delete/deletion', 'progress']);
});

it('EV-1: what was going when a replay began is told when it is seen going on, once', () => {
  const converter = new EventConverter(collection);
  converter.convert(frame('MODIFIED', object('u', '2', going)));
  converter.beginReplay();

  expect(converter.member(object('u', '2', going))).toBeUndefined();
  expect(
    shown(converter, frame('MODIFIED', object('u', '3', going)), frame('DELETED', object('u', '4', going))),
  ).toEqual(['delete/deletion', 'progress']);
});

it.each([
  { version: '9', than: '10', older: true },
  { version: '10', than: '10', older: false },
  { version: '11', than: '10', older: false },
  { version: 'a9', than: '10', older: false },
  { version: '99999999999999999999', than: '100000000000000000000', older: true },
])('EV-8: $version is older than $than: $older; what is not decimal has no order', ({ version, than, older }) => {
  expect(isOlder(version, than)).toBe(older);
});

import { configMaps } from '@gitops-reverser/kernel-testing';
import { aCollection, alice, bob } from './rig.fixture.js';
import type { Authorship, Operation, WriteItem } from './item.js';
import { addToWindow, dueReason, isSameAuthor, openWindow, windowDueMs } from './window.js';

const at = (ms: number): Date => new Date(ms);
const by = (actor = alice): Authorship => ({ outcome: 'resolved', actor });
const unresolved: Authorship = { outcome: 'unresolved' };

function item(operation: Operation, name = 'one', author: Authorship = by(), arrivedMs = 0): WriteItem {
  const { kind, resource, group, version } = configMaps;
  const object =
    operation === 'DELETE' ? {} : { object: { apiVersion: 'v1', kind, metadata: { name, namespace: 'demo' } } };
  return {
    collection: aCollection(),
    collectionKey: 'c',
    sequence: 1,
    ref: { kind, resource, group, version, namespace: 'demo', name },
    refKey: `/configmaps/demo/${name}`,
    operation,
    ...object,
    bytes: 100,
    author,
    receivedAt: at(arrivedMs),
    uid: 'u',
    resourceVersion: '1',
    generation: 0,
  };
}
const timers = { idleMs: 5_000, maxMs: 60_000 };

describe('2.1: one window, one author, one net effect for each object', () => {
  it.each([
    { heard: ['CREATE', 'UPDATE'], net: 'CREATE', isBornHere: true },
    { heard: ['CREATE', 'DELETE'], net: 'DELETE', isBornHere: true },
    { heard: ['CREATE', 'DELETE', 'CREATE'], net: 'CREATE', isBornHere: true },
    { heard: ['UPDATE', 'DELETE'], net: 'DELETE', isBornHere: false },
    { heard: ['DELETE', 'CREATE'], net: 'UPDATE', isBornHere: false },
    { heard: ['UPDATE', 'UPDATE'], net: 'UPDATE', isBornHere: false },
    { heard: ['UPDATE', 'DELETE', 'CREATE'], net: 'UPDATE', isBornHere: false },
  ] as const)('$heard is $net', ({ heard, net, isBornHere }) => {
    const [first, ...rest] = heard;
    const window = openWindow(item(first), timers, 1, 0);

    for (const operation of rest) addToWindow(window, item(operation), 0);

    expect([...window.entries.values()]).toMatchObject([{ operation: net, isBornHere }]);
  });

  it('the last value wins at the first-seen position, and bytes count what is held', () => {
    const window = openWindow(item('UPDATE', 'one'), timers, 1, 0);
    addToWindow(window, item('UPDATE', 'two'), 0);

    addToWindow(window, { ...item('UPDATE', 'one'), resourceVersion: '9', bytes: 40 }, 0);

    expect([...window.entries.values()].map(({ ref, resourceVersion }) => [ref.name, resourceVersion])).toEqual([
      ['one', '9'],
      ['two', '1'],
    ]);
    expect(window.bytes).toBe(140);
  });

  it.each([
    [by(alice), by(alice), true],
    [by(alice), by({ username: 'alice' }), true],
    [by(alice), by(bob), false],
    [unresolved, unresolved, true],
    [unresolved, by(alice), false],
    [{ outcome: 'not_attempted' } as const, unresolved, false],
  ])('%j and %j share a window: %s', (one, two, isShared) => {
    expect(isSameAuthor(one, two)).toBe(isShared);
  });
});

describe('2.2: the first deadline reached closes', () => {
  it('every write restarts the idle timer and none restarts the maximum', () => {
    const window = openWindow(item('UPDATE'), timers, 1, 0);
    for (let now = 1_000; now <= 59_000; now += 1_000) addToWindow(window, item('UPDATE'), now);

    expect(windowDueMs(window)).toBe(60_000);
    expect([dueReason(window, 59_999), dueReason(window, 60_000)]).toEqual([undefined, 'max-duration']);
  });

  it('silence closes it', () => {
    const window = openWindow(item('UPDATE'), timers, 1, 0);

    expect([dueReason(window, 4_999), dueReason(window, 5_000)]).toEqual([undefined, 'idle-timeout']);
  });

  it.each([
    [{ idleMs: 0, maxMs: 60_000 }, 'idle-timeout'],
    [{ idleMs: 5_000, maxMs: 0 }, 'max-duration'],
  ])('2.3: %j closes in the step that opened it', (zero, reason) => {
    expect(dueReason(openWindow(item('UPDATE'), zero, 1, 7), 7)).toBe(reason);
  });
});

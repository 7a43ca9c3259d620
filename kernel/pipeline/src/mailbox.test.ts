import { targetId, type Collection, type TargetId } from '@gitops-reverser/kernel-api';
import { configMaps, secrets } from '@gitops-reverser/kernel-testing';
import { collectionKey } from '@gitops-reverser/kernel-api';
import type { Snapshot, SnapshotOutcome, WriteItem } from './item.js';
import { Mailbox, type Mail } from './mailbox.js';

const [one, two] = [targetId('demo', 'one'), targetId('demo', 'two')];

const write = (target: TargetId, sequence = 1): Mail => ({ kind: 'write', target, item: { sequence } as WriteItem });

function snapshot(
  target: TargetId,
  epoch: number,
  settled: SnapshotOutcome[] = [],
  where: Partial<Collection> = {},
): Mail {
  const collection: Collection = { target, type: configMaps, ...where };
  const facts = { collection, collectionKey: collectionKey(collection), epoch } as Snapshot;
  return { kind: 'snapshot', target, snapshot: facts, settle: (outcome) => settled.push(outcome) };
}

function drain(mailbox: Mailbox): readonly string[] {
  const taken: string[] = [];
  for (let mail = mailbox.takeMail(); mail !== undefined; mail = mailbox.takeMail())
    taken.push(mail.kind === 'write' ? `write ${mail.item.sequence}` : `snapshot ${mail.snapshot.epoch}`);
  return taken;
}

describe('1.6: admission', () => {
  it('one target gets half of the slots; its siblings are still admitted', () => {
    const mailbox = new Mailbox(10);

    const ofOne = Array.from({ length: 6 }, () => mailbox.offer(write(one)));
    const ofTwo = Array.from({ length: 6 }, () => mailbox.offer(write(two)));

    expect(ofOne).toEqual([true, true, true, true, true, false]);
    expect(ofTwo).toEqual([true, true, true, true, true, false]);
    expect(mailbox.depth).toBe(10);
  });

  it('orders are never refused, not even when it is closed', () => {
    const mailbox = new Mailbox(1);
    mailbox.close();

    mailbox.order(() => undefined);

    expect([mailbox.offer(write(one)), mailbox.takeOrder() !== undefined]).toEqual([false, true]);
  });

  it('what was accepted before it closed can still be taken, in order', () => {
    const mailbox = new Mailbox(5_000);
    for (let sequence = 1; sequence <= 2_500; sequence += 1) mailbox.offer(write(one, sequence));

    mailbox.close();

    expect(drain(mailbox)).toEqual(Array.from({ length: 2_500 }, (_, index) => `write ${index + 1}`));
    expect(mailbox.depth).toBe(0);
  });
});

describe('1.4: a newer snapshot of one scope', () => {
  it('takes the place of the queued one, which is superseded', () => {
    const settled: SnapshotOutcome[] = [];
    const mailbox = new Mailbox(10);
    mailbox.offer(snapshot(one, 1, settled));
    mailbox.offer(write(two, 7));

    mailbox.offer(snapshot(one, 2));

    expect(settled).toEqual(['superseded']);
    expect(drain(mailbox)).toEqual(['snapshot 2', 'write 7']);
  });

  it.each([
    { what: 'a write of its target', between: write(one, 7), expected: ['snapshot 1', 'write 7', 'snapshot 2'] },
    {
      what: 'a snapshot that overlaps it',
      between: snapshot(one, 9, [], { namespace: 'demo' }),
      expected: ['snapshot 1', 'snapshot 9', 'snapshot 2'],
    },
  ])('waits behind $what', ({ between, expected }) => {
    const mailbox = new Mailbox(10);
    mailbox.offer(snapshot(one, 1));
    mailbox.offer(between);

    mailbox.offer(snapshot(one, 2));

    expect(drain(mailbox)).toEqual(expected);
  });

  it('passes by a snapshot of another type', () => {
    const mailbox = new Mailbox(10);
    mailbox.offer(snapshot(one, 1));
    mailbox.offer(snapshot(one, 9, [], { type: secrets }));

    mailbox.offer(snapshot(one, 2));

    expect(drain(mailbox)).toEqual(['snapshot 2', 'snapshot 9']);
  });
});

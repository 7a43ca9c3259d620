import { decodeProtobuf } from './decoder.js';

const varint = (value: number): number[] => (value < 0x80 ? [value] : [(value & 0x7f) | 0x80, ...varint(value >>> 7)]);
const field = (number: number, bytes: Buffer | string): Buffer => {
  const content = Buffer.from(bytes);
  return Buffer.concat([Buffer.from([...varint((number << 3) | 2), ...varint(content.length)]), content]);
};
const int = (number: number, value: number): Buffer => Buffer.from([...varint(number << 3), ...varint(value)]);
const envelope = (apiVersion: string, kind: string, raw: Buffer): Buffer =>
  Buffer.concat([Buffer.from('k8s\0'), field(1, Buffer.concat([field(1, apiVersion), field(2, kind)])), field(2, raw)]);

describe('protobuf bodies', () => {
  it('reads maps, bytes and metadata', () => {
    const entry = Buffer.concat([field(1, 'key'), field(2, 'value')]);
    const raw = Buffer.concat([
      field(1, Buffer.concat([field(1, 'name'), field(11, Buffer.concat([field(1, 'a'), field(2, 'b')]))])),
      field(2, entry),
    ]);

    expect(decodeProtobuf(envelope('v1', 'Secret', raw))).toEqual({
      kind: 'Secret',
      apiVersion: 'v1',
      metadata: { name: 'name', labels: { a: 'b' } },
      data: { key: Buffer.from('value').toString('base64') },
    });
  });

  it('reads numbers, numbers or strings, times and inlined structs', () => {
    const port = Buffer.concat([int(3, 80), field(4, Buffer.concat([int(1, 1), field(3, 'http')]))]);
    const service = envelope('v1', 'Service', field(2, field(1, port)));
    const volume = Buffer.concat([field(1, 'v'), field(2, field(19, field(1, field(1, 'cm'))))]);
    const pod = envelope(
      'v1',
      'Pod',
      Buffer.concat([field(1, field(8, int(1, 1_767_225_600))), field(2, field(1, volume))]),
    );

    expect(decodeProtobuf(service)).toMatchObject({ spec: { ports: [{ port: 80, targetPort: 'http' }] } });
    expect(decodeProtobuf(pod)).toMatchObject({
      metadata: { creationTimestamp: '2026-01-01T00:00:00Z' },
      spec: { volumes: [{ name: 'v', configMap: { name: 'cm' } }] },
    });
  });

  it.each([
    {
      why: 'bytes without the prefix',
      bytes: Buffer.from('{}'),
      message: 'provided data does not appear to be a protobuf message',
    },
    {
      why: 'a kind without a table',
      bytes: envelope('x.y/v1', 'Odd', Buffer.alloc(0)),
      message: 'no kind "Odd" is registered for version "x.y/v1" in protobuf form: send JSON instead',
    },
    {
      why: 'a message cut short',
      bytes: envelope('v1', 'Pod', Buffer.from([0x0a, 0x50])),
      message: 'the message ends inside a field',
    },
    {
      why: 'a wire type nobody uses',
      bytes: envelope('v1', 'Pod', Buffer.from([0x0b])),
      message: 'is not used by Kubernetes',
    },
  ])('refuses $why', ({ bytes, message }) => {
    expect(() => decodeProtobuf(bytes)).toThrow(message);
  });
});

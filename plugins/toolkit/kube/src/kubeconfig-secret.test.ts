import { reasonOf, type KubeObject } from '@gitops-reverser/kernel-api';
import { readKubeconfigSecret } from './kubeconfig-secret.js';

const base64 = (text: string): string => Buffer.from(text).toString('base64');
const secret = (data: Readonly<Record<string, string>>): KubeObject =>
  ({ apiVersion: 'v1', kind: 'Secret', metadata: { name: 'prod', namespace: 'ops' }, data }) as unknown as KubeObject;
const ref = { namespace: 'ops', name: 'prod' };

it.each([
  { name: 'value first', data: { 'value.yaml': base64('b'), value: base64('a') }, text: 'a', key: 'value' },
  { name: 'else value.yaml', data: { 'value.yaml': base64('b') }, text: 'b', key: 'value.yaml' },
  { name: 'an empty value is no value', data: { value: '', 'value.yaml': base64('b') }, text: 'b', key: 'value.yaml' },
  {
    name: 'the named key alone',
    data: { value: base64('a'), other: base64('c') },
    named: 'other',
    text: 'c',
    key: 'other',
  },
])('10, 11.5: $name', ({ data, named, text, key }) => {
  const read = readKubeconfigSecret(
    secret(data),
    named === undefined ? ref : { ...ref, key: named },
    'KubeProvider "prod"',
  );

  expect(read).toEqual({ text, where: `KubeProvider "prod": Secret ops/prod key ${JSON.stringify(key)}` });
});

it.each([
  { name: 'no Secret', found: undefined, named: undefined, reason: 'KubeConfigSecretNotFound' },
  { name: 'no key', found: secret({ kubeconfig: base64('a') }), named: undefined, reason: 'KubeConfigKeyNotFound' },
  { name: 'not the named key', found: secret({ value: base64('a') }), named: 'other', reason: 'KubeConfigKeyNotFound' },
  { name: 'an empty Secret', found: secret({}), named: undefined, reason: 'KubeConfigKeyNotFound' },
])('$reason: $name', ({ found, named, reason }) => {
  const read = (): unknown =>
    readKubeconfigSecret(found, named === undefined ? ref : { ...ref, key: named }, 'KubeProvider "prod"');

  expect(read).toThrow(/^KubeProvider "prod": Secret ops\/prod /);
  expect(reasonOf(catching(read))).toBe(reason);
});

function catching(run: () => unknown): unknown {
  try {
    return run();
  } catch (thrown) {
    return thrown;
  }
}

import type { JsonObject, KubeObject } from '@gitops-reverser/kernel-api';
import { encodeYaml, parseDocuments, parseJson } from '@gitops-reverser/toolkit-yaml';
import { openChain } from './default-chain.fixture.js';

it('FC-SAN-10: a definition travels as raw JSON from the wire to the file, extension keys and large numbers included', async () => {
  await using chain = await openChain();
  const wire = `{"apiVersion":"apiextensions.k8s.io/v1","kind":"CustomResourceDefinition",
    "metadata":{"name":"gizmos.example.test","uid":"u","creationTimestamp":"2026-01-01T00:00:00Z","managedFields":[]},
    "spec":{"group":"example.test","scope":"Namespaced","names":{"plural":"gizmos","singular":"gizmo","kind":"Gizmo"},
    "versions":[{"name":"v1","served":true,"storage":true,"schema":{"openAPIV3Schema":{"type":"object","properties":{
    "spec":{"type":"object","x-kubernetes-preserve-unknown-fields":true,"x-kubernetes-map-type":"atomic","properties":{
    "port":{"x-kubernetes-int-or-string":true},
    "size":{"type":"integer","maximum":9223372036854775807,"default":12345678901234567890},
    "on":{"type":"string","enum":["on","off","1_000"],"nullable":true},
    "rules":{"type":"array","x-kubernetes-list-type":"map","x-kubernetes-list-map-keys":["name"],"items":{"type":"object",
    "x-kubernetes-validations":[{"rule":"self.a != ''","messageExpression":"'x'","x-of-the-future":{"a":[]}}]}}}}}}}}]},
    "status":{"acceptedNames":{}}}`;
  const live = parseJson(wire) as KubeObject;

  const sanitized = chain.sanitize(live);
  if (sanitized.kind === 'drop') throw new Error(sanitized.reason);
  const encoded = encodeYaml(sanitized.object);
  if (!encoded.ok) throw new Error(encoded.error.message);

  const lines = encoded.value.split('\n').map((line) => line.trim());
  expect(lines).toEqual(
    expect.arrayContaining([
      'x-kubernetes-preserve-unknown-fields: true',
      'x-kubernetes-map-type: atomic',
      'x-kubernetes-int-or-string: true',
      'maximum: 9223372036854775807',
      'default: 12345678901234567890',
      'x-kubernetes-list-type: map',
      'x-of-the-future:',
    ]),
  );
  const { status: _status, ...rest } = live;
  const [read] = readBack(encoded.value);
  expect(read).toEqual({ ...rest, metadata: { name: 'gizmos.example.test' } });
});

function readBack(text: string): readonly JsonObject[] {
  const documents = parseDocuments(new TextEncoder().encode(text));
  if (!documents.ok) throw new Error('what was written cannot be read');
  return documents.value.flatMap((each) => (each.state === 'read' ? [each.value as JsonObject] : []));
}

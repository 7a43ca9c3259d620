import type { JsonObject } from '@gitops-reverser/kernel-api';
import { encodeYaml, openText, parseDocuments, removeDocument, type SplitText } from '../index.js';
import { editDocument, type EditOptions } from './edit-document.js';

function open(text: string): SplitText {
  const split = openText(text);
  if (!split.ok) throw new Error(split.error.message);
  return split.value;
}

function read(text: string, index = 0): JsonObject {
  const documents = parseDocuments(text);
  const document = documents.ok ? documents.value[index] : undefined;
  if (document?.state !== 'read') throw new Error('does not parse');
  return structuredClone(document.value) as JsonObject;
}

// eslint-disable-next-line @typescript-eslint/no-explicit-any -- the shapes are those of the literals beside
type Change = (object: Record<string, any>) => void;

/** The file after `change` to what one document means; a second pass must change nothing. */
function edit(text: string, change: Change | JsonObject, index = 0, options: EditOptions = {}): string {
  const live = typeof change === 'function' ? read(text, index) : change;
  if (typeof change === 'function') change(live);
  const edited = editDocument(open(text), index, live, options);
  if (!edited.ok) throw new Error(`${edited.error.code}: ${edited.error.message}`);
  expect(edited.value.outcome).not.toBe('rewritten');
  expect(editDocument(open(edited.value.text), index, live, options)).toMatchObject({
    ok: true,
    value: { outcome: 'unchanged' },
  });
  return edited.value.text;
}

/** Lines that differ, as `-old` and `+new`. */
function diff(before: string, after: string): readonly string[] {
  const [a, b] = [before.split('\n'), after.split('\n')];
  let head = 0;
  while (head < a.length && head < b.length && a[head] === b[head]) head += 1;
  let tail = 0;
  while (tail < Math.min(a.length, b.length) - head && a.at(-1 - tail) === b.at(-1 - tail)) tail += 1;
  return [
    ...a.slice(head, a.length - tail).map((line) => `-${line}`),
    ...b.slice(head, b.length - tail).map((line) => `+${line}`),
  ];
}

const configMap = (rest: string): string =>
  `apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: a\n  namespace: shop\n${rest}`;

describe('field cases', () => {
  it('FC-YML-1: one value changes, one line changes', () => {
    const file = `# owner: blue team
apiVersion: apps/v1
kind: Deployment
metadata: {name: web, namespace: shop}


spec:              # tuned by hand
    replicas: 3    # keep odd
    template:
        spec:
            containers:
            - name: app
              args:
              - a
              - b            # bee


    note: 'single quoted'
# tail comment
`;

    const after = edit(file, (object) => (object['spec'].replicas = 4));
    expect(diff(file, after)).toEqual(['-    replicas: 3    # keep odd', '+    replicas: 4    # keep odd']);
  });

  it('FC-YML-2: closing comments stay while entries above them change, come and go', () => {
    const file = configMap(`data:
  ### BEGIN ###
  a: "1"
  b: "2"
  ### END ###

# end of file
`);

    const changed = edit(file, (object) => (object['data'].b = '3'));
    expect(diff(file, changed)).toEqual(['-  b: "2"', '+  b: "3"']);
    expect(
      diff(
        changed,
        edit(changed, (object) => (object['data'].c = '4')),
      ),
    ).toEqual(['+  c: "4"']);
    expect(
      diff(
        file,
        edit(file, (object) => delete object['data'].b),
      ),
    ).toEqual(['-  b: "2"']);
  });

  it('FC-YML-3: an octal keeps its spelling while its meaning stands, and is written in decimal when it changes', () => {
    const file = `apiVersion: apps/v1
kind: Deployment
metadata: {name: web}
spec:
  replicas: 2
  defaultMode: 0644
`;
    expect(
      diff(
        file,
        edit(file, (object) => (object['spec'].replicas = 3)),
      ),
    ).toEqual(['-  replicas: 2', '+  replicas: 3']);
    expect(edit(file, (object) => (object['spec'].defaultMode = 420))).toBe(file);
    expect(
      diff(
        file,
        edit(file, (object) => (object['spec'].defaultMode = 256)),
      ),
    ).toEqual(['-  defaultMode: 0644', '+  defaultMode: 256']);
  });

  it('FC-YML-4: strings that some reader would not see as strings are quoted when they come by an edit', () => {
    const tricky = [
      'yes',
      'on',
      'n',
      'NO',
      '0644',
      '1_000',
      '0b11',
      '12:30:45',
      '2026-01-01',
      '=',
      '<<',
      '~',
      'null',
      '',
    ].concat(['.inf', '0x1F', '1e3', '0o14', 'True', '1.', '+1', '- x', '# c', ': ', '@a', '`b']);
    const file = configMap('data:\n  value: plain\n');
    for (const text of tricky) {
      const after = edit(file, (object) => (object['data'].value = text));
      expect(after).toMatch(/\n {2}value: ["'].*["']\n$/);
    }
  });

  it('20, 4.2: a plain word that appliers take for a boolean is quoted when the object holds a string', () => {
    const file = configMap('data:\n  flag: yes # on purpose\n');

    expect(
      diff(
        file,
        edit(file, (object) => (object['data'].flag = 'yes')),
      ),
    ).toEqual(['-  flag: yes # on purpose', '+  flag: "yes" # on purpose']);
  });

  it('FC-YML-5: long lines stay whole', () => {
    const url = `https://example.test/${'x'.repeat(400)}`;
    const sql = 'select a from b where c '.repeat(20).trim();
    const file = configMap(`data:\n  url: ${url}\n  sql: ${sql}\n  k: a\n`);

    expect(
      diff(
        file,
        edit(file, (object) => (object['data'].k = 'b')),
      ),
    ).toEqual(['-  k: a', '+  k: b']);
    expect(edit(file, (object) => (object['data'].k = sql))).toContain(`  k: ${sql}\n`);
  });

  it('FC-YML-6: multi-line text comes back exact, whatever stood there before', () => {
    const texts = [
      'a\nb',
      'a\nb\n',
      'a\nb\n\n',
      '\n lead',
      '  lead\nx',
      'tab\tin\n\tx\n',
      'a  \nb\n',
      'a\r\nb\r\n',
    ].concat(['\u0085x', '\ufeffx', '🚀\nfleet\n', '---\nx\n', '...', 'a\n   \nb\n', '\n\n', 'x\n\n\n']);
    const olds = [
      'plain',
      '"double"',
      "'single'",
      '|\n    old\n    text',
      '|-\n    old',
      '|+\n    old\n',
      '>\n    folded\n    text',
      '',
      '|2\n      deep\n     less',
    ];
    for (const old of olds)
      for (const text of texts) {
        const file = configMap(`data:\n  before: 1a\n  t: ${old}\n\n  after: 2b\n`);
        const after = edit(file, (object) => (object['data'].t = text));
        expect((read(after)['data'] as JsonObject)['t']).toBe(text);
        expect(after).toContain('  before: 1a\n');
        expect(after).toMatch(/ {2}after: 2b\n$/);
      }
  });

  it('FC-YML-7: one document of many', () => {
    const file = `# file head
---
apiVersion: v1
kind: ConfigMap
metadata: {name: one, namespace: shop}
data: {k: "1"}
--- # second
apiVersion: v1
kind: ConfigMap
metadata:
  name: two
  namespace: shop
data:
  k: "1"
---
# only a comment
`;

    const edited = edit(file, (object) => (object['data'].k = '2'), 1);
    expect(diff(file, edited)).toEqual(['-  k: "1"', '+  k: "2"']);
    const less = removeDocument(open(edited), 0);
    expect(less).toBe(`# file head\n${edited.slice(edited.indexOf('--- # second'))}`);
    expect(removeDocument(open(less), 0)).toBe('# file head\n---\n# only a comment\n');
  });

  it('FC-YML-8: line ends and byte order mark', () => {
    const file =
      '\ufeffapiVersion: v1\r\nkind: ConfigMap\r\nmetadata:\r\n  name: w\r\n  namespace: shop\r\ndata:\r\n  k: a\r\n';

    expect(edit(file, (object) => (object['data'].k = 'b'))).toBe(file.replace('k: a', 'k: b'));
    expect(edit(file, (object) => (object['data'].m = 'b'))).toBe(`${file}  m: b\r\n`);
    expect(edit(file, (object) => (object['data'].k = 'x\ny\n'))).toBe(file.replace('k: a', 'k: |\r\n    x\r\n    y'));
    const mixed = file.replace('kind: ConfigMap\r\n', 'kind: ConfigMap\n');
    expect(edit(mixed, (object) => (object['data'].k = 'b'))).toBe(mixed.replace('k: a', 'k: b'));
  });

  it('FC-YML-9: anchors, aliases and merge keys are left alone', () => {
    const head = 'apiVersion: v1\nkind: ConfigMap\nmetadata: {name: anch, namespace: shop}\n';
    for (const body of ['data:\n  a: &v "1"\n  b: *v\n', 'x: &x {a: b}\ndata:\n  <<: *x\n', 'data: !mine {a: b}\n'])
      expect(editDocument(open(head + body), 0, read(configMap('data: {}\n')))).toMatchObject({
        ok: false,
        error: { code: 'non-editable' },
      });
  });

  it('FC-YML-10: a key twice in one map is never edited', () => {
    const file = configMap('data:\n  k: "1"\n  a: "1"\n  b: "1"\n  k: "2"\n');

    expect(editDocument(open(file), 0, read(configMap('data: {}\n')))).toMatchObject({
      ok: false,
      error: { code: 'non-editable' },
    });
  });

  it('FC-YML-11: new keys join quietly, removed ones take only their own lines', () => {
    const file = configMap('data:\n  zeta: z\n\n  # not alpha\n\n  # of alpha\n  alpha: a # same line\n  mid: m\n');
    const after = edit(file, (object) => {
      delete object['data'].alpha;
      object['data'].beta = 'b';
    });

    expect(after).toBe(configMap('data:\n  zeta: z\n\n  # not alpha\n\n  mid: m\n  beta: b\n'));
  });

  it('FC-SAN-11: a quantity in another spelling is no difference at its places, and is one elsewhere', () => {
    const file = (apiVersion: string): string => `apiVersion: ${apiVersion}
kind: Deployment
metadata: {name: web}
spec:
  template:
    spec:
      containers:
      - name: app
        resources:
          requests: {cpu: 1000m, memory: 1000M}
          limits: {cpu: 2}
`;
    const respell: Change = (object) => {
      const { resources } = object['spec'].template.spec.containers[0];
      resources.requests = { cpu: '1', memory: '1G' };
      resources.limits = { cpu: '2' };
    };

    expect(edit(file('apps/v1'), respell)).toBe(file('apps/v1'));
    expect(diff(file('example.test/v1'), edit(file('example.test/v1'), respell))).toEqual([
      '-          requests: {cpu: 1000m, memory: 1000M}',
      '-          limits: {cpu: 2}',
      '+          requests: {cpu: "1", memory: 1G}',
      '+          limits: {cpu: "2"}',
    ]);
    const other = edit(file('apps/v1'), (object) => {
      respell(object);
      object['spec'].template.spec.containers[0].resources.requests.memory = '1Gi';
    });
    expect(diff(file('apps/v1'), other)).toEqual([
      '-          requests: {cpu: 1000m, memory: 1000M}',
      '+          requests: {cpu: 1000m, memory: 1Gi}',
    ]);
  });
});

describe('20, 6', () => {
  it('6.8: the example, comments travelling with their items', () => {
    const before = `# owned by the cellar team
apiVersion: apps/v1
kind: Deployment
metadata: {name: press, namespace: orchard}
spec:
  paused: true   # until the harvest
  template:
    spec:
      containers:
      # the mesh
      - name: mesh
        image: mesh:1.0
      - name: press
        image: press:2.0   # bump me
`;
    const after = edit(before, (object) => {
      object['metadata'].labels = { team: 'cellar' };
      delete object['spec'].paused;
      object['spec'].template.spec.containers = [
        { name: 'press', image: 'press:2.1' },
        { name: 'mesh', image: 'mesh:1.0' },
      ];
    });

    expect(after).toBe(`# owned by the cellar team
apiVersion: apps/v1
kind: Deployment
metadata: {name: press, namespace: orchard, labels: {team: cellar}}
spec:
  template:
    spec:
      containers:
      - name: press
        image: press:2.1   # bump me
      # the mesh
      - name: mesh
        image: mesh:1.0
`);
  });

  it("3.6: finalizers are never added, and the author's stay while they are live", () => {
    const file = `apiVersion: argoproj.io/v1alpha1
kind: Application
metadata:
  name: shop
  finalizers: # cascade
    - resources-finalizer.argocd.argoproj.io
    - mine.example.test/f
spec:
  project: a
`;
    const live: JsonObject = {
      apiVersion: 'argoproj.io/v1alpha1',
      kind: 'Application',
      metadata: { name: 'shop' },
      spec: { project: 'b' },
    };

    expect(diff(file, edit(file, live))).toEqual(['-  project: a', '+  project: b']);
    expect(edit(file, live, 0, { liveFinalizers: ['resources-finalizer.argocd.argoproj.io', 'other.test/f'] })).toBe(
      file.replace('    - mine.example.test/f\n', '').replace('project: a', 'project: b'),
    );
    expect(edit(file, live, 0, { liveFinalizers: [] })).toBe(
      'apiVersion: argoproj.io/v1alpha1\nkind: Application\nmetadata:\n  name: shop\nspec:\n  project: b\n',
    );
  });

  it('6.7: null, and labels without any, are as good as absent', () => {
    const file = configMap('data:\n  a: b\n').replace(
      '  namespace: shop\n',
      '  namespace: shop\n  labels: {}\n  annotations: null\n',
    );

    expect(edit(file, read(configMap('data:\n  a: b\n')))).toBe(file);
    const live = read(configMap('data:\n  a: b\n'));
    expect(
      edit(configMap('data:\n  a: b\n'), { ...live, metadata: { ...(live['metadata'] as JsonObject), labels: {} } }),
    ).toBe(configMap('data:\n  a: b\n'));
  });

  it('6.3: an empty map stays only where the object holds it', () => {
    const file = configMap('data:\n  a: b\n');

    expect(edit(file, (object) => delete object['data'])).toBe(configMap(''));
    expect(edit(file, (object) => (object['data'] = {}))).toBe(configMap('data: {}\n'));
    expect(edit(configMap('data: {}\n'), (object) => (object['data'] = { a: 'b' }))).toBe(configMap('data:\n  a: b\n'));
  });

  it('6.2: a pretty-printed JSON document is edited as JSON', () => {
    const file = `{
  "apiVersion": "v1",
  "kind": "ConfigMap",
  "metadata": {"name": "a"},
  "data": {
    "k": "1",
    "l": "2"
  }
}
`;

    const after = edit(file, (object) => {
      object['data'].k = 'yes';
      object['data'].m = 'x\ny';
      object['metadata'].labels = { a: 'b' };
      delete object['data'].l;
    });
    expect(after).toBe(`{
  "apiVersion": "v1",
  "kind": "ConfigMap",
  "metadata": {"name": "a", "labels": {"a": "b"}},
  "data": {
    "k": "yes",
    "m": "x\\ny"
  }
}
`);
    expect(JSON.parse(after)).toMatchObject({ data: { k: 'yes', m: 'x\ny' } });
  });

  it('6.2: the first key behind a dash may go, and its heir takes its place', () => {
    const item = (rest: string): string =>
      `apiVersion: example.test/v1\nkind: Widget\nmetadata: {name: a}\nitems:\n  ${rest}`;

    expect(edit(item('- x: 1\n    y: 2\n'), (object) => delete object['items'][0].x)).toBe(item('- y: 2\n'));
    expect(edit(item('- x: 1 # gone\n    # of y\n    y: 2\n'), (object) => delete object['items'][0].x)).toBe(
      item('-\n    # of y\n    y: 2\n'),
    );
  });

  it('6.2: what is inserted indents as the document does', () => {
    const file = `apiVersion: apps/v1
kind: Deployment
metadata:
    name: web
spec:
    template:
        spec:
            containers:
            -   name: app
                image: a
`;
    const after = edit(file, (object) => {
      object['metadata'].labels = { a: 'b' };
      object['spec'].template.spec.containers.push({ name: 'side', env: [{ name: 'A', value: 'x\ny' }] });
    });

    expect(after).toBe(`apiVersion: apps/v1
kind: Deployment
metadata:
    name: web
    labels:
        a: b
spec:
    template:
        spec:
            containers:
            -   name: app
                image: a
            -   env:
                -   name: A
                    value: |-
                        x
                        y
                name: side
`);
  });

  it('6.2: a separator line, an end marker and a missing final line feed stay', () => {
    const file =
      '--- # lead\napiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\ndata: {k: a}\n...\n---\napiVersion: v1\nkind: ConfigMap\nmetadata: {name: b}\ndata:\n  k: a';

    expect(edit(file, (object) => (object['data'].k = 'b'))).toBe(file.replace('{k: a}', '{k: b}'));
    expect(edit(file, (object) => (object['data'].m = 'x'), 1)).toBe(`${file}\n  m: x`);
    expect(edit(file, (object) => delete object['data'], 1)).toBe(file.slice(0, file.indexOf('\ndata:\n  k: a')));
  });

  it('FC-YML-6: a block that ends the file gets the line feed its text ends with, which not every reader supplies', () => {
    const file = 'apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\ndata:\n  k: a';
    const open = `${file}\n  m: |\n    x\n    y`;

    expect(edit(file, (object) => (object['data'].m = 'x\ny\n'))).toBe(`${open}\n`);
    expect(edit(file, (object) => (object['data'].m = 'x\ny\n\n'))).toBe(`${file}\n  m: |+\n    x\n    y\n\n`);
    expect(edit(file, (object) => (object['data'].m = 'x\ny'))).toBe(`${file}\n  m: |-\n    x\n    y`);
    expect(edit(file, (object) => (object['data'].k = 'x\ny\n'))).toBe(file.replace('k: a', 'k: |\n    x\n    y\n'));
    expect(edit(file.replaceAll('\n', '\r\n'), (object) => (object['data'].m = 'x\ny\n'))).toBe(
      `${open}\n`.replaceAll('\n', '\r\n'),
    );
  });

  it('6.2: a block whose author left the end of the file open stays open', () => {
    const file = 'apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\ndata:\n  k: a\n  m: |\n    x\n    y';

    expect(edit(file, (object) => (object['data'].k = 'b'))).toBe(file.replace('k: a', 'k: b'));
  });

  it('6.1: an encrypted document is not edited', () => {
    expect(editDocument(open(configMap('sops: {mac: x}\n')), 0, read(configMap('')))).toMatchObject({
      ok: false,
      error: { code: 'encrypted' },
    });
  });

  it('6.7: a document of any shape is equal to its own encoding', () => {
    const object = read(configMap('data:\n  a: b\n'));
    const encoded = encodeYaml(object);

    expect(encoded.ok && editDocument(open(encoded.value), 0, object)).toMatchObject({
      value: { outcome: 'unchanged' },
    });
  });
});

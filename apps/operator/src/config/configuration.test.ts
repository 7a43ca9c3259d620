import { parseConfiguration, type ConfigurationSources } from './configuration.js';

const pod = { POD_NAMESPACE: 'reverser-system' };
const sources = (part: {
  flags?: Record<string, string | true>;
  environment?: Record<string, string>;
  file?: unknown;
}): ConfigurationSources => ({
  flags: new Map(Object.entries(part.flags ?? {})),
  environment: { ...pod, ...part.environment },
  ...(part.file === undefined ? {} : { file: part.file }),
});
function accepted(part: Parameters<typeof sources>[0]) {
  const parsed = parseConfiguration(sources(part));
  if (!parsed.ok) throw new Error(parsed.problems.join('\n'));
  return parsed.configuration;
}
function problems(part: Parameters<typeof sources>[0]): readonly string[] {
  const parsed = parseConfiguration(sources(part));
  return parsed.ok ? [] : parsed.problems;
}

describe('CF-1: precedence', () => {
  const file = { version: 1, logLevel: 'warn', git: { branchBufferMaxSize: '1Mi' } };

  it.each([
    {
      why: 'a flag wins',
      flags: { 'log-level': 'error' },
      environment: { GITOPS_REVERSER_LOG_LEVEL: 'debug' },
      file,
      level: 'error',
      origin: 'flag',
    },
    {
      why: 'then the environment',
      flags: {},
      environment: { GITOPS_REVERSER_LOG_LEVEL: 'debug' },
      file,
      level: 'debug',
      origin: 'environment',
    },
    { why: 'then the file', flags: {}, environment: {}, file, level: 'warn', origin: 'file' },
    { why: 'then the default', flags: {}, environment: {}, file: { version: 1 }, level: 'info', origin: 'default' },
  ])('$why', ({ level, origin, ...part }) => {
    const { settings, origins } = accepted(part);

    expect([settings.logLevel, origins.logLevel]).toEqual([level, origin]);
  });

  it('reads units once, so that no later code sees text', () => {
    const { settings } = accepted({ file, flags: { 'shutdown-grace': '1m30s' } });

    expect([settings.branchBufferMaxBytes, settings.shutdownGraceMs]).toEqual([1024 * 1024, 90_000]);
  });

  it('freezes what it read', () => {
    expect(Object.isFrozen(accepted({}).settings)).toBe(true);
  });
});

describe('CF-5: bad configuration', () => {
  it('reports all problems together, each with its place and what was expected', () => {
    const found = problems({
      flags: { 'log-levle': 'info', 'source-cluster-qps': '0' },
      environment: { GITOPS_REVERSER_SHUTDOWN_GRACE: '25', GITOPS_REVERSER_REDIS_ADDR: 'x:1' },
      file: { version: 1, logFormat: 'xml', metrics: { insecrue: true }, plugins: [{ use: 'default', when: 1 }] },
    });

    expect(found).toEqual([
      'configuration file, metrics.insecrue: unknown key; did you mean metrics.insecure?',
      '--log-levle: unknown flag; did you mean --log-level?',
      expect.stringMatching(/^GITOPS_REVERSER_REDIS_ADDR: unknown variable; did you mean GITOPS_REVERSER_/),
      "GITOPS_REVERSER_SHUTDOWN_GRACE: expected a duration of 1s..10m, found '25'; a duration has a unit, such as 30s",
      "configuration file, logFormat: expected one of json, pretty, found 'xml'; did you mean json?",
      '--source-cluster-qps: expected an integer of 1..1000, found 0',
      expect.stringMatching(/^configuration file, plugins\[0\]\.when: unknown key; did you mean /),
    ]);
  });

  it.each([
    { why: 'no version', file: { logLevel: 'info' }, problem: /version: expected 1, found nothing/ },
    { why: 'a list', file: ['x'], problem: /expected a map that starts with version: 1/ },
    { why: 'a section that is no map', file: { version: 1, git: 'x' }, problem: /git: expected a map of settings/ },
    {
      why: 'an empty plugin list would load nothing',
      file: { version: 1, plugins: [] },
      problem: /plugins: expected a list of entries with use/,
    },
    {
      why: 'a wrong resource',
      flags: { 'denied-resources': 'pods,a b' },
      problem: /--denied-resources: expected a list of resource or group\/resource, found 'a b'/,
    },
    {
      why: 'a misspelled sensitive resource, which would be written in clear',
      flags: { 'additional-sensitive-resources': 'tokens,vault..io/keys' },
      problem: /--additional-sensitive-resources: .*found 'vault\.\.io\/keys'/,
    },
  ])('refuses a file with $why', ({ problem, ...part }) => {
    expect(problems(part).join('\n')).toMatch(problem);
  });

  it('asks for the namespace of the pod', () => {
    const parsed = parseConfiguration({ flags: new Map(), environment: {} });

    expect(parsed).toEqual({ ok: false, problems: [expect.stringContaining('POD_NAMESPACE')] });
  });
});

describe('PL-1: plugins', () => {
  it('stands for the built-in set when the key is absent', () => {
    expect(accepted({}).plugins).toEqual([{ use: 'default', whenBroken: 'stop' }]);
  });

  it('keeps order, options and whenBroken of a given list', () => {
    const plugins = [
      { use: 'default' },
      { use: '@acme/reverser-plugin-x', whenBroken: 'continue', options: { poll: '10s' } },
    ];

    expect(accepted({ file: { version: 1, plugins } }).plugins).toEqual([
      { use: 'default', whenBroken: 'stop' },
      { use: '@acme/reverser-plugin-x', whenBroken: 'continue', options: { poll: '10s' } },
    ]);
  });
});

import { kindNames, toCrd } from '@gitops-reverser/crd-types';
import { createRedactor, messageOf, reasonOf, type JsonValue } from '@gitops-reverser/kernel-api';
import { PluginsBroken } from '@gitops-reverser/kernel-core';
import { createLogger, createMetrics } from '@gitops-reverser/toolkit-telemetry';
import { encodeYamlDocuments } from '@gitops-reverser/toolkit-yaml';
import { readCommandLine } from './config/command-line.js';
import { parseConfiguration, type Configuration } from './config/configuration.js';
import { readConfigFile } from './config/file.js';
import { checkPlugins } from './check-plugins.js';
import { helpText } from './help.js';
import { run } from './run.js';
import { systemClock } from './system-clock.js';
import { COMMIT, VERSION } from './version.js';

/** Exit codes: 0 done, 1 a fault, 2 the configuration must be changed. */
process.exitCode = await main(process.argv.slice(2));

async function main(args: readonly string[]): Promise<number> {
  const line = readCommandLine(args);
  if (line.command === undefined || line.extra.length > 0) {
    process.stderr.write(`unknown command: ${line.unknown ?? line.extra.join(' ')}\n\n${helpText()}`);
    return 2;
  }
  switch (line.command) {
    case 'help':
      process.stdout.write(helpText());
      return 0;
    case 'version':
      process.stdout.write(`${VERSION} ${COMMIT}\n`);
      return 0;
    case 'print-crds':
      return printCrds();
    case 'check-config':
    case 'run':
      return await configured(line.command, line.flags);
  }
}

function printCrds(): number {
  const encoded = encodeYamlDocuments(kindNames.map((kind) => toCrd(kind) as unknown as JsonValue));
  if (!encoded.ok) throw new Error(encoded.error.message);
  process.stdout.write(encoded.value);
  return 0;
}

async function configured(command: 'run' | 'check-config', given: ReadonlyMap<string, string | true>): Promise<number> {
  const flags = new Map(given);
  const path = flags.get('config') ?? process.env['GITOPS_REVERSER_CONFIG'];
  flags.delete('config');
  const { GITOPS_REVERSER_CONFIG: _, ...environment } = process.env;
  const file = await readConfigFile(typeof path === 'string' ? path : undefined);
  const parsed = parseConfiguration({
    flags,
    environment,
    ...(file.ok && file.value.content !== undefined ? { file: file.value.content } : {}),
  });
  const problems = [...(file.ok ? [] : [file.error]), ...(parsed.ok ? [] : parsed.problems)];
  if (!file.ok || !parsed.ok) return refuse(problems);
  return command === 'run'
    ? await start(parsed.configuration, file.value.folder)
    : await check(parsed.configuration, file.value.folder);
}

function refuse(problems: readonly string[]): number {
  process.stderr.write(
    `the configuration cannot be used; ${problems.length} problem(s):\n${problems.map((problem) => `  - ${problem}\n`).join('')}`,
  );
  return 2;
}

async function check(configuration: Configuration, configFolder: string): Promise<number> {
  const redactor = createRedactor();
  const logger = createLogger({ level: 'error', format: 'pretty', redactor, destination: process.stderr });
  const problems = await checkPlugins({
    configuration,
    configFolder,
    clock: systemClock,
    logger,
    metrics: createMetrics({ logger }),
  });
  if (problems.length > 0) return refuse(problems);
  process.stdout.write('the configuration can be used\n');
  return 0;
}

async function start(configuration: Configuration, configFolder: string): Promise<number> {
  const redactor = createRedactor();
  const logger = createLogger({
    level: configuration.settings.logLevel,
    format: configuration.settings.logFormat,
    redactor,
  });
  logSettings(configuration, (fields) => logger.debug(fields, 'setting'));
  const stop = new AbortController();
  for (const name of ['SIGTERM', 'SIGINT'] as const) {
    process.on(name, () => {
      // Asked twice: whoever asks does not want to wait.
      if (stop.signal.aborted) process.exit(1);
      stop.abort();
    });
  }
  try {
    await run({ configuration, configFolder, clock: systemClock, logger, redactor, signal: stop.signal });
    return 0;
  } catch (error) {
    if (error instanceof PluginsBroken) {
      for (const problem of error.problems)
        logger.error({ reason: reasonOf(problem), problem: messageOf(problem) }, 'plugin cannot be used');
      return 2;
    }
    logger.error({ reason: reasonOf(error), err: error }, 'operator cannot run');
    return isToBeChanged(reasonOf(error)) ? 2 : 1;
  }
}

/** What no restart cures. */
const isToBeChanged = (reason: string): boolean =>
  reason.startsWith('KubeConfig') || ['NoControlCluster', 'CrdOutdated', 'CertificateUnreadable'].includes(reason);

/** CF-1: every effective value and where it came from. None of them is a secret. */
function logSettings(
  { settings, origins }: Configuration,
  log: (fields: Readonly<Record<string, unknown>>) => void,
): void {
  for (const [name, value] of Object.entries(settings))
    log({ setting: name, value, origin: origins[name as keyof typeof origins] });
}

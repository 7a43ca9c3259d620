import type { Writable } from 'node:stream';
import { messageOf } from '@gitops-reverser/kernel-api';
import { analyze, hasIssue } from '../analyze.js';
import type { ScanProgress } from '../open-repository.js';
import { reportApiVersion, toJSON, toYAML, type FolderReport, type RepoReport } from '../report.js';
import { judgeFolder } from '../scan-folder.js';
import { scanRepo } from '../scan-repo.js';
import { version } from '../version.js';
import { readCommandLine, usage, type Command } from './command-line.js';
import { discover, discoveryText, typesOf } from './discovery.js';
import { analysisText, folderText, printable, repoText } from './text.js';

export interface Streams {
  readonly stdout: Writable;
  readonly stderr: Writable;
}

/** @returns the exit code: 0 done, 1 refused by policy, 2 nothing could be said */
export async function runCommand(args: readonly string[], streams: Streams, signal: AbortSignal): Promise<number> {
  const asked = readCommandLine(args);
  if (!asked.ok) {
    streams.stderr.write(`manifest-analyzer: ${printable(asked.error)}\n\n${usage}`);
    return 2;
  }
  if (asked.value.kind === 'help') {
    streams.stdout.write(usage);
    return 0;
  }
  if (asked.value.kind === 'version') {
    streams.stdout.write(`manifest-analyzer ${version()}\nreport apiVersion: ${reportApiVersion}\n`);
    return 0;
  }
  try {
    return await runMode(asked.value.command, streams, signal);
  } catch (error) {
    streams.stderr.write(`manifest-analyzer: ${printable(messageOf(error))}\n`);
    return 2;
  }
}

async function runMode(command: Command, { stdout, stderr }: Streams, signal: AbortSignal): Promise<number> {
  const { mode, format, policy, directory } = command;
  const options = { signal, onProgress: progressTo(stderr) };
  const refused = policy === 'refuse' ? 1 : 0;
  switch (mode) {
    case 'analyze': {
      const analysis = await analyze(directory, options);
      if (format === 'json') await writeAll(stdout, [`${JSON.stringify(analysis, null, 2)}\n`]);
      else await writeLines(stdout, analysisText(analysis));
      return hasIssue(analysis) ? refused : 0;
    }
    case 'scan-folder': {
      const { report, usesKustomize } = await judgeFolder(directory, options);
      if (format === 'text') await writeLines(stdout, folderText(report, usesKustomize));
      else await writeAll(stdout, [encode(report, format)]);
      return report.status.accepted ? 0 : refused;
    }
    case 'scan-repo': {
      const report = await scanRepo(directory, options);
      if (format === 'text') await writeLines(stdout, repoText(report));
      else await writeAll(stdout, [encode(report, format)]);
      return 0;
    }
    case 'discovery': {
      const surface = await discover(command, signal);
      if (format === 'json') await writeAll(stdout, [`${JSON.stringify({ types: typesOf(surface) }, null, 2)}\n`]);
      else await writeLines(stdout, discoveryText(surface));
      return 0;
    }
  }
}

const encode = (report: FolderReport | RepoReport, format: 'json' | 'yaml'): string =>
  format === 'json' ? toJSON(report) : toYAML(report);

/** From this many entries on, somebody waits. */
const longScan = 10_000;

/** A line for every ten thousand, none for a small folder. */
function progressTo(stderr: Writable): (progress: ScanProgress) => void {
  let isLong = false;
  return ({ stage, done, total }) => {
    if (stage === 'listed') isLong ||= done >= longScan;
    const isMilestone = stage === 'judged' ? done % 1_000 === 0 : done % longScan === 0;
    if (!isLong || !isMilestone) return;
    const things = { listed: 'entries', read: 'manifests', judged: 'folders' }[stage];
    stderr.write(`${stage} ${done}${total === undefined ? '' : ` of ${total}`} ${things}\n`);
  };
}

async function writeLines(stream: Writable, lines: Iterable<string>): Promise<void> {
  let chunk = '';
  for (const line of lines) {
    chunk += `${printable(line)}\n`;
    if (chunk.length < 65_536) continue;
    await writeAll(stream, [chunk]);
    chunk = '';
  }
  await writeAll(stream, [chunk]);
}

async function writeAll(stream: Writable, chunks: readonly string[]): Promise<void> {
  for (const chunk of chunks)
    await new Promise<void>((resolve, reject) => {
      stream.write(chunk, (error) => {
        if (error) reject(error);
        else resolve();
      });
    });
}

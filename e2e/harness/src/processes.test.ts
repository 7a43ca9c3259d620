import { readFileSync } from 'node:fs';
import { readFile, writeFile } from 'node:fs/promises';
import { connect } from 'node:net';
import { join } from 'node:path';

import { freePort, runCommand, startProcess, tempDir } from './processes.js';
import { poll } from './waiting.js';

const isAlive = (pid: number): boolean => {
  try {
    process.kill(pid, 0);
    return !/^\d+ \(.*\) Z/.test(readFileSync(`/proc/${pid}/stat`, 'utf8'));
  } catch {
    return false;
  }
};

describe('poll', () => {
  it('answers with the first value that is not undefined, null or false', async () => {
    const looks = [undefined, null, false, 0];

    const seen = await poll(() => looks.shift(), { intervalMs: 1 });

    expect(seen).toBe(0);
  });

  it('says what it waited for, how long, and how the last look failed', async () => {
    const wait = poll(() => Promise.reject(new Error('connection refused')), {
      deadlineMs: 20,
      intervalMs: 5,
      what: 'the server',
    });

    await expect(wait).rejects.toThrow('waited 20 ms for the server in vain; the last look failed: connection refused');
  });
});

describe('startProcess', () => {
  it('keeps what a child prints, in a file and as last lines', async () => {
    await using dir = await tempDir();
    const logFile = join(dir.path, 'logs', 'child.log');

    await using child = await startProcess({
      command: 'sh',
      args: ['-c', 'echo one; echo two >&2; sleep 60'],
      logFile,
    });
    const line = await child.waitForLine(/^two$/);

    expect(line).toBe('two');
    expect([...child.lines()].sort()).toEqual(['one', 'two']);
    await poll(async () => (await readFile(logFile, 'utf8')).includes('two'));
  });

  it('keeps only the last lines', async () => {
    await using child = await startProcess({ command: 'sh', args: ['-c', 'seq 1 1000'], keepLines: 3 });

    await child.exited;

    expect(child.lines()).toEqual(['998', '999', '1000']);
  });

  it('ends a wait at once, with the last lines, when the child ends before', async () => {
    await using child = await startProcess({
      name: 'etcd',
      command: 'sh',
      args: ['-c', 'echo no such flag: --x; exit 3'],
    });

    const wait = child.waitForLine(/never/, { deadlineMs: 60_000 });

    await expect(wait).rejects.toThrow(/etcd: waiting for .*it ended before that \(exit code 3\)[^]*no such flag: --x/);
  });

  it('refuses a command that does not exist with its name', async () => {
    const start = startProcess({ name: 'kube-apiserver', command: '/nonexistent/kube-apiserver' });

    await expect(start).rejects.toThrow(
      'kube-apiserver could not be started: spawn /nonexistent/kube-apiserver ENOENT',
    );
  });

  it('kills a child that does not mind SIGTERM, after the grace', async () => {
    const child = await startProcess({
      command: 'sh',
      args: ['-c', "trap '' TERM; echo up; while :; do sleep 0.05; done"],
    });
    await child.waitForLine(/up/);

    const exit = await child.stop(100);

    expect(exit).toEqual({ code: null, signal: 'SIGKILL' });
  });

  it('ends grandchildren with their leader', async () => {
    const child = await startProcess({ command: 'sh', args: ['-c', 'sleep 300 & echo $!; exit 0'] });

    await child.exited;

    const grandchild = Number(child.lines()[0]);
    await poll(() => !isAlive(grandchild), { what: 'the grandchild to be gone' });
  });

  it('leaves no child behind when the parent is killed', async () => {
    await using dir = await tempDir();
    const script = join(dir.path, 'parent.mjs');
    const source = join(import.meta.dirname, 'processes.ts');
    await writeFile(
      script,
      `const { startProcess } = await import(${JSON.stringify(source)}); const c = await startProcess({ command: 'sleep', args: ['300'] }); console.log('pid ' + c.pid); setInterval(() => {}, 1000);`,
    );
    const tsx = join(import.meta.dirname, '../../../node_modules/tsx/dist/loader.mjs');
    await using parent = await startProcess({ command: process.execPath, args: ['--import', tsx, script] });
    const child = Number((await parent.waitForLine(/^pid \d+$/)).slice(4));

    process.kill(parent.pid, 'SIGKILL');

    await poll(() => !isAlive(child), { what: 'the child to be gone' });
  });

  it('reads the peak of resident memory', async () => {
    await using child = await startProcess({ command: 'sleep', args: ['60'] });

    // A busy machine shows a process before it has loaded its program.
    const isLoaded = async (): Promise<boolean> => ((await child.peakRssMiB()) ?? 0) > 0.1;
    await poll(isLoaded, { what: 'the memory of a program' });

    expect(await child.peakRssMiB()).toBeLessThan(100);
  });
});

describe('runCommand', () => {
  it('answers output, errors and exit code of a command that fails', async () => {
    const { exit, stdout, stderr } = await runCommand('sh', ['-c', 'cat; echo bad >&2; exit 4'], { input: 'in' });

    expect({ code: exit.code, stdout: stdout.toString(), stderr }).toEqual({ code: 4, stdout: 'in', stderr: 'bad\n' });
  });

  it('kills a command that passes its deadline', async () => {
    await expect(runCommand('sleep', ['60'], { deadlineMs: 50 })).rejects.toThrow('sleep 60 did not end within 50 ms');
  });
});

describe('freePort', () => {
  it('gives different ports on which nobody listens', async () => {
    const ports = await Promise.all([freePort(), freePort(), freePort()]);

    const error = await new Promise<NodeJS.ErrnoException>((resolve) =>
      connect(ports[0] ?? 0, '127.0.0.1').once('error', resolve),
    );

    expect(new Set(ports).size).toBe(3);
    expect(error.code).toBe('ECONNREFUSED');
  });
});

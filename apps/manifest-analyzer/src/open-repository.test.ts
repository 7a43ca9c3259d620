import { openSource } from './open-repository.js';
import type { Source } from './source.js';

const bytes = (text: string): Uint8Array => new Uint8Array(Buffer.from(text));

/** Files in memory, and which of them were read. */
function recordingSource(files: Readonly<Record<string, string>>): {
  readonly source: Source;
  readonly read: string[];
} {
  const read: string[] = [];
  const source: Source = {
    async *list() {
      await Promise.resolve();
      for (const path of Object.keys(files)) yield { path, mode: 'file' as const };
    },
    read(path) {
      read.push(path);
      return Promise.resolve(bytes(files[path] ?? ''));
    },
  };
  return { source, read };
}

describe('a source that is no directory', () => {
  it('is read once, and only where it may matter', async () => {
    const { source, read } = recordingSource({
      'a.yaml': 'a: 1',
      'photo.jpg': '',
      'app/kustomization.yaml': 'configMapGenerator: [{name: a, files: [motd], envs: [../press.env]}]',
      'app/motd': 'hello',
      'press.env': 'A=1',
      'other.env': 'A=1',
    });

    const repository = await openSource(source, {});

    expect(read.sort()).toEqual(['a.yaml', 'app/kustomization.yaml', 'app/motd', 'press.env']);
    expect(repository.folder('app').file('motd')?.read()).toEqual(bytes('hello'));
  });

  it('does not hold what is too large to be judged', async () => {
    const { source } = recordingSource({ 'a.yaml': 'x'.repeat(6 * 1024 * 1024) });

    const content = (await openSource(source, {})).folder('.').file('a.yaml')?.read();

    expect(content?.byteLength).toBe(6 * 1024 * 1024);
    expect(content?.[0]).toBe(0);
  });
});
